//! Bounds of a NAT probe.

use std::net::Ipv4Addr;

use super::has_none;
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
            Some(_) => Err(has_none("nat", spec.kind)),
        };
    }
    if !PAYLOAD_BYTES.contains(&spec.payload_bytes) {
        return Err(Failure::invalid(
            format!("payload_bytes: {} is out of bounds", spec.payload_bytes),
            format!("give {} to {}", PAYLOAD_BYTES.start(), PAYLOAD_BYTES.end()),
        ));
    }
    let NatSpec { idle_s, far_ends } = spec.nat.clone().unwrap_or_default();
    let [first, second] = far_ends;
    let is_host = |ip: Ipv4Addr| !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast();
    if first == second || !is_host(first) || !is_host(second) {
        return Err(Failure::invalid(
            format!("nat.far_ends: {first} and {second} are not two hosts"),
            "give two addresses of this machine",
        ));
    }
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
