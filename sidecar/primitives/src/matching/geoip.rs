//! GeoIP: the country of an address, from a generated database in MaxMind's format.

use std::net::{IpAddr, Ipv4Addr};

use fastrand::Rng;
use maxminddb::{PathElement, Reader};
use maxminddb_writer::Database;
use maxminddb_writer::metadata::IpVersion;
use maxminddb_writer::paths::IpAddrWithMask;
use serde::Serialize;

use super::{QUERIES, add};
use crate::Error;
use crate::bench::{Key, Suite};

/// Each network is in its own block of this prefix length, so that networks do not overlap.
const BLOCK: u8 = 22;
const COUNTRIES: usize = 250;

type Code = [u8; 2];

/// A network: its first address, its length, the index of its country.
#[derive(Clone, Copy, Debug)]
struct Network {
    first: u32,
    length: u8,
    country: usize,
}

impl Network {
    fn contains(&self, address: u32) -> bool {
        (address ^ self.first) >> (32 - self.length) == 0
    }
}

fn code(country: usize) -> Code {
    [b'A' + (country / 26) as u8, b'A' + (country % 26) as u8]
}

#[derive(Serialize)]
struct Record {
    country: Country,
}

#[derive(Serialize)]
struct Country {
    iso_code: String,
}

/// The whole database in memory, as proxies hold it.
fn countries(networks: &[Network]) -> Result<impl Fn(&IpAddr) -> Option<Code> + use<>, Error> {
    const PATH: [PathElement<'_>; 2] = [PathElement::Key("country"), PathElement::Key("iso_code")];
    let mut database = Database::default();
    database.metadata.ip_version = IpVersion::V4;
    database.metadata.database_type = "Windtunnel-Country".to_owned();
    database.metadata.binary_format_major_version = 2;
    database.metadata.build_epoch = 1;
    let countries: Vec<_> = (0..COUNTRIES)
        .map(|country| {
            let iso_code = String::from_utf8_lossy(&code(country)).into_owned();
            database.insert_value(Record {
                country: Country { iso_code },
            })
        })
        .collect::<Result<_, _>>()
        .map_err(|error| Error::new("maxminddb-writer", error))?;
    for network in networks {
        let path = IpAddrWithMask::new(Ipv4Addr::from(network.first).into(), network.length);
        database.insert_node(path, countries[network.country]);
    }
    let bytes = database
        .write_to(Vec::new())
        .map_err(|error| Error::new("maxminddb-writer", error))?;
    let reader = Reader::from_source(bytes).map_err(|error| Error::new("maxminddb", error))?;
    Ok(move |address: &IpAddr| {
        let code: Option<&str> = reader.lookup(*address).ok()?.decode_path(&PATH).ok()?;
        code?.as_bytes().try_into().ok()
    })
}

/// `count` networks of /22 to /28, each in its own block.
fn networks(rng: &mut Rng, count: usize) -> Vec<Network> {
    let blocks: Vec<u32> = rng.choose_multiple(0..1 << BLOCK, count);
    blocks
        .into_iter()
        .map(|block| Network {
            first: block << (32 - BLOCK),
            length: rng.u8(BLOCK..=28),
            country: rng.usize(..COUNTRIES),
        })
        .collect()
}

fn country(networks: &[Network], address: &IpAddr) -> Option<Code> {
    let IpAddr::V4(address) = address else {
        return None;
    };
    let found = networks
        .iter()
        .find(|network| network.contains(u32::from(*address)));
    found.map(|network| code(network.country))
}

pub fn suite(rules: &[usize]) -> Result<Suite, Error> {
    let mut suite = Suite::default();
    for count in rules {
        let mut rng = Rng::with_seed(5);
        let networks = networks(&mut rng, *count);
        let queries: Vec<Box<IpAddr>> = (0..QUERIES)
            .map(|index| {
                let address = if index % 2 == 0 {
                    let network = networks[rng.usize(..networks.len())];
                    network.first + rng.u32(..1 << (32 - network.length))
                } else {
                    rng.u32(..)
                };
                Box::new(Ipv4Addr::from(address).into())
            })
            .collect();
        let key = Key::new("ipv4", "country", "maxminddb").of_rules(*count);
        let expected = |address: &IpAddr| country(&networks, address);
        add(&mut suite, key, || countries(&networks), &queries, expected)?;
    }
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn countries_are_found_as_trying_each_finds_them(seed in any::<u64>(), count in 1..200_usize) {
            let mut rng = Rng::with_seed(seed);
            let networks = networks(&mut rng, count);
            let find = countries(&networks).unwrap();
            for network in &networks {
                for address in [
                    network.first,
                    network.first.wrapping_sub(1),
                    network.first + (1 << (32 - network.length)) - 1,
                    network.first.wrapping_add(1 << (32 - network.length)),
                    rng.u32(..),
                ] {
                    let address = IpAddr::from(Ipv4Addr::from(address));
                    prop_assert_eq!(find(&address), country(&networks, &address), "{}", address);
                }
            }
        }
    }
}
