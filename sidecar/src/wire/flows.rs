//! Sorts IPv4 packets into connections and flows of one port of a server.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use super::request::{Found, Request, Shows};
use super::rules::Checked;
use super::stream::Stream;
use crate::tap::search::{Before, Search, Sender};

const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 2;

pub struct Flows {
    port: u16,
    shows: Shows,
    search: Search,
    all: HashMap<(u8, Ipv4Addr, u16), Flow>,
    fault: Option<String>,
    greeted: bool,
    carried: bool,
    gaps: bool,
}

/// A connection or flow of one client. The client's direction is first.
struct Flow {
    checked: Checked,
    /// The connection began before the capture, so its bytes cannot be judged.
    unknown: bool,
    ways: [(Stream, Before); 2],
}

struct Packet<'a> {
    protocol: u8,
    from: Sender,
    client: (Ipv4Addr, u16),
    sequence: u32,
    begins: bool,
    bytes: &'a [u8],
}

impl Flows {
    pub fn new(request: &Request) -> Self {
        Self {
            port: request.port,
            shows: request.shows,
            search: Search::new(&request.far),
            all: HashMap::new(),
            fault: None,
            greeted: false,
            carried: false,
            gaps: false,
        }
    }

    /// Takes one packet, which begins with its IPv4 header. Packets of other ports are ignored.
    pub fn take(&mut self, packet: &[u8]) {
        let Some(packet) = read(packet, self.port) else {
            return;
        };
        let key = (packet.protocol, packet.client.0, packet.client.1);
        let is_tcp = packet.protocol == TCP;
        if is_tcp && packet.begins && packet.from == Sender::Client {
            self.end_flow(key);
        }
        let flow = self.all.entry(key).or_insert_with(|| Flow {
            checked: Checked::new(self.shows, !is_tcp || packet.begins),
            unknown: false,
            ways: Default::default(),
        });
        let (stream, before) = &mut flow.ways[packet.from as usize];
        if is_tcp && packet.begins {
            *stream = Stream::begin(packet.sequence);
            return;
        }
        let pieces = if is_tcp {
            stream.take(packet.sequence, packet.bytes)
        } else {
            vec![packet.bytes.to_vec()]
        };
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            self.search.look(packet.from, before, piece);
            if flow.unknown {
                continue;
            }
            let judged = if is_tcp {
                flow.checked.stream(packet.from, piece)
            } else {
                flow.checked.datagram(packet.from, piece)
            };
            let Err(fault) = judged else { continue };
            if flow.checked.is_unknown(packet.from) && self.shows != Shows::Random {
                flow.unknown = true;
            } else {
                self.fault.get_or_insert(fault);
            }
        }
    }

    pub fn end(mut self) -> Found {
        let keys: Vec<_> = self.all.keys().copied().collect();
        for key in keys {
            self.end_flow(key);
        }
        let seen = self.search.found();
        Found {
            bytes: seen.bytes,
            payload: seen.payload,
            request: seen.request,
            fault: self.fault,
            greeted: self.greeted,
            carried: self.carried,
            gaps: self.gaps,
        }
    }

    fn end_flow(&mut self, key: (u8, Ipv4Addr, u16)) {
        let Some(mut flow) = self.all.remove(&key) else {
            return;
        };
        self.gaps |= flow.ways.iter().any(|(stream, _)| stream.has_gap());
        if flow.unknown {
            return;
        }
        if let Err(fault) = flow.checked.end() {
            self.fault.get_or_insert(fault);
        }
        self.greeted |= flow.checked.greeted();
        self.carried |= flow.checked.carried();
    }
}

fn read(packet: &[u8], port: u16) -> Option<Packet<'_>> {
    if packet.len() < 20 || packet[0] >> 4 != 4 {
        return None;
    }
    let header = usize::from(packet[0] & 15) * 4;
    let size = usize::from(short(packet, 2)?);
    // Fragments are not reassembled.
    if short(packet, 6)? & 0x3fff != 0 {
        return None;
    }
    let protocol = packet[9];
    let inner = packet.get(header..size.min(packet.len()))?;
    let (source, target) = (short(inner, 0)?, short(inner, 2)?);
    let address =
        |at: usize| Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
    let (from, client) = if target == port {
        (Sender::Client, (address(12), source))
    } else if source == port {
        (Sender::Server, (address(16), target))
    } else {
        return None;
    };
    let (sequence, begins, bytes) = match protocol {
        TCP => (
            u32::from_be_bytes(*inner.get(4..)?.first_chunk()?),
            inner.get(13)? & SYN != 0,
            inner.get(usize::from(inner.get(12)? >> 4) * 4..)?,
        ),
        UDP => (0, false, inner.get(8..)?),
        _ => return None,
    };
    Some(Packet {
        protocol,
        from,
        client,
        sequence,
        begins,
        bytes,
    })
}

pub(super) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

#[cfg(test)]
mod tests;
