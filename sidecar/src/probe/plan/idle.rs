//! Bounds of a probe's idle time.

use super::{out_of_bounds, refuse, within};
use crate::failure::Result;
use crate::probe::spec::{IdleSpec, Loop, ProbeKind, Spec};

const LEAST_S: f64 = 0.1;
const SETTLE_MOST_S: f64 = 60.0;
/// The filter of the packets has room for more.
const PORTS_MOST: u64 = 16;

pub fn check(spec: &Spec) -> Result<()> {
    let Some(IdleSpec {
        seconds,
        settle_s,
        ports,
    }) = &spec.idle
    else {
        return Ok(());
    };
    refuse(
        spec.kind == ProbeKind::Concurrency && spec.pace != Loop::Closed,
        "idle: a timetable goes on",
        "leave loop out",
    )?;
    within("idle.settle_s", *settle_s, 0.0, SETTLE_MOST_S)?;
    let most = spec.limit_s - settle_s;
    if !(LEAST_S..most).contains(seconds) {
        return Err(out_of_bounds(
            "idle.seconds",
            *seconds,
            &format!("{LEAST_S} to less than limit_s less idle.settle_s, which is {most}"),
        ));
    }
    let number = ports.len() as u64;
    within("idle.ports: their number", number, 0, PORTS_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_time_ends_before_the_probe() {
        let mut spec = Spec::new(ProbeKind::Concurrency, "127.0.0.1:9".into());
        let idle = |seconds, settle_s| IdleSpec {
            seconds,
            settle_s,
            ports: Vec::new(),
        };
        for (seconds, settle_s, fits) in [
            (0.1, 0.0, true),
            (59.0, 0.5, true),
            (59.5, 0.5, false),
            (0.05, 0.0, false),
            (f64::NAN, 0.0, false),
            (1.0, f64::NAN, false),
            (1.0, -1.0, false),
        ] {
            spec.idle = Some(idle(seconds, settle_s));
            assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.idle);
        }
        spec.idle = Some(IdleSpec {
            ports: vec![1; 17],
            ..idle(1.0, 0.0)
        });
        assert!(check(&spec).is_err());
        spec.idle = Some(idle(1.0, 0.0));
        spec.pace = Loop::Open { rate_per_s: 1.0 };
        assert!(check(&spec).is_err());
        spec.kind = ProbeKind::Associations;
        assert!(check(&spec).is_ok());
        spec.kind = ProbeKind::Tcp;
        assert!(check(&spec).is_err());
    }
}
