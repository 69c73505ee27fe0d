//! Request and response over one connection: a thread, blocking sockets, two system calls and two
//! clock reads per round trip.

use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Outcome, Stopped};
use super::plan::Plan;
use super::socks5::client::{self, Deadline};
use super::tally::{FAILURES_IN_A_ROW, LATENESS, ROUND_TRIP, Tally};
use super::wire::{Broken, Wire};
use crate::net::clock::now_ns;
use crate::net::pace::wait_until;
use crate::net::payload::Pattern;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let spec = &plan.spec;
    let mut probe = Probe {
        plan,
        context,
        wire: Some(open(plan, context)?),
        opened_ns: 0,
        pattern: plan.pattern(),
        sequence: 0,
        request: vec![0; spec.payload_bytes as usize],
        tally: Tally::of_round_trips(plan, spec.count),
    };
    probe.warm_up()?;
    context.measured_begins();
    probe.round(spec.count, true);
    context.measured_ended();
    probe.let_go();
    Ok(probe.tally.outcome(plan, context, 1))
}

struct Probe<'a> {
    plan: &'a Plan,
    context: &'a Context,
    /// Absent after a failure: the next operation opens a new tunnel.
    wire: Option<Wire>,
    /// When the last tunnel was reopened.
    opened_ns: u64,
    pattern: Pattern,
    sequence: u32,
    request: Vec<u8>,
    tally: Tally,
}

fn open(plan: &Plan, context: &Context) -> Result<Wire, ProbeError> {
    let deadline = Deadline::of_handshake(plan, context);
    let (stream, _) = client::open(plan, &deadline)?;
    Wire::new(stream, plan)
}

impl Probe<'_> {
    /// Failures of the warm-up count only towards the number of failures in a row.
    fn warm_up(&mut self) -> Result<(), ProbeError> {
        let ignored = Tally::of_round_trips(self.plan, 0);
        let measured = std::mem::replace(&mut self.tally, ignored);
        let last = self.round(self.plan.spec.warmup, false);
        let ended = std::mem::replace(&mut self.tally, measured);
        match (ended.stopped, last) {
            (Some(Stopped::Failures), Some(kind)) => {
                let what = format!("warm-up: {FAILURES_IN_A_ROW} round trips in a row failed");
                Err(ProbeError::new(kind, what))
            }
            _ => Ok(()),
        }
    }

    /// Returns the kind of the last failure.
    fn round(&mut self, count: u64, measured: bool) -> Option<ErrorKind> {
        let mut last = None;
        let start = self.tally.begin();
        let timetable = self.plan.timetable(start);
        let mut now = start;
        for index in 0..count {
            self.tally.stopped = self.context.must_stop(now);
            if self.tally.stopped.is_some() {
                break;
            }
            let intended = timetable.map(|timetable| timetable.intended_ns(index));
            match self.operation(intended) {
                Ok((sent, ended)) => {
                    let free = std::mem::replace(&mut now, ended);
                    self.tally.end_ns = ended;
                    self.tally.series[ROUND_TRIP].record(ended, ended - intended.unwrap_or(sent));
                    if let Some(intended) = intended {
                        self.tally.series[LATENESS]
                            .record(ended, sent - intended.max(free).max(self.opened_ns));
                    }
                    self.tally.success(self.request.len() as u64);
                }
                Err(Broken::Stopped) => break,
                Err(Broken::Failed(kind)) => {
                    last = Some(kind);
                    now = now_ns();
                    self.tally.end_ns = now;
                    if self.tally.failure(kind) {
                        break;
                    }
                }
            }
            if measured {
                self.context.set_done(index + 1);
            }
        }
        self.tally.end();
        let complete = self.tally.attempted() == count;
        if self.tally.stopped.is_none() && !complete {
            self.tally.stopped = self.context.must_stop(now_ns());
        }
        last
    }

    fn wait(&self, moment_ns: u64) -> Option<u64> {
        wait_until(moment_ns, self.plan.spec.wait, |now| {
            self.context.must_stop(now).is_some()
        })
    }

    /// The moments at which a round trip began and ended.
    #[inline]
    fn operation(&mut self, intended_ns: Option<u64>) -> Result<(u64, u64), Broken> {
        self.prepare()?;
        let sent = match intended_ns {
            None => now_ns(),
            Some(moment) => self.wait(moment).ok_or(Broken::Stopped)?,
        };
        Ok((sent, self.round_trip(sent)?))
    }

    /// Opens a tunnel if the previous one broke, and makes the request.
    #[inline]
    fn prepare(&mut self) -> Result<(), Broken> {
        if self.wire.is_none() {
            let wire = open(self.plan, self.context).map_err(|error| {
                if self.context.cancelled() {
                    Broken::Stopped
                } else {
                    Broken::Failed(error.kind)
                }
            })?;
            self.wire = Some(wire);
            self.opened_ns = now_ns();
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.pattern.fill(self.sequence, &mut self.request);
        Ok(())
    }

    /// Ends the tunnel, and adds its bytes to the probe's counts.
    fn let_go(&mut self) {
        if let Some(wire) = self.wire.take() {
            self.context.carry(wire.carried());
        }
    }

    /// Returns the moment at which the last byte had come. A broken tunnel is gone afterwards.
    #[inline]
    fn round_trip(&mut self, sent_ns: u64) -> Result<u64, Broken> {
        let Some(wire) = &mut self.wire else {
            return Err(Broken::Failed(ErrorKind::Closed));
        };
        let deadline_ns = sent_ns + self.plan.timeout.as_nanos() as u64;
        let over = |now: u64| {
            if self.context.cancelled() {
                Some(Broken::Stopped)
            } else if now >= deadline_ns {
                Some(Broken::Failed(ErrorKind::Timeout))
            } else {
                None
            }
        };
        let result = wire.exchange(&self.request, over).and_then(|answer| {
            let ended = now_ns();
            if ended >= deadline_ns {
                Err(Broken::Failed(ErrorKind::Timeout))
            } else if self.pattern.matches(self.sequence, answer) {
                Ok(ended)
            } else {
                Err(Broken::Failed(ErrorKind::Corrupted))
            }
        });
        if result.is_err() {
            self.let_go();
        }
        result
    }
}
