//! One part of a UDP probe, the warm-up or the measured part: send, receive and give up, until each
//! datagram has ended.

use std::io;

use super::content::Content;
use super::control::Control;
use super::ledger::Ledger;
use super::transport::Transport;
use crate::net::clock::now_ns;
use crate::net::pace::{SLICE_NS, Timetable};
use crate::net::wait::is_early;
use crate::probe::context::Context;
use crate::probe::far_end::{Bounds, Carried};
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::Stopped;
use crate::probe::plan::Plan;
use crate::probe::tally::{FAILURES_IN_A_ROW, Tally};

/// The first window of the closed loop, which then grows. The open loop needs none, because its
/// timetable spaces datagrams.
const FIRST_WINDOW: u64 = 8;
/// If a wait lasts longer than its bound by this time, the probe was not running.
const PAUSE_NS: u64 = 20_000_000;

pub struct Part<'a, C> {
    pub plan: &'a Plan,
    pub context: &'a Context,
    pub transport: Transport,
    pub control: Option<Control>,
    pub content: C,
    pub ledger: Ledger,
    pub tally: Tally,
    /// Refusals, and other errors of the socket, in a row.
    pub refused: u32,
    /// The last of them.
    pub fault: ErrorKind,
    pub measured: bool,
    /// Datagrams that have an answer, each once, and the bytes of the answers.
    pub answered: u64,
    pub answered_bytes: u64,
}

/// The progress of a part.
#[derive(Default)]
pub struct Progress {
    pub first: usize,
    pub end: usize,
    pub timetable: Option<Timetable>,
    pub window: u64,
    /// Since when the window has room, if it has.
    pub room_since_ns: u64,
    /// Since when answers are awaited without any answer.
    pub silent_since_ns: Option<u64>,
    pub stall_ns: u64,
    pub timeout_ns: u64,
}

impl Progress {
    pub fn intended_ns(&self, sequence: usize) -> Option<u64> {
        let index = (sequence - self.first) as u64;
        Some(self.timetable?.intended_ns(index))
    }
}

impl<C: Content> Part<'_, C> {
    /// Sends `count` datagrams and waits until each is answered or given up.
    pub fn run(&mut self, count: u64) {
        self.ledger.begin_part();
        self.refused = 0;
        let start = self.tally.begin();
        let first = self.ledger.next();
        let rate = self.plan.rate_per_s();
        // A slow pace alone is no stall.
        let pauses_ns = rate.map_or(0, |rate| (2e9 / rate) as u64);
        let mut progress = Progress {
            first,
            end: first + count as usize,
            timetable: self.plan.timetable(start),
            window: match rate {
                Some(_) => self.plan.spec.window,
                None => self.plan.spec.window.min(FIRST_WINDOW),
            },
            room_since_ns: start,
            silent_since_ns: None,
            stall_ns: (self.plan.stall.as_nanos() as u64).max(pauses_ns),
            timeout_ns: self.plan.timeout.as_nanos() as u64,
        };
        let mut now = start;
        while self.ledger.next() < progress.end || self.ledger.in_flight > 0 {
            match self.ends(&progress, now) {
                None => {}
                // The probe waits for the datagrams on their way, and sends no others.
                Some(Stopped::Limit) if self.ledger.next() == progress.end => {}
                Some(Stopped::Limit) => {
                    progress.end = self.ledger.next();
                    self.tally.stopped = Some(Stopped::Limit);
                }
                stopped => {
                    self.tally.stopped = stopped;
                    break;
                }
            }
            let looked = now;
            while self.send_due(&mut progress, &mut now) {}
            let full = self.ledger.in_flight >= progress.window;
            let received = self.receive(&progress, &mut now);
            if now.saturating_sub(looked)
                > self.transport.longest_wait_ns().max(SLICE_NS) + PAUSE_NS
            {
                self.catch_up(&mut progress, received, &mut now);
                continue;
            }
            // Runs first, so that a late answer is no success.
            let lost = self.ledger.expire(now.saturating_sub(progress.timeout_ns));
            if lost > 0 {
                self.tally.errors.add(ErrorKind::Lost, lost);
                self.tally.end_ns = now;
                self.take_strays();
            }
            if received > 0 {
                self.refused = 0;
                for index in 0..received {
                    self.take(index, &mut progress, now);
                }
                progress.silent_since_ns = (self.ledger.in_flight > 0).then_some(now);
            }
            if full && self.ledger.in_flight < progress.window {
                progress.room_since_ns = now;
            }
            if self.measured {
                let done = (self.ledger.next() - first) as u64 - self.ledger.in_flight;
                self.context.set_done(done);
            }
        }
        self.tally.end();
        self.take_strays();
        let left = std::mem::take(&mut self.ledger.in_flight);
        match self.tally.stopped {
            Some(Stopped::Stalled) => self.tally.errors.add(ErrorKind::Stalled, left),
            Some(Stopped::ControlClosed) => self.tally.errors.add(ErrorKind::ControlClosed, left),
            Some(Stopped::Failures) => self.tally.errors.add(self.fault, left),
            // Datagrams on their way at a cancel count as not attempted.
            _ => {}
        }
    }

    /// The traffic of all parts so far.
    pub fn carried(&self) -> Carried {
        let sent = self.ledger.next() as u64;
        let datagrams = Bounds::new(self.answered, sent);
        let bytes = Bounds::new(self.answered_bytes, sent * self.content.size() as u64);
        Carried::both_ways(datagrams, bytes)
    }

    /// Counts datagrams from other senders than the peer.
    #[cold]
    pub(super) fn take_strays(&mut self) {
        let (count, from) = self.transport.strays();
        self.tally.anomalies.other_source += count;
        self.tally.other_source = from.or(self.tally.other_source);
    }

    /// After a pause of the probe, arrived datagrams are taken before any datagram is given up.
    #[cold]
    fn catch_up(&mut self, progress: &mut Progress, mut received: usize, now: &mut u64) {
        loop {
            for index in 0..received {
                self.take(index, progress, *now);
            }
            match self.transport.receive(true) {
                Ok(count) if count > 0 => received = count,
                _ => break,
            }
        }
        *now = now_ns();
        progress.silent_since_ns = (self.ledger.in_flight > 0).then_some(*now);
        progress.room_since_ns = *now;
    }

    fn ends(&mut self, progress: &Progress, now: u64) -> Option<Stopped> {
        if self.refused >= FAILURES_IN_A_ROW {
            return Some(Stopped::Failures);
        }
        let silent = progress.silent_since_ns;
        if silent.is_some_and(|since| now.saturating_sub(since) >= progress.stall_ns) {
            return Some(Stopped::Stalled);
        }
        if self
            .control
            .as_mut()
            .is_some_and(|control| control.closed(now))
        {
            return Some(Stopped::ControlClosed);
        }
        self.context.must_stop(self.plan, now)
    }

    /// A refusal is an ICMP answer to an earlier datagram. Three errors in a row end the probe.
    #[cold]
    pub(super) fn broken(&mut self, error: &io::Error) {
        if !is_early(error) {
            self.refused += 1;
            self.fault = ErrorKind::of_io(error);
        }
    }
}
