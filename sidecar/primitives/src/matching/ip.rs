//! Address rules: whether an address is in one of many networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fastrand::Rng;
use ip_network::{IpNetwork, Ipv4Network, Ipv6Network};
use ip_network_table::IpNetworkTable;

use super::{QUERIES, add};
use crate::Error;
use crate::bench::{Key, Suite};

/// A tree of bitmaps, which also finds the longest match.
fn table(rules: &[IpNetwork]) -> impl Fn(&IpAddr) -> bool + use<> {
    let mut table = IpNetworkTable::new();
    for rule in rules {
        table.insert(*rule, ());
    }
    move |address: &IpAddr| table.longest_match(*address).is_some()
}

/// An address as a number.
trait Number: Copy + Ord + 'static {
    /// The number after this one; the largest has none.
    fn next(self) -> Self;
    fn of(address: &IpAddr) -> Option<Self>;
}

impl Number for u32 {
    fn next(self) -> Self {
        self.saturating_add(1)
    }
    fn of(address: &IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => Some(Self::from(*address)),
            IpAddr::V6(_) => None,
        }
    }
}

impl Number for u128 {
    fn next(self) -> Self {
        self.saturating_add(1)
    }
    fn of(address: &IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(Self::from(*address)),
        }
    }
}

/// The first and the last address of a network.
fn ends(rule: &IpNetwork) -> (IpAddr, IpAddr) {
    match rule {
        IpNetwork::V4(rule) => (
            rule.network_address().into(),
            rule.broadcast_address().into(),
        ),
        IpNetwork::V6(rule) => (rule.network_address().into(), rule.last_address().into()),
    }
}

/// Sorted, disjoint ranges.
fn merged<T: Number>(rules: &[IpNetwork]) -> Vec<(T, T)> {
    let range = |rule| {
        let (first, last) = ends(rule);
        T::of(&first).zip(T::of(&last))
    };
    let mut all: Vec<(T, T)> = rules.iter().filter_map(range).collect();
    all.sort_unstable();
    let mut merged: Vec<(T, T)> = Vec::with_capacity(all.len());
    for (first, last) in all {
        match merged.last_mut() {
            Some((_, end)) if first <= end.next() => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    merged
}

/// A binary search in ranges, as in sing-box.
fn ranges<T: Number>(rules: &[IpNetwork]) -> impl Fn(&IpAddr) -> bool + use<T> {
    let ranges = merged::<T>(rules);
    move |address: &IpAddr| {
        T::of(address).is_some_and(|number| {
            let after = ranges.partition_point(|(first, _)| *first <= number);
            after > 0 && number <= ranges[after - 1].1
        })
    }
}

/// Prefix lengths as in routing tables: most are /24, some shorter, some longer.
fn v4(rng: &mut Rng) -> IpNetwork {
    let length = match rng.u8(..100) {
        0..60 => 24,
        60..85 => rng.u8(20..24),
        _ => rng.u8(25..=32),
    };
    Ipv4Network::new_truncate(Ipv4Addr::from(rng.u32(..)), length)
        .expect("at most 32")
        .into()
}

/// Networks of the global addresses, 2000::/3; most are /48.
fn v6(rng: &mut Rng) -> IpNetwork {
    let length = match rng.u8(..100) {
        0..60 => 48,
        60..85 => rng.u8(32..48),
        _ => rng.u8(49..=64),
    };
    Ipv6Network::new_truncate(Ipv6Addr::from(global(rng)), length)
        .expect("at most 128")
        .into()
}

fn global(rng: &mut Rng) -> u128 {
    (rng.u128(..) >> 3) | (1 << 125)
}

/// An address of the network.
fn within(rng: &mut Rng, rule: &IpNetwork) -> IpAddr {
    match ends(rule) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            Ipv4Addr::from(rng.u32(u32::from(first)..=last.into())).into()
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => {
            Ipv6Addr::from(rng.u128(u128::from(first)..=last.into())).into()
        }
        _ => unreachable!("a network has one family"),
    }
}

fn family<T: Number>(
    suite: &mut Suite,
    subject: &'static str,
    count: usize,
    rule: fn(&mut Rng) -> IpNetwork,
    elsewhere: fn(&mut Rng) -> IpAddr,
) -> Result<(), Error> {
    let mut rng = Rng::with_seed(4);
    let rules: Vec<IpNetwork> = (0..count).map(|_| rule(&mut rng)).collect();
    let queries: Vec<Box<IpAddr>> = (0..QUERIES)
        .map(|index| {
            Box::new(if index % 2 == 0 {
                let rule = rng.usize(..rules.len());
                within(&mut rng, &rules[rule])
            } else {
                elsewhere(&mut rng)
            })
        })
        .collect();
    let expected = |address: &IpAddr| rules.iter().any(|rule| rule.contains(*address));
    let key = |how| Key::new(subject, "match", how).of_rules(count);
    let (tree, sorted) = (key("ip_network_table"), key("sorted ranges"));
    add(suite, tree, || Ok(table(&rules)), &queries, expected)?;
    add(
        suite,
        sorted,
        || Ok(ranges::<T>(&rules)),
        &queries,
        expected,
    )
}

pub fn suite(rules: &[usize]) -> Result<Suite, Error> {
    let mut suite = Suite::default();
    for count in rules {
        let elsewhere = |rng: &mut Rng| IpAddr::from(Ipv4Addr::from(rng.u32(..)));
        family::<u32>(&mut suite, "ipv4", *count, v4, elsewhere)?;
        let elsewhere = |rng: &mut Rng| IpAddr::from(Ipv6Addr::from(global(rng)));
        family::<u128>(&mut suite, "ipv6", *count, v6, elsewhere)?;
    }
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn narrow_v4() -> impl Strategy<Value = IpNetwork> {
        (
            any::<u8>(),
            prop::sample::select(vec![0_u32, u32::MAX << 8]),
            22..=32_u8,
        )
            .prop_map(|(low, high, length)| {
                Ipv4Network::new_truncate(Ipv4Addr::from(high | u32::from(low)), length)
                    .unwrap()
                    .into()
            })
    }

    fn narrow_v6() -> impl Strategy<Value = IpNetwork> {
        (
            any::<u8>(),
            prop::sample::select(vec![0_u128, u128::MAX << 8]),
            118..=128_u8,
        )
            .prop_map(|(low, high, length)| {
                Ipv6Network::new_truncate(Ipv6Addr::from(high | u128::from(low)), length)
                    .unwrap()
                    .into()
            })
    }

    proptest! {
        #[test]
        fn addresses_are_found_as_trying_each_finds_them(
            v4 in prop::collection::vec(narrow_v4(), 0..12),
            v6 in prop::collection::vec(narrow_v6(), 0..12),
        ) {
            let rules: Vec<IpNetwork> = v4.into_iter().chain(v6).collect();
            let table = table(&rules);
            let (short, long) = (ranges::<u32>(&rules), ranges::<u128>(&rules));
            for low in 0..2048_u32 {
                for start in [0, u32::MAX - 2047] {
                    let address = IpAddr::from(Ipv4Addr::from(start + low));
                    let expected = rules.iter().any(|rule| rule.contains(address));
                    prop_assert_eq!(table(&address), expected, "{} in {:?}", address, &rules);
                    prop_assert_eq!(short(&address), expected, "{} in {:?}", address, &rules);
                }
                for start in [0, u128::MAX - 2047] {
                    let address = IpAddr::from(Ipv6Addr::from(start + u128::from(low)));
                    let expected = rules.iter().any(|rule| rule.contains(address));
                    prop_assert_eq!(table(&address), expected, "{} in {:?}", address, &rules);
                    prop_assert_eq!(long(&address), expected, "{} in {:?}", address, &rules);
                }
            }
        }
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let rules: Vec<IpNetwork> = ["192.0.2.0/25", "192.0.2.128/25", "192.0.2.64/26"]
            .iter()
            .map(|rule| rule.parse().unwrap())
            .collect();
        assert_eq!(merged::<u32>(&rules).len(), 1);
    }
}
