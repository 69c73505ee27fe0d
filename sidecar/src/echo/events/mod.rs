//! The events engine: one thread for everything, with thousands of connections and all faults.

mod connection;
mod datagrams;
mod link;
mod socket;
mod tools;
mod transfer;

use std::collections::{HashMap, HashSet};
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;

use super::counters::Counters;
use super::faults::Faults;
use super::shared::Shared;
use super::zone::Zone;
use crate::net::clock::now_ns;
use crate::net::poller::{Flags, Poller, Waker};
use crate::net::timers::Timers;
use connection::{Connection, Work};
use datagrams::Datagrams;
use link::Link;
use socket::Over;
use tools::{Action, Tools};

const WAKER: u64 = 0;
const LISTENER: u64 = 1;
const UDP: u64 = 2;
const FIRST_CONNECTION: u64 = 3;
/// Tokens from here on are further destinations of datagrams.
const FIRST_DESTINATION: u64 = 1 << 62;
const BUFFER: usize = 256 * 1024;
/// Connections that are accepted before existing connections are served again.
const ACCEPT_AT_ONCE: usize = 64;
const LISTEN_AGAIN_NS: u64 = 10_000_000;
/// The limit of a probe, and 64 more for connections that are about to end. Further connections wait to be accepted.
const MAX_CONNECTIONS: usize = 4_096 + 64;

pub struct Events {
    poller: Poller,
    listener: TcpListener,
    datagrams: Datagrams,
    destinations: Vec<UdpSocket>,
    connections: HashMap<u64, Connection>,
    next_id: u64,
    /// Connections that may have unread bytes because the link was full.
    unread: HashSet<u64>,
    zone: Option<Zone>,
    link: Link,
    timers: Timers<(Action, Vec<u8>)>,
    buffer: Vec<u8>,
    shared: Arc<Shared>,
}

/// A macro, because a method would borrow all of `self`.
macro_rules! tools {
    ($events:expr) => {
        Tools {
            zone: $events.zone,
            link: &mut $events.link,
            timers: &mut $events.timers,
            counters: &$events.shared.counters,
            buffer: &mut $events.buffer,
            now_ns: now_ns(),
        }
    };
}

impl Events {
    /// `waker` makes [`Self::run`] check whether the server must end.
    pub fn new(
        listener: TcpListener,
        udp: UdpSocket,
        faults: Option<Faults>,
        zone: Option<Zone>,
        waker: &Waker,
        shared: &Arc<Shared>,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        let poller = Poller::new(shared.wait)?;
        poller.add(waker, WAKER, Flags::IN)?;
        poller.add(&listener, LISTENER, Flags::IN)?;
        poller.add(&udp, UDP, Flags::IN)?;
        Ok(Self {
            poller,
            listener,
            datagrams: Datagrams::new(udp, faults.is_none() && zone.is_none()),
            destinations: Vec::new(),
            connections: HashMap::new(),
            next_id: FIRST_CONNECTION,
            unread: HashSet::new(),
            zone,
            link: Link::new(faults.unwrap_or_default()),
            timers: Timers::new(),
            buffer: vec![0; BUFFER],
            shared: Arc::clone(shared),
        })
    }

    pub fn with_destinations(mut self, destinations: Vec<UdpSocket>) -> std::io::Result<Self> {
        for (index, socket) in destinations.iter().enumerate() {
            let token = FIRST_DESTINATION + index as u64;
            self.poller.add(socket, token, Flags::IN)?;
        }
        self.destinations = destinations;
        Ok(self)
    }

    pub fn run(mut self) {
        while !self.shared.ending() {
            let deadline_ns = self.timers.next_ns().unwrap_or(u64::MAX);
            let Ok(count) = self.poller.wait(deadline_ns) else {
                return;
            };
            for index in 0..count {
                let (token, flags) = self.poller.event(index);
                match token {
                    WAKER => {}
                    LISTENER => self.accept(),
                    UDP => {
                        let mut tools = tools!(self);
                        self.datagrams.ready(&mut tools, &self.shared);
                    }
                    id if id >= FIRST_DESTINATION => {
                        let socket = &self.destinations[(id - FIRST_DESTINATION) as usize];
                        self.datagrams.echo(socket, &self.shared);
                    }
                    id => self.with(id, |connection, tools| connection.ready(flags, tools)),
                }
            }
            self.fire();
            if !self.link.full() {
                for id in std::mem::take(&mut self.unread) {
                    self.with(id, |_, _| Ok(()));
                }
            }
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPT_AT_ONCE {
            if self.connections.len() >= MAX_CONNECTIONS {
                return self.listen_later();
            }
            match self.shared.arrivals.take(|| self.listener.accept()) {
                Ok((stream, _)) => {
                    self.shared.counters.accepted();
                    let id = self.next_id;
                    if let Ok(connection) = Connection::new(id, stream, self.zone.is_some())
                        && self
                            .poller
                            .add(&connection.socket.stream, id, connection.interest)
                            .is_ok()
                    {
                        self.next_id += 1;
                        Counters::add(&self.shared.counters.tcp_connections, 1);
                        self.connections.insert(id, connection);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => return self.listen_later(),
            }
        }
    }

    fn listen_later(&mut self) {
        let _ = self.poller.modify(&self.listener, LISTENER, Flags::empty());
        let again = (Action::ListenAgain, Vec::new());
        self.timers.add(now_ns() + LISTEN_AGAIN_NS, again);
    }

    /// Runs `work` on a connection, and drops the connection if it is over.
    fn with(
        &mut self,
        id: u64,
        work: impl FnOnce(&mut Connection, &mut Tools<'_>) -> Result<(), Over>,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let mut tools = tools!(self);
        let mut worked = work(connection, &mut tools);
        let full = self.link.full();
        if full {
            self.unread.insert(id);
        }
        let wanted = connection.wanted(full);
        if worked.is_ok() && wanted != connection.interest {
            connection.interest = wanted;
            let changed = self.poller.modify(&connection.socket.stream, id, wanted);
            worked = changed.map_err(|_| Over);
        }
        if worked.is_err()
            && let Some(over) = self.connections.remove(&id)
        {
            over.socket.told.ended(&self.shared.counters);
        }
    }

    fn fire(&mut self) {
        loop {
            let now = now_ns();
            let Some((_, (action, bytes))) = self.timers.due(now) else {
                return;
            };
            let is_answer = matches!(
                action,
                Action::Answer(_) | Action::Datagram(_) | Action::Reset(_) | Action::Close(_)
            );
            if is_answer && now < self.link.stall_until_ns() {
                self.timers.add(self.link.stall_until_ns(), (action, bytes));
                continue;
            }
            if is_answer {
                self.link.let_go(bytes.len());
            }
            match action {
                Action::Answer(id) | Action::Reset(id) | Action::Close(id) => {
                    self.with(id, |connection, tools| {
                        connection.due(&action, &bytes, tools.counters)
                    });
                }
                Action::Resume(id) => self.with(id, |connection, tools| {
                    if let Work::Bulk(transfer) = &mut connection.work {
                        transfer.resume();
                    }
                    connection.step(tools)
                }),
                Action::Datagram(to) => {
                    let mut tools = tools!(self);
                    self.datagrams.due(to, bytes, &mut tools);
                }
                Action::Release(id) => {
                    let mut tools = tools!(self);
                    self.datagrams.release(id, &mut tools);
                }
                Action::ListenAgain => {
                    let _ = self.poller.modify(&self.listener, LISTENER, Flags::IN);
                }
            }
        }
    }
}
