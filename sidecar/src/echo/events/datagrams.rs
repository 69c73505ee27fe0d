//! The UDP side of the events engine.

use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::sys::socket::SockaddrStorage;

use super::tools::{Action, Tools};
use crate::echo::blocking_udp::{BATCH, answer, tag_of};
use crate::echo::counters::Counters;
use crate::echo::shared::Shared;
use crate::net::batch::Batch;

/// A held answer waits for this number of later answers, or at most for the time below.
const HELD_FOR: usize = 3;
const HELD_NS: u64 = 50_000_000;

struct Held {
    id: u64,
    left: usize,
    to: SocketAddr,
    bytes: Vec<u8>,
}

pub struct Datagrams {
    socket: UdpSocket,
    batch: Batch,
    held: VecDeque<Held>,
    held_ids: u64,
    /// True if no fault is set: datagrams go back unchanged.
    plain: bool,
}

impl Datagrams {
    pub fn new(socket: UdpSocket, plain: bool) -> Self {
        Self {
            socket,
            batch: Batch::new(BATCH),
            held: VecDeque::new(),
            held_ids: 0,
            plain,
        }
    }

    pub fn echo(&mut self, socket: &UdpSocket, shared: &Shared) {
        let socket = socket.as_raw_fd();
        if let Ok(count) = self.batch.receive(socket) {
            answer(&mut self.batch, socket, count, shared);
        }
    }

    pub fn ready(&mut self, tools: &mut Tools<'_>, shared: &Shared) {
        let socket = self.socket.as_raw_fd();
        let Ok(count) = self.batch.receive(socket) else {
            return;
        };
        if self.plain {
            answer(&mut self.batch, socket, count, shared);
            return;
        }
        Counters::add(&tools.counters.udp_received, count);
        for index in 0..count {
            let (bytes, from) = self.batch.datagram(index);
            let counts = tools.counters.of(tag_of(bytes));
            Counters::add(&counts.datagrams_received, 1);
            Counters::add(&counts.bytes_received, bytes.len());
            let Some(to) = from.as_ref().and_then(address) else {
                continue;
            };
            if tools.link.loss.draw() || tools.link.full() {
                Counters::add(&tools.counters.dropped, 1);
                continue;
            }
            let answer = match tools.zone {
                None => Some(bytes.to_vec()),
                Some(zone) => zone.answer(bytes, tools.counters),
            };
            let Some(mut bytes) = answer else {
                continue;
            };
            bytes.truncate(tools.link.faults.truncate.unwrap_or(usize::MAX));
            tools.link.spoil(&mut bytes);
            let due_ns = tools.link.due_ns(tools.now_ns, bytes.len());
            if due_ns > tools.now_ns {
                Counters::add(&tools.counters.delayed, 1);
            }
            tools.link.hold(bytes.len());
            tools.timers.add(due_ns, (Action::Datagram(to), bytes));
        }
    }

    pub fn due(&mut self, to: SocketAddr, bytes: Vec<u8>, tools: &mut Tools<'_>) {
        if tools.link.reorder.draw() {
            Counters::add(&tools.counters.reordered, 1);
            self.held_ids += 1;
            let id = self.held_ids;
            tools.link.hold(bytes.len());
            self.held.push_back(Held {
                id,
                left: HELD_FOR,
                to,
                bytes,
            });
            let release = (Action::Release(id), Vec::new());
            tools.timers.add(tools.now_ns + HELD_NS, release);
            return;
        }
        self.send(to, &bytes, tools.counters);
        if tools.link.duplicate.draw() {
            Counters::add(&tools.counters.duplicated, 1);
            self.transmit(to, &bytes, tools.counters);
        }
        for held in &mut self.held {
            held.left -= 1;
        }
        while self.held.front().is_some_and(|held| held.left == 0)
            && let Some(held) = self.held.pop_front()
        {
            tools.link.let_go(held.bytes.len());
            self.send(held.to, &held.bytes, tools.counters);
        }
    }

    /// Sends a held answer that has waited long enough, unless it was sent before.
    pub fn release(&mut self, id: u64, tools: &mut Tools<'_>) {
        if let Some(at) = self.held.iter().position(|held| held.id == id)
            && let Some(held) = self.held.remove(at)
        {
            tools.link.let_go(held.bytes.len());
            self.send(held.to, &held.bytes, tools.counters);
        }
    }

    fn send(&self, to: SocketAddr, bytes: &[u8], counters: &Counters) {
        if self.transmit(to, bytes, counters) {
            let counts = counters.of(tag_of(bytes));
            Counters::add(&counts.datagrams_sent, 1);
            Counters::add(&counts.bytes_sent, bytes.len());
        }
    }

    /// Sends one answer, and returns whether it was sent. The counts of probes exclude it.
    fn transmit(&self, to: SocketAddr, bytes: &[u8], counters: &Counters) -> bool {
        Counters::add(&counters.udp_sent, 1);
        let sent = self.socket.send_to(bytes, to).is_ok();
        if !sent {
            counters.not_sent(1);
        }
        sent
    }
}

fn address(from: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(from) = from.as_sockaddr_in() {
        return Some(SocketAddr::V4((*from).into()));
    }
    from.as_sockaddr_in6()
        .map(|from| SocketAddr::V6((*from).into()))
}
