//! The UDP side of the blocking engine: one thread, which handles many datagrams per system call.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::errno::Errno;

use super::counters::Counters;
use super::shared::Shared;
use crate::net::batch::Batch;
use crate::net::wait::pause;

/// The most datagrams that one system call receives.
pub const BATCH: usize = 64;

pub fn echo(socket: &UdpSocket, shared: &Shared) {
    let mut batch = Batch::new(BATCH);
    let socket = socket.as_raw_fd();
    while !shared.ending() {
        let count = match batch.receive(socket) {
            Ok(count) => count,
            // Either the call must be tried again, or an earlier answer reached nobody (ICMP).
            Err(Errno::EAGAIN) => {
                pause(shared.wait);
                continue;
            }
            Err(_) => continue,
        };
        if shared.ending() {
            return;
        }
        answer(&mut batch, socket, count, shared);
    }
}

/// Sends a whole batch back. The datagrams are counted before they are sent: a client that has an answer finds it counted.
pub fn answer(batch: &mut Batch, socket: i32, count: usize, shared: &Shared) {
    let counters = &shared.counters;
    Counters::add(&counters.udp_received, count);
    Counters::add(&counters.udp_sent, count);
    each(batch, count, |tag, datagrams, bytes| {
        Counters::add(&counters.of(tag).datagrams_received, datagrams);
        Counters::add(&counters.of(tag).bytes_received, bytes);
    });
    let sent = batch.send_back(socket).unwrap_or(0);
    counters.not_sent(count - sent);
    each(batch, sent, |tag, datagrams, bytes| {
        Counters::add(&counters.of(tag).datagrams_sent, datagrams);
        Counters::add(&counters.of(tag).bytes_sent, bytes);
    });
}

/// Calls `tell` with the tag, the number and the bytes of the first `count` datagrams of a batch. Neighbours with the same tag share one
/// call.
fn each(batch: &Batch, count: usize, mut tell: impl FnMut(u8, usize, usize)) {
    let mut run = (0, 0, 0);
    for index in 0..count {
        let (bytes, _) = batch.datagram(index);
        let tag = tag_of(bytes);
        if tag != run.0 && run.1 > 0 {
            tell(run.0, run.1, run.2);
            run = (tag, 0, 0);
        }
        run = (tag, run.1 + 1, run.2 + bytes.len());
    }
    if run.1 > 0 {
        tell(run.0, run.1, run.2);
    }
}

/// The tag of the probe that sent a datagram.
pub fn tag_of(datagram: &[u8]) -> u8 {
    datagram.first().copied().unwrap_or_default()
}
