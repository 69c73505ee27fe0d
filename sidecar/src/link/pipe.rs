//! One direction of a link: a queue, a line that takes time for each packet, and the way to the other end. This module uses neither devices
//! nor a clock: each call passes the time, ns.

use std::collections::VecDeque;

use super::counts::Counts;
use super::fate::{Fate, Fates};
use super::settings::Side;
use crate::net::timers::Timers;

/// The most bytes in flight. Packets above the limit count as the link's own loss.
const MOST_IN_FLIGHT: u64 = 256 * 1024 * 1024;

struct Waiting {
    bytes: Vec<u8>,
    arrived_ns: u64,
    fate: Fate,
}

pub struct Pipe {
    side: Side,
    room_bytes: u64,
    room_packets: u64,
    fates: Fates,
    queue: VecDeque<Waiting>,
    /// When the line is done with the packet before, and the rest of that time below a nanosecond, in 1/rate ns.
    free_ns: u64,
    left_over: u64,
    flight: Timers<Vec<u8>>,
    flight_bytes: u64,
    /// Packets that are not reordered arrive no earlier than this.
    last_due_ns: u64,
    pub counts: Counts,
    /// The most bytes that waited since the last call of [`Self::take_recent_most`].
    recent_most: u64,
}

impl Pipe {
    pub fn new(side: Side, rtt_ns: u64, fates: Fates) -> Self {
        let (room_bytes, room_packets) = side.room(rtt_ns);
        Self {
            side,
            room_bytes,
            room_packets,
            fates,
            queue: VecDeque::new(),
            free_ns: 0,
            left_over: 0,
            flight: Timers::new(),
            flight_bytes: 0,
            last_due_ns: 0,
            counts: Counts::default(),
            recent_most: 0,
        }
    }

    /// The most bytes that waited at once since the last call.
    pub fn take_recent_most(&mut self) -> u64 {
        std::mem::replace(&mut self.recent_most, self.counts.queued_bytes)
    }

    /// Changes the settings from now on. Waiting packets use the new rate; packets in flight arrive as planned.
    pub fn change(&mut self, now_ns: u64, side: Side, rtt_ns: u64) {
        self.advance(now_ns);
        (self.room_bytes, self.room_packets) = side.room(rtt_ns);
        self.side = side;
        self.left_over = 0;
    }

    /// Resets the draws and the counts. Packets on their way stay.
    pub fn restart(&mut self, fates: Fates) {
        self.fates = fates;
        self.counts = Counts {
            queued_packets: self.counts.queued_packets,
            queued_bytes: self.counts.queued_bytes,
            in_flight: self.counts.in_flight,
            ..Counts::default()
        };
    }

    /// Accepts, drops or loses a packet that enters.
    pub fn offer(&mut self, now_ns: u64, bytes: &[u8]) {
        self.advance(now_ns);
        let length = bytes.len() as u64;
        self.counts.sent += 1;
        self.counts.sent_bytes += length;
        let fate = self.fates.next(&self.side);
        if self.side.dead {
            self.counts.dead += 1;
            return;
        }
        let waiting = Waiting {
            bytes: bytes.to_vec(),
            arrived_ns: now_ns,
            fate,
        };
        if self.side.rate_bit_s.is_none() && self.queue.is_empty() {
            self.launch(waiting, now_ns);
            return;
        }
        let counts = &mut self.counts;
        let full = counts.queued_bytes + length > self.room_bytes
            || counts.queued_packets + 1 > self.room_packets;
        // A packet larger than the queue passes if the queue is empty.
        if full && counts.queued_packets > 0 {
            counts.queue_dropped += 1;
            return;
        }
        counts.queued_packets += 1;
        counts.queued_bytes += length;
        counts.queued_bytes_most = counts.queued_bytes_most.max(counts.queued_bytes);
        self.recent_most = self.recent_most.max(counts.queued_bytes);
        self.queue.push_back(waiting);
    }

    /// The time of the next event.
    pub fn next_ns(&self) -> Option<u64> {
        let earliest = self.side.delay_ns - self.side.jitter_ns;
        let leaves = self.head().map(|(ns, _)| ns + earliest);
        self.flight.next_ns().into_iter().chain(leaves).min()
    }

    /// The next packet that has arrived, with its due time.
    pub fn due(&mut self, now_ns: u64) -> Option<(u64, Vec<u8>)> {
        self.advance(now_ns);
        let (due_ns, bytes) = self.flight.due(now_ns)?;
        self.flight_bytes -= bytes.len() as u64;
        self.counts.in_flight -= 1;
        Some((due_ns, bytes))
    }

    /// When the line is done with the first waiting packet, and the rest of that time below a nanosecond.
    fn head(&self) -> Option<(u64, u64)> {
        let head = self.queue.front()?;
        let begins_ns = self.free_ns.max(head.arrived_ns);
        let Some(rate) = self.side.rate_bit_s else {
            return Some((begins_ns, 0));
        };
        // An idle line carries over no rest.
        let left_over = if begins_ns == self.free_ns {
            self.left_over
        } else {
            0
        };
        let work = head.bytes.len() as u64 * 8 * 1_000_000_000 + left_over;
        Some((begins_ns + work / rate, work % rate))
    }

    fn advance(&mut self, now_ns: u64) {
        while let Some((done_ns, left_over)) = self.head().filter(|(ns, _)| *ns <= now_ns) {
            let Some(waiting) = self.queue.pop_front() else {
                return;
            };
            self.counts.queued_packets -= 1;
            self.counts.queued_bytes -= waiting.bytes.len() as u64;
            (self.free_ns, self.left_over) = (done_ns, left_over);
            self.launch(waiting, done_ns);
        }
    }

    /// Takes a packet off the line: it is lost, or goes on its way.
    fn launch(
        &mut self,
        Waiting {
            mut bytes, fate, ..
        }: Waiting,
        left_ns: u64,
    ) {
        let length = bytes.len() as u64;
        if fate.lost {
            self.counts.lost += 1;
            self.counts.lost_bytes += length;
            return;
        }
        if self.flight_bytes + 2 * length > MOST_IN_FLIGHT {
            self.counts.own_overrun += 1;
            return;
        }
        let jitter = (self.side.jitter_ns as f64 * fate.jitter) as i64;
        let mut due_ns = left_ns + self.side.delay_ns.saturating_add_signed(jitter);
        if !self.side.jitter_reorders {
            due_ns = due_ns.max(self.last_due_ns);
            self.last_due_ns = due_ns;
        }
        if fate.reordered {
            self.counts.reordered += 1;
            due_ns += self.side.reorder_by_ns;
        }
        if let Some(place) = fate.corrupted {
            self.counts.corrupted += u64::from(corrupt(&mut bytes, place));
        }
        if fate.duplicated {
            self.counts.duplicated += 1;
            self.fly(due_ns, bytes.clone());
        }
        self.fly(due_ns, bytes);
    }

    fn fly(&mut self, due_ns: u64, bytes: Vec<u8>) {
        self.flight_bytes += bytes.len() as u64;
        self.counts.in_flight += 1;
        self.flight.add(due_ns, bytes);
    }
}

/// Flips one bit behind the IP header, so that a checksum of TCP or UDP detects it. Returns false if the packet has no such bit.
fn corrupt(bytes: &mut [u8], place: f64) -> bool {
    let header = match bytes.first().map(|first| first >> 4) {
        Some(4) => usize::from(bytes[0] & 15) * 4,
        _ => 40,
    };
    let bits = bytes.len().saturating_sub(header) * 8;
    if bits == 0 {
        return false;
    }
    let bit = ((bits as f64 * place) as usize).min(bits - 1);
    bytes[header + bit / 8] ^= 1 << (bit % 8);
    true
}

#[cfg(test)]
#[path = "pipe_tests.rs"]
mod tests;
