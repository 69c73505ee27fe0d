//! Rules for each kind of hop: TCP connections byte by byte, UDP flows datagram by datagram.

use super::greeting;
use super::randomness::Blocks;
use super::request::Shows;
use crate::tap::search::Sender;

pub type Fault = String;

/// The largest record: of TLS 1.2, with what a cipher may add (RFC 5246, 6.2.3).
const RECORD_MOST: usize = (1 << 14) + 2_048;
const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;
const APPLICATION_DATA: u8 = 23;

/// The opcodes that OpenVPN has assigned.
const OPCODES: std::ops::RangeInclusive<u8> = 1..=11;

pub struct Checked {
    shows: Shows,
    /// Whether the capture saw its beginning.
    begun: bool,
    /// The client's direction is first.
    ways: [Way; 2],
}

#[derive(Default)]
struct Way {
    bytes: u64,
    greeted: bool,
    carried: bool,
    /// The first bytes, until they identify the protocol.
    first: Vec<u8>,
    records: Records,
    blocks: Blocks,
}

impl Checked {
    pub fn new(shows: Shows, begun: bool) -> Self {
        Self {
            shows,
            begun,
            ways: Default::default(),
        }
    }

    /// Checks bytes of a connection, in their order. For a connection from before the capture, a fault may belong to its unseen beginning.
    pub fn stream(&mut self, from: Sender, bytes: &[u8]) -> Result<(), Fault> {
        let (shows, begun) = (self.shows, self.begun);
        self.way(from).stream(shows, begun, from, bytes)
    }

    pub fn datagram(&mut self, from: Sender, bytes: &[u8]) -> Result<(), Fault> {
        let shows = self.shows;
        self.way(from).datagram(shows, from, bytes)
    }

    pub fn end(&mut self) -> Result<(), Fault> {
        let shows = self.shows;
        self.ways.iter_mut().try_for_each(|way| way.end(shows))
    }

    /// Whether no bytes of one direction were judged correct so far.
    pub fn is_unknown(&self, from: Sender) -> bool {
        !self.begun && self.ways[from as usize].records.count == 0
    }

    pub fn carried(&self) -> bool {
        self.ways.iter().all(|way| way.carried)
    }

    pub fn greeted(&self) -> bool {
        self.ways.iter().all(|way| way.carried && way.greeted)
    }

    fn way(&mut self, from: Sender) -> &mut Way {
        &mut self.ways[from as usize]
    }
}

impl Way {
    fn stream(
        &mut self,
        shows: Shows,
        begun: bool,
        from: Sender,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let is_first = self.bytes == 0;
        self.bytes += bytes.len() as u64;
        match shows {
            Shows::Plain => {
                self.pass(begun);
                Ok(())
            }
            Shows::Tls => self.tls(begun, from, bytes),
            Shows::Random => {
                if is_first && begun {
                    no_greeting(bytes)?;
                }
                self.pass(begun);
                random(self.blocks.feed(bytes))
            }
            Shows::Ssh if begun => self.banner(bytes),
            Shows::Ssh => {
                self.pass(false);
                random(self.blocks.feed(bytes))
            }
            Shows::Openvpn => self.framed(from, bytes),
            Shows::Quic | Shows::Wireguard => {
                Err(format!("a TCP connection of {}", greeting::describe(bytes)))
            }
        }
    }

    fn datagram(&mut self, shows: Shows, from: Sender, bytes: &[u8]) -> Result<(), Fault> {
        let is_first = self.bytes == 0;
        self.bytes += bytes.len() as u64;
        match shows {
            Shows::Plain => self.pass(true),
            Shows::Tls | Shows::Ssh => {
                return Err(format!("a datagram of {}", greeting::describe(bytes)));
            }
            Shows::Quic => {
                if greeting::is_quic_long(bytes) {
                    self.greeted |= greeting::is_quic_initial(bytes);
                } else if bytes.first().is_some_and(|first| first & 0xc0 == 0x40) {
                    self.carried = true;
                } else {
                    return Err(format!("no QUIC: {}", greeting::describe(bytes)));
                }
                return random(whole(bytes));
            }
            Shows::Random => {
                if is_first {
                    no_greeting(bytes)?;
                }
                self.pass(true);
                return random(whole(bytes));
            }
            Shows::Wireguard => return self.wireguard(bytes),
            Shows::Openvpn => return self.openvpn(from, bytes),
        }
        Ok(())
    }

    fn end(&mut self, shows: Shows) -> Result<(), Fault> {
        match shows {
            Shows::Random | Shows::Ssh => random(self.blocks.end()),
            _ => Ok(()),
        }
    }

    fn pass(&mut self, greeted: bool) {
        self.greeted |= greeted;
        self.carried = true;
    }

    fn tls(&mut self, begun: bool, from: Sender, bytes: &[u8]) -> Result<(), Fault> {
        keep_first(&mut self.first, bytes);
        let fed = self.records.feed(bytes);
        fed.map_err(|wrong| match wrong {
            Wrong::Looks(looks) => format!("records of TLS that hold {looks}"),
            Wrong::NoRecord if self.records.count == 0 => {
                format!("no TLS: {}", greeting::describe(&self.first))
            }
            Wrong::NoRecord => "no TLS behind its first records".to_owned(),
        })?;
        self.carried |= self.records.has_data;
        if !begun || self.greeted {
            return Ok(());
        }
        let [kind, _, _, _, _, message, ..] = self.first[..] else {
            return Ok(());
        };
        let (wanted, name) = match from {
            Sender::Client => (1, "ClientHello"),
            Sender::Server => (2, "ServerHello"),
        };
        self.greeted = kind == HANDSHAKE && message == wanted;
        let may_refuse = from == Sender::Server && kind == ALERT;
        if self.greeted || may_refuse {
            return Ok(());
        }
        Err(format!("records of TLS without a {name}"))
    }

    /// RFC 4253, 4.2: a server may send other lines before the banner.
    fn banner(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        keep_first(&mut self.first, bytes);
        if self.first.starts_with(b"SSH-") {
            self.pass(true);
            return Ok(());
        }
        if b"SSH-".starts_with(&self.first) {
            return Ok(());
        }
        Err(format!("no SSH: {}", greeting::describe(&self.first)))
    }

    /// Types and sizes of messages (the protocol's paper, 5.4). A message with 32 bytes of data is a keepalive.
    fn wireguard(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match (bytes, bytes.len()) {
            ([1, 0, 0, 0, ..], 148) | ([2, 0, 0, 0, ..], 92) => self.greeted = true,
            ([3, 0, 0, 0, ..], 64) => {}
            ([4, 0, 0, 0, ..], size @ 32..) if size % 16 == 0 => {
                self.carried |= size > 32;
                return random(whole(&bytes[16..]));
            }
            _ => return Err(format!("no WireGuard: {}", greeting::describe(bytes))),
        }
        Ok(())
    }

    /// Checks one packet. Its opcode is in the upper five bits; opcodes 6 and 9 carry data.
    fn openvpn(&mut self, from: Sender, packet: &[u8]) -> Result<(), Fault> {
        let opcode = packet.first().map_or(0, |first| first >> 3);
        match opcode {
            7 | 10 if from == Sender::Client => self.greeted = true,
            8 if from == Sender::Server => self.greeted = true,
            6 | 9 => {
                self.carried = true;
                return random(whole(&packet[4.min(packet.len())..]));
            }
            _ if OPCODES.contains(&opcode) => {}
            _ => return Err(format!("no OpenVPN: {}", greeting::describe(packet))),
        }
        Ok(())
    }

    /// Packets of OpenVPN over TCP: two bytes of size before each.
    fn framed(&mut self, from: Sender, bytes: &[u8]) -> Result<(), Fault> {
        self.first.extend_from_slice(bytes);
        while let [high, low, rest @ ..] = &self.first[..] {
            let size = usize::from(u16::from_be_bytes([*high, *low]));
            // The opcode can be checked before the packet is complete.
            let opcode = rest.first().map(|first| first >> 3);
            let is_other = size == 0 || opcode.is_some_and(|opcode| !OPCODES.contains(&opcode));
            if is_other || self.records.count == 0 && greeting::of(&self.first).is_some() {
                return Err(format!("no OpenVPN: {}", greeting::describe(&self.first)));
            }
            if rest.len() < size {
                break;
            }
            let packet: Vec<u8> = self.first.drain(..size + 2).skip(2).collect();
            self.openvpn(from, &packet)?;
            self.records.count += 1;
        }
        Ok(())
    }
}

/// The number of bytes that identify a protocol.
const FIRST: usize = 16;

fn keep_first(first: &mut Vec<u8>, bytes: &[u8]) {
    let free = FIRST.saturating_sub(first.len());
    first.extend_from_slice(&bytes[..bytes.len().min(free)]);
}

fn no_greeting(bytes: &[u8]) -> Result<(), Fault> {
    greeting::of(bytes).map_or(Ok(()), |name| Err(format!("a greeting of {name}")))
}

fn random(looks: Option<&'static str>) -> Result<(), Fault> {
    looks.map_or(Ok(()), |looks| {
        Err(format!("{looks} instead of a cipher's bytes"))
    })
}

/// Describes one datagram or packet if it does not look random.
fn whole(bytes: &[u8]) -> Option<&'static str> {
    let mut blocks = Blocks::default();
    blocks.feed(bytes).or(blocks.end())
}

enum Wrong {
    NoRecord,
    Looks(&'static str),
}

#[derive(Default)]
struct Records {
    header: Vec<u8>,
    left: usize,
    count: u64,
    has_data: bool,
    blocks: Blocks,
}

impl Records {
    fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Wrong> {
        while !bytes.is_empty() {
            if self.left == 0 {
                let (byte, rest) = (bytes[0], &bytes[1..]);
                bytes = rest;
                self.header.push(byte);
                if !is_header(&self.header) {
                    return Err(Wrong::NoRecord);
                }
                if let [kind, _, _, high, low] = self.header[..] {
                    self.left = usize::from(u16::from_be_bytes([high, low]));
                    self.count += 1;
                    self.has_data |= kind == APPLICATION_DATA;
                }
                continue;
            }
            let (body, rest) = bytes.split_at(self.left.min(bytes.len()));
            bytes = rest;
            self.left -= body.len();
            let is_data = self.header[0] == APPLICATION_DATA;
            let mut looks = if is_data {
                self.blocks.feed(body)
            } else {
                None
            };
            if self.left == 0 {
                self.header.clear();
                looks = looks.or(self.blocks.end());
            }
            if let Some(looks) = looks {
                return Err(Wrong::Looks(looks));
            }
        }
        Ok(())
    }
}

/// Whether bytes may begin a record: type, version, and size (RFC 8446, 5.1).
fn is_header(bytes: &[u8]) -> bool {
    let fits = match bytes {
        [_, _, _, high, low] => {
            (1..=RECORD_MOST).contains(&usize::from(u16::from_be_bytes([*high, *low])))
        }
        _ => true,
    };
    let mut begin = bytes.iter().zip([20..=23, 3..=3, 0..=4]);
    fits && begin.all(|(byte, allowed)| allowed.contains(byte))
}
