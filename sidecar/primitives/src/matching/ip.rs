//! Address rules: whether an address is in one of many networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fastrand::Rng;
use ip_network::{IpNetwork, Ipv4Network, Ipv6Network};
use ip_network_table::IpNetworkTable;

use super::{Matcher, QUERIES, case, key, timed};
use crate::Error;
use crate::bench::Suite;

/// A tree of bitmaps, which also finds the longest match.
struct Table(IpNetworkTable<()>);

impl Table {
    fn new(rules: &[IpNetwork]) -> Self {
        let mut table = IpNetworkTable::new();
        for rule in rules {
            table.insert(*rule, ());
        }
        Self(table)
    }
}

impl Matcher for Table {
    type Query = IpAddr;
    type Answer = bool;

    fn find(&self, address: &IpAddr) -> bool {
        self.0.longest_match(*address).is_some()
    }
}

/// Sorted, disjoint ranges with a binary search, as in sing-box.
struct Ranges<T>(Vec<(T, T)>);

/// An address as a number.
trait Number: Copy + Ord {
    const MAX: Self;
    fn next(self) -> Self;
    fn of(address: &IpAddr) -> Option<Self>;
    fn range(rule: &IpNetwork) -> Option<(Self, Self)>;
}

impl Number for u32 {
    const MAX: Self = Self::MAX;
    fn next(self) -> Self {
        self.saturating_add(1)
    }
    fn of(address: &IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => Some(Self::from(*address)),
            IpAddr::V6(_) => None,
        }
    }
    fn range(rule: &IpNetwork) -> Option<(Self, Self)> {
        match rule {
            IpNetwork::V4(rule) => Some((
                Self::from(rule.network_address()),
                Self::from(rule.broadcast_address()),
            )),
            IpNetwork::V6(_) => None,
        }
    }
}

impl Number for u128 {
    const MAX: Self = Self::MAX;
    fn next(self) -> Self {
        self.saturating_add(1)
    }
    fn of(address: &IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(Self::from(*address)),
        }
    }
    fn range(rule: &IpNetwork) -> Option<(Self, Self)> {
        match rule {
            IpNetwork::V4(_) => None,
            IpNetwork::V6(rule) => Some((
                Self::from(rule.network_address()),
                Self::from(rule.last_address()),
            )),
        }
    }
}

impl<T: Number> Ranges<T> {
    fn new(rules: &[IpNetwork]) -> Self {
        let mut all: Vec<(T, T)> = rules.iter().filter_map(T::range).collect();
        all.sort_unstable();
        let mut merged: Vec<(T, T)> = Vec::with_capacity(all.len());
        for (first, last) in all {
            match merged.last_mut() {
                Some((_, end)) if *end == T::MAX || first <= end.next() => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }
}

impl<T: Number> Matcher for Ranges<T> {
    type Query = IpAddr;
    type Answer = bool;

    fn find(&self, address: &IpAddr) -> bool {
        T::of(address).is_some_and(|number| {
            let after = self.0.partition_point(|(first, _)| *first <= number);
            after > 0 && number <= self.0[after - 1].1
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
    match rule {
        IpNetwork::V4(rule) => {
            let (first, last) = (
                u32::from(rule.network_address()),
                u32::from(rule.broadcast_address()),
            );
            Ipv4Addr::from(rng.u32(first..=last)).into()
        }
        IpNetwork::V6(rule) => {
            let (first, last) = (
                u128::from(rule.network_address()),
                u128::from(rule.last_address()),
            );
            Ipv6Addr::from(rng.u128(first..=last)).into()
        }
    }
}

fn family<T: Number + 'static>(
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
    let built = timed(|| Ok(Table::new(&rules)))?;
    suite.cases.push(case(
        key(subject, "match", "ip_network_table", count),
        built,
        &queries,
        expected,
    )?);
    let built = timed(|| Ok(Ranges::<T>::new(&rules)))?;
    suite.cases.push(case(
        key(subject, "match", "sorted ranges", count),
        built,
        &queries,
        expected,
    )?);
    Ok(())
}

pub fn suite(rules: &[usize]) -> Result<Suite, Error> {
    let mut suite = Suite::default();
    for count in rules {
        let elsewhere = |rng: &mut Rng| IpAddr::from(Ipv4Addr::from(rng.u32(..)));
        family::<u32>(&mut suite, "ipv4", *count, v4, elsewhere)?;
        let elsewhere = |rng: &mut Rng| IpAddr::from(Ipv6Addr::from(global(rng)));
        family::<u128>(&mut suite, "ipv6", *count, v6, elsewhere)?;
    }
    suite.checked = suite.cases.len() * super::CHECKED;
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
            let table = Table::new(&rules);
            let (short, long) = (Ranges::<u32>::new(&rules), Ranges::<u128>::new(&rules));
            for low in 0..2048_u32 {
                for start in [0, u32::MAX - 2047] {
                    let address = IpAddr::from(Ipv4Addr::from(start + low));
                    let expected = rules.iter().any(|rule| rule.contains(address));
                    prop_assert_eq!(table.find(&address), expected, "{} in {:?}", address, &rules);
                    prop_assert_eq!(short.find(&address), expected, "{} in {:?}", address, &rules);
                }
                for start in [0, u128::MAX - 2047] {
                    let address = IpAddr::from(Ipv6Addr::from(start + u128::from(low)));
                    let expected = rules.iter().any(|rule| rule.contains(address));
                    prop_assert_eq!(table.find(&address), expected, "{} in {:?}", address, &rules);
                    prop_assert_eq!(long.find(&address), expected, "{} in {:?}", address, &rules);
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
        assert_eq!(Ranges::<u32>::new(&rules).0.len(), 1);
    }
}
