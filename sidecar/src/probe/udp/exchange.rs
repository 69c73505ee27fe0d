//! The inner loop of a UDP probe: send the datagrams that are due, wait, and take the answers.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::content::Content;
use super::ledger::Answer;
use super::part::{Part, Progress};
use crate::net::clock::now_ns;
use crate::net::pace::{SLICE_NS, wait_until};
use crate::net::wait::Wait;
use crate::probe::tally::{LATENESS, ROUND_TRIP};

/// How many times busy polling asks the kernel between two looks at the clock.
const ASKS_PER_LOOK: u32 = 64;
/// Longest wait for duplicates after the end: since the last one, and in all.
const QUIET_NS: u64 = 60_000_000;
const DRAIN_NS: u64 = 300_000_000;

impl<C: Content> Part<'_, C> {
    /// Sends one batch at most: the window bounds it and, in the open loop, the timetable too. Returns
    /// true if more datagrams may follow.
    #[inline]
    pub(super) fn send_due(&mut self, progress: &mut Progress, now: &mut u64) -> bool {
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
    pub(super) fn receive(&mut self, progress: &Progress, now: &mut u64) -> usize {
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

    /// Classifies one received datagram.
    #[inline]
    pub(super) fn take(&mut self, index: usize, progress: &mut Progress, now: u64) {
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
