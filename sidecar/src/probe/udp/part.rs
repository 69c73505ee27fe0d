//! One part of a UDP probe, the warm-up or the measured part: send, receive and give up, until each
//! datagram has ended.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::content::Content;
use super::control::Control;
use super::ledger::{Answer, Ledger};
use super::transport::Transport;
use crate::net::clock::now_ns;
use crate::net::pace::{SLICE_NS, Timetable, wait_until};
use crate::net::wait::{Wait, is_early, pause};
use crate::probe::context::Context;
use crate::probe::far_end::{Bounds, Carried};
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::Stopped;
use crate::probe::plan::Plan;
use crate::probe::tally::{FAILURES_IN_A_ROW, LATENESS, ROUND_TRIP, Tally};

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

    #[cold]
    fn take_strays(&mut self) {
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
        self.context.must_stop(now)
    }

    /// A refusal is an ICMP answer to an earlier datagram. Three errors in a row end the probe.
    #[cold]
    fn broken(&mut self, error: &io::Error) {
        if !is_early(error) {
            self.refused += 1;
            self.fault = ErrorKind::of_io(error);
        }
    }
}

/// How many times busy polling asks the kernel between two looks at the clock.
const ASKS_PER_LOOK: u32 = 64;
/// Longest wait for duplicates after the end: since the last one, and in all.
const QUIET_NS: u64 = 60_000_000;
const DRAIN_NS: u64 = 300_000_000;

/// The inner loop: send the datagrams that are due, wait, and take the answers.
impl<C: Content> Part<'_, C> {
    /// Sends one batch at most: the window bounds it and, in the open loop, the timetable too. Returns
    /// true if more datagrams may follow.
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
            self.content.fill((next + index) as u32, payload);
        }
        *now = now_ns();
        match self.transport.send(count) {
            Ok(sent) => {
                self.ledger.sent(sent, *now);
                progress.silent_since_ns.get_or_insert(*now);
                if progress.timetable.is_some() {
                    for sequence in next..next + sent {
                        let intended = progress.intended_ns(sequence).unwrap_or(*now);
                        let due = intended.max(progress.room_since_ns);
                        self.tally.series[LATENESS].record(*now, now.saturating_sub(due));
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

    /// Waits for answers, no longer than until the next datagram is due. Returns how many of one batch
    /// came.
    #[inline]
    fn receive(&mut self, progress: &Progress, now: &mut u64) -> usize {
        let next = self.ledger.next();
        let can_send = next < progress.end && self.ledger.in_flight < progress.window;
        let due = if can_send {
            progress.intended_ns(next)
        } else {
            None
        };
        // The open loop already waits for an answer or for its next moment.
        let at_once = due.is_some() || self.plan.spec.wait != Wait::Block;
        if let Some(moment) = due.filter(|_| self.plan.spec.wait == Wait::Block) {
            if self.ledger.in_flight == 0 {
                wait_until(moment, Wait::Block, |now| {
                    self.context.must_stop(now).is_some()
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
            let wait = self.plan.spec.wait;
            pause(wait);
            if wait == Wait::Block || asked == ASKS_PER_LOOK || due.is_some() {
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

    #[inline]
    fn take(&mut self, index: usize, progress: &mut Progress, now: u64) {
        let Some(payload) = self.transport.received(index) else {
            self.tally.anomalies.unexpected += 1;
            return;
        };
        let Some(number) = self.content.sequence(payload, self.ledger.next()) else {
            self.tally.anomalies.unexpected += 1;
            return;
        };
        let answer = self.ledger.answered(number);
        if matches!(answer, Answer::InTime { .. } | Answer::Late) {
            self.answered += 1;
            self.answered_bytes += payload.len() as u64;
        }
        match answer {
            Answer::Duplicate => self.tally.anomalies.duplicated += 1,
            // An answer to a datagram of the warm-up does not count.
            Answer::Unknown if (number as usize) < progress.first => {}
            Answer::Late => self.tally.anomalies.late += 1,
            Answer::Unknown => self.tally.anomalies.unexpected += 1,
            // Happens only after a pause: otherwise the datagram is given up before.
            Answer::InTime { sent_ns, .. }
                if now.saturating_sub(sent_ns) >= progress.timeout_ns =>
            {
                self.tally.replaced += 1;
                self.ledger.add();
                progress.end += 1;
            }
            Answer::InTime {
                sent_ns,
                out_of_order,
            } => {
                self.tally.end_ns = now;
                self.tally.anomalies.out_of_order += u64::from(out_of_order && C::ORDERED);
                progress.window = (progress.window + 1).min(self.plan.spec.window);
                match self.content.check(number, payload) {
                    Ok(()) => {
                        let from = progress.intended_ns(number as usize).unwrap_or(sent_ns);
                        self.tally.series[ROUND_TRIP].record(now, now - from);
                        self.tally.success(payload.len() as u64);
                    }
                    Err(kind) => self.tally.errors.add(kind, 1),
                }
            }
        }
    }

    /// After the end, counts duplicates and late answers that are still on their way.
    pub fn drain(&mut self) {
        let mut progress = Progress {
            first: self.ledger.first(),
            ..Progress::default()
        };
        let began = now_ns();
        let mut last = began;
        let mut now = began;
        let goes_on = |now: u64| now - began < DRAIN_NS && !self.context.cancelled();
        while now - last < QUIET_NS && goes_on(now) {
            self.sleep(now + QUIET_NS, &mut now);
            // A peer that floods this socket must not delay the end.
            while goes_on(last)
                && let Ok(count) = self.transport.receive(true)
            {
                last = now_ns();
                for index in 0..count {
                    self.take(index, &mut progress, last);
                }
            }
            now = now_ns();
        }
        self.take_strays();
    }
}
