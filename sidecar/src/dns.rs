//! Names that a DNS probe queries and the authoritative server knows: `n0000000042.RUN.windtunnel.test`. The address is a function of the
//! name. `.test` is reserved (RFC 6761).

use std::net::Ipv4Addr;

use simple_dns::Name;

/// The zone of the authoritative server.
pub const ZONE: &str = "windtunnel.test";
/// Digits of a name's number. All names of a run have the same length.
pub const DIGITS: usize = 10;
/// The letter before the digits.
const LETTER: char = 'n';

/// The first label of a name.
pub fn label(number: u64) -> String {
    format!("{LETTER}{number:0DIGITS$}")
}

/// The address of a name's A record, on loopback; `None` for a name outside of the zone.
pub fn address_of(name: &Name) -> Option<Ipv4Addr> {
    let text = name.to_string().to_ascii_lowercase();
    let (first, rest) = text.split_once('.')?;
    let (run, zone) = rest.split_once('.')?;
    let digits = first.strip_prefix(LETTER)?;
    let numbered = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !numbered || run.is_empty() || zone != ZONE {
        return None;
    }
    // FNV-1a: two names rarely get the same address.
    let hash = text.bytes().fold(0x811C_9DC5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let [_, b, c, d] = hash.to_be_bytes();
    Some(Ipv4Addr::new(127, b, c, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(name: &str) -> Option<Ipv4Addr> {
        address_of(&Name::new(name).unwrap())
    }

    #[test]
    fn an_address_is_of_its_name_alone() {
        let one = address("n0000000001.r1.windtunnel.test.");
        assert!(one.is_some_and(|address| address.is_loopback()));
        assert_eq!(one, address("N0000000001.R1.Windtunnel.Test."));
        assert_ne!(one, address("n0000000002.r1.windtunnel.test."));
        assert_ne!(one, address("n0000000001.r2.windtunnel.test."));
    }

    #[test]
    fn other_names_have_none() {
        for name in [
            "windtunnel.test.",
            "n0000000001.windtunnel.test.",
            "n1.r1.windtunnel.test.",
            "x0000000001.r1.windtunnel.test.",
            "n0000000001.a.b.windtunnel.test.",
            "n0000000001.r1.elsewhere.test.",
        ] {
            assert_eq!(address(name), None, "{name}");
        }
    }
}
