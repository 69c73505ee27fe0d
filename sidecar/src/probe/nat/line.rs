//! One association, with its own client socket, and the datagrams through it.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::shared::{Nat, socket};
use crate::net::batch::DATAGRAM;
use crate::net::clock::now_ns;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::reach::near;
use crate::probe::socks5::client::{self, Deadline};
use crate::probe::socks5::codec::{self, Address};
use crate::probe::stream::Stream;
use crate::probe::udp::may_relay;

/// The shortest look at a socket: a datagram that is there counts, although the thread comes late.
const LEAST_LOOK_NS: u64 = 1_000_000;

/// A datagram of this probe that arrived whole.
pub struct Arrived {
    pub number: u32,
    pub from: SocketAddr,
    /// Bytes of payload.
    pub bytes: usize,
    /// The sender that the SOCKS header names.
    pub named: Option<Address>,
}

pub struct Line<'a> {
    nat: &'a Nat<'a>,
    client: UdpSocket,
    /// Where the client's datagrams go; none if there is no proxy.
    pub relay: Option<SocketAddr>,
    /// Whether the reply names the relay.
    pub named: bool,
    /// BND.ADDR and BND.PORT of the reply to UDP ASSOCIATE.
    pub bound: Option<Address>,
    control: Option<Stream>,
    /// The fault of a datagram that arrived.
    fault: Cell<Option<ErrorKind>>,
}

impl<'a> Line<'a> {
    /// Opens an association. Its datagrams go to the relay that the reply names, or to its port at the proxy's own address if `own`, or if
    /// the named one may not be reached. They come from the address `from`, by default the one that is nearest to the relay.
    pub fn open(nat: &'a Nat<'a>, own: bool, from: Option<IpAddr>) -> Result<Self, ProbeError> {
        let Some(proxy) = &nat.plan.proxy else {
            return Ok(Self {
                nat,
                client: socket(Ipv4Addr::UNSPECIFIED.into())?,
                relay: None,
                named: false,
                bound: None,
                control: None,
                fault: Cell::default(),
            });
        };
        let deadline = Deadline::of_handshake(nat.plan, nat.context);
        let (control, bound) = client::ask_for_udp(proxy, &deadline)?;
        let at = proxy.at.address.ip();
        let port = match &bound {
            Address::Ip(address) => address.port(),
            Address::Domain(_, port) => *port,
        };
        let named = client::relay_of(&bound, proxy)
            .ok()
            .filter(|relay| !own && may_relay(relay.ip(), at, &nat.plan.allowed));
        let relay = named.unwrap_or(SocketAddr::new(at, port));
        Ok(Self {
            nat,
            client: socket(from.unwrap_or(near(relay.ip())))?,
            relay: Some(relay),
            named: named.is_some(),
            bound: Some(bound),
            control: Some(control),
            fault: Cell::default(),
        })
    }

    pub fn port(&self) -> Option<u16> {
        self.client.local_addr().ok().map(|address| address.port())
    }

    pub fn end_control(&mut self) {
        self.control = None;
    }

    /// Sends a payload to a target, as the fragment of this number.
    pub fn send(&self, to: &Address, fragment: u8, payload: &[u8]) {
        // A datagram that is not sent does not arrive, and only arrivals count.
        let _ = match (self.relay, to) {
            (Some(relay), _) => {
                let mut datagram = codec::udp_header(to);
                datagram[2] = fragment;
                datagram.extend_from_slice(payload);
                self.client.send_to(&datagram, relay)
            }
            (None, Address::Ip(target)) => self.client.send_to(payload, target),
            (None, Address::Domain(..)) => Ok(0),
        };
    }

    /// The client sends until a datagram arrives at the far end. Returns the source that the far end sees, or none after the timeout.
    pub fn up(&self, far: &UdpSocket) -> Option<SocketAddr> {
        self.up_to(&Address::Ip(far.local_addr().ok()?), far)
    }

    /// The same for a target that leads to the far end.
    pub fn up_to(&self, to: &Address, far: &UdpSocket) -> Option<SocketAddr> {
        let send = |payload: &[u8]| self.send(to, 0, payload);
        let arrived = self
            .nat
            .until_one(send, |since, by| self.arrived(far, since, by));
        Some(arrived?.from)
    }

    /// The far end sends until a datagram reaches the client, or the timeout is over.
    pub fn down(&self, far: &UdpSocket, mapped: SocketAddr) -> bool {
        let send = |payload: &[u8]| drop(far.send_to(payload, mapped));
        let arrived = self.nat.until_one(send, |since, by| self.heard(since, by));
        arrived.inspect(|one| self.note_sender(one, far)).is_some()
    }

    /// Notes whether the header of an answer names the far end that sent it. A name may stand for the sender.
    pub fn note_sender(&self, arrived: &Arrived, far: &UdpSocket) {
        if let Some(Address::Ip(named)) = &arrived.named {
            self.nat.names_sender(far.local_addr().ok() == Some(*named));
        }
    }

    /// The next datagram that reaches the client before a moment. A source other than the relay is noted.
    pub fn heard(&self, since: u32, by_ns: u64) -> Option<Arrived> {
        let arrived = self.hear(&self.client, self.relay.is_some(), since, by_ns)?;
        if let Some(relay) = self.relay {
            self.nat.answered(relay, arrived.from);
            if arrived.from != relay {
                self.fault.set(Some(ErrorKind::OtherSource));
            }
        }
        Some(arrived)
    }

    /// The next datagram that reaches a far end before a moment.
    pub fn arrived(&self, far: &UdpSocket, since: u32, by_ns: u64) -> Option<Arrived> {
        self.hear(far, false, since, by_ns)
    }

    /// The first round trip, whose outcome counts as an operation. Returns the source that the far end sees.
    pub fn begin(&self, far: &UdpSocket) -> Option<SocketAddr> {
        let mapped = self.round_trip(far);
        let lost = mapped.is_none().then_some(ErrorKind::Lost);
        self.nat.operation(self.fault.get().or(lost));
        mapped
    }

    /// A round trip that is no operation.
    pub fn round_trip(&self, far: &UdpSocket) -> Option<SocketAddr> {
        self.up(far).filter(|mapped| self.down(far, *mapped))
    }

    /// The next whole datagram of this probe with this number or a later one, before a moment.
    fn hear(&self, at: &UdpSocket, wrapped: bool, since: u32, by_ns: u64) -> Option<Arrived> {
        let mut bytes = vec![0; DATAGRAM];
        loop {
            let left = by_ns.saturating_sub(now_ns());
            if left == 0 && self.nat.stops() {
                return None;
            }
            let look = Duration::from_nanos(left.max(LEAST_LOOK_NS));
            at.set_read_timeout(Some(look)).ok()?;
            let (count, from) = match at.recv_from(&mut bytes) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return None,
            };
            let datagram = &bytes[..count];
            let (named, header) = match codec::read_udp_header(datagram) {
                Ok((named, header)) if wrapped => (Some(named), header),
                _ if wrapped => continue,
                _ => (None, 0),
            };
            let payload = &datagram[header..];
            match self.nat.number_of(payload) {
                Some(Ok(number)) if number >= since => {
                    return Some(Arrived {
                        number,
                        from,
                        bytes: payload.len(),
                        named,
                    });
                }
                Some(Err(kind)) => self.fault.set(Some(kind)),
                _ => {}
            }
        }
    }
}

impl Nat<'_> {
    /// An association for one behaviour. If it cannot be opened, it counts as failed.
    pub fn line(&self, own: bool) -> Option<Line<'_>> {
        let opened = Line::open(self, own, None);
        opened
            .inspect_err(|error| self.operation(Some(error.kind)))
            .ok()
    }
}
