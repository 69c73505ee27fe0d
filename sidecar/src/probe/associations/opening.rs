//! Associations, and how all of them are opened.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, UdpSocket};

use crate::echo::destinations;
use crate::net::clock::now_ns;
use crate::net::pace::SLICE_NS;
use crate::net::poller::{Flags, Poller};
use crate::probe::context::Context;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::plan::Plan;
use crate::probe::reach::near;
use crate::probe::socks5::codec::{Address, udp_header};
use crate::probe::socks5::opening::{HANDSHAKES, Opening};
use crate::probe::stream::Stream;
use crate::probe::udp::allowed_relay;

/// Tokens from here on are of sockets for datagrams; those below are of control connections.
pub const FIRST_SOCKET: u64 = 1 << 32;

pub enum State {
    Opening(Box<Opening>),
    Open {
        /// Held open; none without a proxy.
        _control: Option<Stream>,
        socket: UdpSocket,
        /// The relay, or the destination without a proxy.
        peer: SocketAddr,
    },
    /// Why it was not opened, or ended.
    Down(ErrorKind),
}

pub struct Association {
    pub state: State,
    /// In front of each datagram; empty without a proxy.
    pub header: Vec<u8>,
    pub began_ns: u64,
    /// When its first datagram went out.
    pub first_ns: Option<u64>,
    /// When the last answer came, or the first datagram went out.
    pub heard_ns: u64,
    /// The number after the highest that was answered (NextExp of RFC 4737, 3.3).
    pub expected: usize,
    /// Whether a right answer came, in time or late.
    pub carried: bool,
    /// When the peer ended its control connection.
    pub ended_ns: Option<u64>,
}

impl Association {
    pub fn new(header: Vec<u8>) -> Self {
        Self {
            state: State::Down(ErrorKind::Cut),
            header,
            began_ns: 0,
            first_ns: None,
            heard_ns: 0,
            expected: 0,
            carried: false,
            ended_ns: None,
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }
}

pub struct Opened {
    pub poller: Poller,
    pub associations: Vec<Association>,
    pub first_error: Option<ProbeError>,
    /// From the first dial to the last association that opened or failed.
    pub took_ns: u64,
}

pub fn open_all(plan: &Plan, context: &Context) -> io::Result<Opened> {
    let began_ns = now_ns();
    let number = plan.spec.connections;
    let mut all = Opened {
        poller: Poller::new(plan.spec.wait)?,
        associations: (0..number).map(|index| new(plan, index)).collect(),
        first_error: None,
        took_ns: 0,
    };
    let mut to_dial: VecDeque<usize> = (0..number as usize).collect();
    let mut dialled: VecDeque<usize> = VecDeque::new();
    let mut under_way = 0;
    while (under_way > 0 || !to_dial.is_empty()) && context.must_stop(now_ns()).is_none() {
        while under_way < HANDSHAKES
            && let Some(index) = to_dial.pop_front()
        {
            if all.begin(plan, index) {
                dialled.push_back(index);
                under_way += 1;
            }
        }
        under_way -= all.expire(plan, &mut dialled);
        if under_way == 0 {
            continue;
        }
        let count = all.poller.wait(now_ns() + SLICE_NS)?;
        for event in 0..count {
            let (token, _) = all.poller.event(event);
            if token < FIRST_SOCKET && all.step(plan, token as usize) {
                under_way -= 1;
            }
        }
    }
    // The probe reached its limit, or was cancelled.
    for one in &mut all.associations {
        if matches!(one.state, State::Opening(_)) {
            one.state = State::Down(ErrorKind::Cut);
        }
    }
    all.took_ns = now_ns() - began_ns;
    Ok(all)
}

/// An association that is not open yet, and the header for its destination.
fn new(plan: &Plan, index: u64) -> Association {
    Association::new(match (&plan.proxy, &plan.target) {
        (None, _) => Vec::new(),
        (Some(_), Address::Ip(_)) => udp_header(&Address::Ip(destination(plan, index))),
        (Some(_), named) => udp_header(named),
    })
}

fn destination(plan: &Plan, index: u64) -> SocketAddr {
    let first = plan.target_at.address;
    // The plan has checked the last one.
    destinations::at(first, index % plan.spec.destinations).unwrap_or(first)
}

impl Opened {
    /// Whether a handshake is under way now.
    fn begin(&mut self, plan: &Plan, index: usize) -> bool {
        self.associations[index].began_ns = now_ns();
        if plan.proxy.is_none() {
            let opened = self.open(index, None, destination(plan, index as u64));
            self.note(index, opened);
            return false;
        }
        let begun = Opening::begin(plan).and_then(|opening| {
            let (stream, wanted) = (&opening.stream, opening.wanted());
            let added = self.poller.add(stream, index as u64, wanted);
            added.map_err(|error| ProbeError::io("epoll", &error))?;
            Ok(opening)
        });
        match begun {
            Ok(opening) => {
                self.associations[index].state = State::Opening(Box::new(opening));
                true
            }
            Err(error) => {
                self.note(index, Err(error));
                false
            }
        }
    }

    /// Goes on with a handshake, and returns whether it is over now.
    fn step(&mut self, plan: &Plan, index: usize) -> bool {
        let State::Opening(opening) = &mut self.associations[index].state else {
            return false;
        };
        let stepped = opening.step(plan).and_then(|done| {
            if !done {
                let wanted = opening.wanted();
                let changed = self.poller.modify(&opening.stream, index as u64, wanted);
                changed.map_err(|error| ProbeError::io("epoll", &error))?;
            }
            Ok(done)
        });
        match stepped {
            Ok(false) => return false,
            Ok(true) => {
                let granted = self.granted(plan, index);
                self.note(index, granted);
            }
            Err(error) => self.note(index, Err(error)),
        }
        true
    }

    fn granted(&mut self, plan: &Plan, index: usize) -> Result<(), ProbeError> {
        let state = &mut self.associations[index].state;
        let State::Opening(opening) = std::mem::replace(state, State::Down(ErrorKind::Cut)) else {
            return Ok(());
        };
        let Opening { stream, bound, .. } = *opening;
        let (Some(bound), Some(proxy)) = (bound, &plan.proxy) else {
            return Ok(());
        };
        let relay = allowed_relay(&bound, proxy, plan)?;
        let changed = self.poller.modify(&stream, index as u64, Flags::RDHUP);
        changed.map_err(|error| ProbeError::io("epoll", &error))?;
        self.open(index, Some(stream), relay)
    }

    fn open(
        &mut self,
        index: usize,
        control: Option<Stream>,
        peer: SocketAddr,
    ) -> Result<(), ProbeError> {
        let socket = bind(peer).and_then(|socket| {
            let token = FIRST_SOCKET + index as u64;
            self.poller.add(&socket, token, Flags::IN)?;
            Ok(socket)
        });
        let socket = socket.map_err(|error| ProbeError::io(format_args!("UDP {peer}"), &error))?;
        self.associations[index].state = State::Open {
            _control: control,
            socket,
            peer,
        };
        Ok(())
    }

    fn note(&mut self, index: usize, result: Result<(), ProbeError>) {
        if let Err(error) = result {
            self.associations[index].state = State::Down(error.kind);
            self.first_error.get_or_insert(error);
        }
    }

    /// Gives up the handshakes that took too long, and returns how many. `dialled` has them in the order of their begin.
    fn expire(&mut self, plan: &Plan, dialled: &mut VecDeque<usize>) -> usize {
        let timeout_ns = plan.handshake_timeout.as_nanos() as u64;
        let mut late = 0;
        while let Some(&index) = dialled.front() {
            let one = &self.associations[index];
            if let State::Opening(opening) = &one.state {
                if one.began_ns + timeout_ns > now_ns() {
                    break;
                }
                let error = opening.late(plan);
                self.note(index, Err(error));
                late += 1;
            }
            dialled.pop_front();
        }
        late
    }
}

/// A socket for datagrams to `peer`. It is not connected, so that answers from other senders are seen. On loopback it is bound there.
pub fn bind(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((near(peer.ip()), 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}
