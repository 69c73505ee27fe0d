//! Searches the bytes of a hop for a probe's payload and for the address that a probe requests.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Mutex;

use serde::Serialize;

use crate::lock::lock;
use crate::net::payload::Pattern;

/// A match of this many bytes is no coincidence: only 5,120 of 2⁶⁴ sequences match.
const WINDOW: usize = 8;
/// Every payload is a piece of one pattern. A payload of this size contains each of the pieces.
const LARGEST: usize = 4_096;

pub struct Search {
    payload: HashSet<[u8; WINDOW]>,
    /// Forms of the far end's addresses: as bytes, in the order of SOCKS and of VMess, and as text.
    requests: Vec<Vec<u8>>,
    found: Mutex<Found>,
}

/// The sender of the searched bytes; as a number, the index of its direction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    Client,
    Server,
}

/// Traffic so far, both directions together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Tapped")]
pub struct Found {
    /// Bytes of connections and datagrams, without network headers.
    pub bytes: u64,
    /// How often the client sent first, or after the server had sent: round trips, if all steps are sequential.
    pub round_trips: u64,
    /// Whether a piece of a probe's payload was readable.
    pub payload: bool,
    /// Whether the far end's address and port were readable.
    pub request: bool,
    #[serde(skip)]
    client_spoke: bool,
}

/// One direction of one connection: a match may cross the border of two reads.
#[derive(Default)]
pub struct Before(Vec<u8>);

impl Search {
    pub fn new(far: &[SocketAddr]) -> Self {
        Self {
            payload: Pattern::new(LARGEST)
                .pieces()
                .windows(WINDOW)
                .filter_map(|piece| piece.try_into().ok())
                .collect(),
            requests: far.iter().flat_map(written).collect(),
            found: Mutex::default(),
        }
    }

    pub fn look(&self, from: Sender, before: &mut Before, read: &[u8]) {
        let Before(text) = before;
        text.extend_from_slice(read);
        let is_payload = |piece: &[u8]| self.payload.contains(piece);
        let payload = text.windows(WINDOW).any(is_payload);
        let has = |request: &Vec<u8>| text.windows(request.len()).any(|piece| piece == request);
        let request = self.requests.iter().any(has);
        let longest = self.requests.iter().map(Vec::len).max().unwrap_or(0);
        let keep = longest.max(WINDOW).saturating_sub(1);
        text.drain(..text.len().saturating_sub(keep));
        let mut found = lock(&self.found);
        let client = from == Sender::Client;
        found.round_trips += u64::from(client && !found.client_spoke);
        found.client_spoke = client;
        found.bytes += read.len() as u64;
        found.payload |= payload;
        found.request |= request;
    }

    pub fn found(&self) -> Found {
        lock(&self.found).clone()
    }
}

fn written(far: &SocketAddr) -> Vec<Vec<u8>> {
    let ip = match far {
        SocketAddr::V4(v4) => v4.ip().octets().to_vec(),
        SocketAddr::V6(v6) => v6.ip().octets().to_vec(),
    };
    let port = far.port().to_be_bytes();
    // RFC 1928, 4: address, then port; VMess and VLESS: port, kind of address (1: IPv4, 3: IPv6), address.
    let kind = if far.is_ipv4() { 1 } else { 3 };
    vec![
        [&ip[..], &port[..]].concat(),
        [&port[..], &[kind], &ip[..]].concat(),
        far.to_string().into_bytes(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: &str = "127.0.0.1:4660";

    fn found(reads: &[&[u8]]) -> Found {
        let search = Search::new(&[FAR.parse().unwrap()]);
        let mut before = Before::default();
        for read in reads {
            search.look(Sender::Client, &mut before, read);
        }
        search.found()
    }

    fn payload(sequence: u32) -> Vec<u8> {
        let mut payload = vec![0; 1_024];
        Pattern::new(1_024).fill(sequence, &mut payload);
        payload
    }

    #[test]
    fn any_payload_is_found_wherever_a_read_ends() {
        for sequence in [0, 1, 77_777, u32::MAX] {
            let text = [b"garbage".as_slice(), &payload(sequence), b"more"].concat();
            let at_once = found(&[&text]);
            assert!(at_once.payload && !at_once.request, "{sequence}");
            let by_byte: Vec<&[u8]> = text.chunks(3).collect();
            assert!(found(&by_byte).payload, "{sequence}, in pieces");
        }
    }

    #[test]
    fn a_request_is_found_in_each_way_to_write_it() {
        for text in [
            b"\x05\x01\x00\x01\x7f\x00\x00\x01\x12\x34".as_slice(),
            b"\x01\x12\x34\x01\x7f\x00\x00\x01".as_slice(),
            b"CONNECT 127.0.0.1:4660 HTTP/1.1\r\n".as_slice(),
        ] {
            let (first, rest) = text.split_at(text.len() / 2);
            let seen = found(&[first, rest]);
            assert!(seen.request && !seen.payload, "{text:?}");
            assert_eq!(seen.bytes, text.len() as u64);
        }
    }

    #[test]
    fn a_round_trip_begins_where_the_client_speaks_anew() {
        use Sender::{Client, Server};
        let search = Search::new(&[]);
        for from in [Client, Client, Server, Server, Client, Server, Client] {
            search.look(from, &mut Before::default(), b"x");
        }
        assert_eq!(search.found().round_trips, 3);
    }

    #[test]
    fn what_is_encrypted_holds_neither() {
        let mut random = fastrand::Rng::with_seed(7);
        let text: Vec<u8> = (0..1 << 20).map(|_| random.u8(..)).collect();
        let seen = found(&[&text]);
        assert!(!seen.payload && !seen.request);
        // Another port of the same machine does not match.
        assert!(!found(&[b"CONNECT 127.0.0.1:4661 HTTP/1.1\r\n"]).request);
    }
}
