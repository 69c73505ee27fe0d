//! One part of a UDP probe, the warm-up or what is measured: send, receive, give up, until all is told.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::control::Control;
use super::ledger::{Answer, Ledger};
use super::transport::Transport;
use crate::probe::clock::now_ns;
use crate::probe::context::Context;
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::Stopped;
use crate::probe::pace::{Timetable, wait_until};
use crate::probe::payload::{Pattern, sequence};
use crate::probe::plan::Plan;
use crate::probe::spec::Wait;
use crate::probe::tally::{FAILURES_IN_A_ROW, Tally};

/// The window's first size; it opens from there.
const FIRST_WINDOW: u64 = 8;
/// How long an open loop waits in the kernel at most, so that a cancel is seen.
const SLICE_NS: u64 = 50_000_000;
/// How many times busy polling asks the kernel between two looks at the clock.
const ASKS_PER_LOOK: u32 = 64;
/// After the end: how long duplicates may still come, and how long in all.
const QUIET_NS: u64 = 60_000_000;
const DRAIN_NS: u64 = 300_000_000;

pub struct Part<'a> {
    pub plan: &'a Plan,
    pub context: &'a Context,
    pub transport: Transport,
    pub control: Option<Control>,
    pub pattern: Pattern,
    pub ledger: Ledger,
    pub tally: Tally,
    /// Refusals, and other errors of the socket, in a row.
    pub refused: u32,
    /// The last of them.
    pub fault: ErrorKind,
    pub measured: bool,
}

/// Where a part is.
struct Progress {
    first: usize,
    end: usize,
    timetable: Option<Timetable>,
    window: u64,
    /// Since when answers are awaited and none has come.
    silent_since_ns: Option<u64>,
    stall_ns: u64,
    timeout_ns: u64,
}

impl Progress {
    fn intended_ns(&self, sequence: usize) -> Option<u64> {
        let index = (sequence - self.first) as u64;
        Some(self.timetable?.intended_ns(index))
    }
}

impl Part<'_> {
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
            timetable: rate.map(|rate| Timetable::new(start, rate)),
            window: self.plan.spec.window.min(FIRST_WINDOW),
            silent_since_ns: None,
            stall_ns: (self.plan.stall.as_nanos() as u64).max(pauses_ns),
            timeout_ns: self.plan.timeout.as_nanos() as u64,
        };
        let mut now = start;
        while self.ledger.next() < progress.end || self.ledger.in_flight > 0 {
            self.tally.stopped = self.ends(&progress, now);
            if self.tally.stopped.is_some() {
                break;
            }
            while self.send_due(&mut progress, &mut now) {}
            let received = self.receive(&progress, &mut now);
            // First, so that what came too late is no success.
            let lost = self.ledger.expire(now.saturating_sub(progress.timeout_ns));
            if lost > 0 {
                self.tally.errors.add(ErrorKind::Lost, lost);
                self.tally.end_ns = now;
            }
            if received > 0 {
                self.refused = 0;
                for index in 0..received {
                    self.take(index, &mut progress, now);
                }
                progress.silent_since_ns = (self.ledger.in_flight > 0).then_some(now);
            }
            if self.measured {
                let done = (self.ledger.next() - first) as u64 - self.ledger.in_flight;
                self.context.set_done(done);
            }
        }
        self.tally.end();
        let left = std::mem::take(&mut self.ledger.in_flight);
        match self.tally.stopped {
            Some(Stopped::Stalled) => self.tally.errors.add(ErrorKind::Stalled, left),
            Some(Stopped::ControlClosed) => self.tally.errors.add(ErrorKind::ControlClosed, left),
            Some(Stopped::Failures) => self.tally.errors.add(self.fault, left),
            // What was cut off in the middle was not attempted.
            _ => {}
        }
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

    /// Sends one batch at most: what the window has room for and, in the open loop, what is due.
    /// True where there may be more.
    #[inline]
    fn send_due(&mut self, progress: &mut Progress, now: &mut u64) -> bool {
        let next = self.ledger.next();
        let room = progress.window.saturating_sub(self.ledger.in_flight) as usize;
        let mut count = room.min(self.transport.batch()).min(progress.end - next);
        if progress.timetable.is_some() {
            *now = now_ns();
            let due = |index: &usize| {
                progress
                    .intended_ns(next + index)
                    .is_some_and(|intended| intended <= *now)
            };
            count = (0..count).take_while(due).count();
        }
        if count == 0 {
            return false;
        }
        for index in 0..count {
            let payload = self.transport.payload(index);
            self.pattern.fill((next + index) as u32, payload);
        }
        *now = now_ns();
        match self.transport.send(count) {
            Ok(sent) => {
                self.ledger.sent(sent, *now);
                progress.silent_since_ns.get_or_insert(*now);
                if progress.timetable.is_some() {
                    for sequence in next..next + sent {
                        let intended = progress.intended_ns(sequence).unwrap_or(*now);
                        self.tally.series[1].record(*now - intended);
                    }
                }
                sent > 0 && self.ledger.in_flight < progress.window
            }
            Err(error) => {
                self.broken(&error);
                false
            }
        }
    }

    /// Waits for answers, no longer than until the next datagram is due; returns how many of one
    /// batch came.
    #[inline]
    fn receive(&mut self, progress: &Progress, now: &mut u64) -> usize {
        let next = self.ledger.next();
        let can_send = next < progress.end && self.ledger.in_flight < progress.window;
        let due = if can_send {
            progress.intended_ns(next)
        } else {
            None
        };
        // The open loop waits by itself: for an answer or for its next moment.
        let at_once = due.is_some() || self.plan.spec.wait != Wait::Block;
        if let Some(moment) = due.filter(|_| self.plan.spec.wait == Wait::Block) {
            if self.ledger.in_flight == 0 {
                wait_until(moment, Wait::Block, |now| {
                    self.context.must_stop(self.plan, now).is_some()
                });
                *now = now_ns();
                return 0;
            }
            self.sleep(moment, now);
        }
        let mut asked = 0_u32;
        loop {
            match self.transport.receive(at_once) {
                Ok(count) => {
                    *now = now_ns();
                    return count;
                }
                Err(error) => self.broken(&error),
            }
            asked += 1;
            match self.plan.spec.wait {
                Wait::Block => {
                    *now = now_ns();
                    return 0;
                }
                Wait::Spin => std::hint::spin_loop(),
                Wait::Yield => std::thread::yield_now(),
            }
            if asked == ASKS_PER_LOOK || due.is_some() {
                *now = now_ns();
                return 0;
            }
        }
    }

    fn sleep(&self, moment_ns: u64, now: &mut u64) {
        *now = now_ns();
        let left = moment_ns.saturating_sub(*now).min(SLICE_NS);
        if left > 0 {
            let mut socket = [PollFd::new(
                self.transport.socket().as_fd(),
                PollFlags::POLLIN,
            )];
            let timeout = TimeSpec::from(Duration::from_nanos(left));
            let _ = ppoll(&mut socket, Some(timeout), None);
        }
    }

    /// What one received datagram means.
    #[inline]
    fn take(&mut self, index: usize, progress: &mut Progress, now: u64) {
        let Some(payload) = self.transport.received(index) else {
            self.tally.anomalies.unexpected += 1;
            return;
        };
        let Some(number) = sequence(payload) else {
            self.tally.anomalies.unexpected += 1;
            return;
        };
        match self.ledger.answered(number) {
            Answer::Duplicate => self.tally.anomalies.duplicated += 1,
            // One of the warm-up is no news.
            Answer::Unknown if (number as usize) < progress.first => {}
            Answer::Late | Answer::Unknown => self.tally.anomalies.unexpected += 1,
            Answer::InTime {
                sent_ns,
                out_of_order,
            } => {
                self.tally.end_ns = now;
                self.tally.anomalies.out_of_order += u64::from(out_of_order);
                progress.window = (progress.window + 1).min(self.plan.spec.window);
                if self.pattern.matches(number, payload) {
                    let from = progress.intended_ns(number as usize).unwrap_or(sent_ns);
                    self.tally.series[0].record(now - from);
                    self.tally.success(payload.len() as u64);
                } else if payload.len() < self.pattern.size() {
                    self.tally.errors.add(ErrorKind::Truncated, 1);
                } else {
                    self.tally.errors.add(ErrorKind::Corrupted, 1);
                }
            }
        }
    }

    /// A refusal is an ICMP answer to an earlier datagram. Three errors in a row end the probe.
    #[cold]
    fn broken(&mut self, error: &io::Error) {
        if !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        ) {
            self.refused += 1;
            self.fault = ErrorKind::of_io(error);
        }
    }

    /// After the end: counts the duplicates and late ones that are still on their way.
    pub fn drain(&mut self) {
        let mut progress = Progress {
            first: self.ledger.first(),
            end: 0,
            timetable: None,
            window: 0,
            silent_since_ns: None,
            stall_ns: 0,
            timeout_ns: 0,
        };
        let began = now_ns();
        let mut last = began;
        let mut now = began;
        while now - last < QUIET_NS && now - began < DRAIN_NS && !self.context.cancelled() {
            self.sleep(now + QUIET_NS, &mut now);
            while let Ok(count) = self.transport.receive(true) {
                last = now_ns();
                for index in 0..count {
                    self.take(index, &mut progress, last);
                }
            }
            now = now_ns();
        }
    }
}
