//! Bounds of a NAT probe.

use crate::failure::{Failure, Result};
use crate::probe::spec::{NatSpec, ProbeKind, Spec};

/// The least and the largest payload. Two fragments of this size fit into one datagram.
const PAYLOAD_BYTES: std::ops::RangeInclusive<u64> = 8..=16 << 10;
/// Each has an association and a thread.
const MAX_IDLE_TIMES: usize = 32;
const LEAST_IDLE_S: f64 = 0.1;

pub fn check(spec: &Spec) -> Result<()> {
    if spec.kind != ProbeKind::Nat {
        return match &spec.nat {
            None => Ok(()),
            Some(_) => Err(Failure::invalid(
                format!("nat: a {} probe has none", spec.kind),
                "leave nat out",
            )),
        };
    }
    if !PAYLOAD_BYTES.contains(&spec.payload_bytes) {
        return Err(Failure::invalid(
            format!("payload_bytes: {} is out of bounds", spec.payload_bytes),
            format!("give {} to {}", PAYLOAD_BYTES.start(), PAYLOAD_BYTES.end()),
        ));
    }
    let NatSpec { idle_s } = spec.nat.clone().unwrap_or_default();
    if idle_s.len() > MAX_IDLE_TIMES {
        return Err(Failure::invalid(
            format!("nat.idle_s: {} times are too many", idle_s.len()),
            format!("give at most {MAX_IDLE_TIMES}"),
        ));
    }
    match idle_s
        .iter()
        .find(|time| !(LEAST_IDLE_S..spec.limit_s).contains(*time))
    {
        None => Ok(()),
        Some(time) => Err(Failure::invalid(
            format!("nat.idle_s: {time} is out of bounds"),
            format!(
                "give {LEAST_IDLE_S} to less than limit_s, which is {}",
                spec.limit_s
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_times_end_before_the_probe() {
        let mut spec = Spec::new(ProbeKind::Nat, "127.0.0.1:9".into());
        for (idle_s, fits) in [
            (vec![], true),
            (vec![0.1, 59.0], true),
            (vec![0.05], false),
            (vec![f64::NAN], false),
            (vec![60.0], false),
            (vec![1.0; MAX_IDLE_TIMES + 1], false),
        ] {
            spec.nat = Some(NatSpec { idle_s });
            assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.nat);
        }
        spec.kind = ProbeKind::Udp;
        assert!(check(&spec).is_err());
    }
}
