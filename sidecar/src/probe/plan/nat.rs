//! Bounds of a NAT probe.

use std::net::Ipv4Addr;

use super::{out_of_bounds, refuse, within};
use crate::failure::Result;
use crate::probe::spec::{NatSpec, ProbeKind, Spec};

/// The largest payload: two fragments of this size fit into one datagram.
const PAYLOAD_MOST: u64 = 16 << 10;
/// Each has an association and a thread.
const MAX_IDLE_TIMES: usize = 32;
const LEAST_IDLE_S: f64 = 0.1;

pub fn check(spec: &Spec) -> Result<()> {
    if spec.kind != ProbeKind::Nat {
        return Ok(());
    }
    within("payload_bytes", spec.payload_bytes, 8, PAYLOAD_MOST)?;
    let NatSpec { idle_s, far_ends } = spec.nat.clone().unwrap_or_default();
    let [first, second] = far_ends;
    let is_host = |ip: Ipv4Addr| !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast();
    refuse(
        first == second || !is_host(first) || !is_host(second),
        &format!("nat.far_ends: {first} and {second} are not two hosts"),
        "give two addresses of this machine",
    )?;
    refuse(
        idle_s.len() > MAX_IDLE_TIMES,
        &format!("nat.idle_s: {} times are too many", idle_s.len()),
        &format!("give at most {MAX_IDLE_TIMES}"),
    )?;
    let limit_s = spec.limit_s;
    let bound = format!("{LEAST_IDLE_S} to less than limit_s, which is {limit_s}");
    match idle_s
        .iter()
        .find(|time| !(LEAST_IDLE_S..limit_s).contains(*time))
    {
        None => Ok(()),
        Some(time) => Err(out_of_bounds("nat.idle_s", time, &bound)),
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
            spec.nat = Some(NatSpec {
                idle_s,
                ..NatSpec::default()
            });
            assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.nat);
        }
        spec.kind = ProbeKind::Udp;
        assert!(check(&spec).is_err());
    }

    #[test]
    fn far_ends_are_two_hosts() {
        let mut spec = Spec::new(ProbeKind::Nat, "127.0.0.1:9".into());
        for (far_ends, fits) in [
            ([[127, 0, 0, 1], [127, 0, 0, 9]], true),
            ([[192, 0, 2, 1], [198, 51, 100, 1]], true),
            ([[127, 0, 0, 1], [127, 0, 0, 1]], false),
            ([[127, 0, 0, 1], [0, 0, 0, 0]], false),
            ([[224, 0, 0, 1], [127, 0, 0, 1]], false),
        ] {
            let far_ends = far_ends.map(Ipv4Addr::from);
            spec.nat = Some(NatSpec {
                far_ends,
                ..NatSpec::default()
            });
            assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.nat);
        }
    }
}
