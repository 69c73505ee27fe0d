//! The counts of one measuring thread, and the outcome that follows from them.

use std::net::SocketAddr;

use super::context::Context;
use super::kinds::ErrorKind;
use super::outcome::{Anomalies, Outcome, Stopped};
use super::plan::Plan;
use super::recorder::{Errors, Series};
use crate::net::clock::{now_ns, seconds, thread_cpu_ns};

/// This number of failures in a row, without a success, ends a probe.
pub const FAILURES_IN_A_ROW: u32 = 3;

/// Indices of the series of [`Tally::of_round_trips`].
pub const ROUND_TRIP: usize = 0;
pub const LATENESS: usize = 1;

#[derive(Default)]
pub struct Tally {
    /// Samples of operations that succeeded.
    pub series: Vec<Series>,
    pub errors: Errors,
    pub anomalies: Anomalies,
    /// The last sender of a datagram that was not the relay's.
    pub other_source: Option<SocketAddr>,
    pub succeeded: u64,
    pub bytes: u64,
    pub stopped: Option<Stopped>,
    /// Failed operations of the warm-up, if the kind of probe reports them.
    pub warmup_failed: Option<u64>,
    /// Answers that came while the probe was stopped. Their operations were repeated.
    pub replaced: u64,
    failures: u32,
    start_ns: u64,
    /// When the last operation ended; it may have failed.
    pub end_ns: u64,
    cpu_at_start_ns: u64,
    cpu_ns: u64,
}

impl Tally {
    pub fn new(series: Vec<Series>) -> Self {
        Self {
            series,
            ..Self::default()
        }
    }

    /// For `count` round trips, in the open loop with their lateness.
    pub fn of_round_trips(plan: &Plan, count: u64) -> Self {
        let lateness = plan.rate_per_s().map(|_| "lateness");
        let names = std::iter::once("round_trip").chain(lateness);
        let keep = plan.spec.keep;
        Self::new(names.map(|name| Series::new(name, count, keep)).collect())
    }

    /// The sum of the counts of several threads over the same time.
    pub fn merged(all: impl IntoIterator<Item = Self>, keep: u64) -> Self {
        let merged = all.into_iter().reduce(|mut merged, other| {
            merged.merge(other, keep);
            merged
        });
        merged.unwrap_or_default()
    }

    /// Called by the measuring thread, right before its first operation. The moment it returns is the start.
    pub fn begin(&mut self) -> u64 {
        self.cpu_at_start_ns = thread_cpu_ns();
        self.start_ns = now_ns();
        self.end_ns = self.start_ns;
        self.start_ns
    }

    /// The first operation was intended for this moment, which may be before [`Self::begin`].
    pub fn intended_start(&mut self, start_ns: u64) {
        self.start_ns = self.start_ns.min(start_ns);
    }

    /// Called by the same thread, right after its last operation.
    pub fn end(&mut self) {
        self.cpu_ns = thread_cpu_ns() - self.cpu_at_start_ns;
    }

    #[inline]
    pub fn success(&mut self, bytes: u64) {
        self.succeeded += 1;
        self.bytes += bytes;
        self.failures = 0;
    }

    /// Records a failed operation. Returns true if too many have failed in a row.
    pub fn failure(&mut self, kind: ErrorKind) -> bool {
        self.errors.add(kind, 1);
        self.failures += 1;
        if self.failures < FAILURES_IN_A_ROW {
            return false;
        }
        self.stopped = Some(Stopped::Failures);
        true
    }

    /// Operations that have ended.
    pub fn attempted(&self) -> u64 {
        self.succeeded + self.errors.total()
    }

    fn merge(&mut self, other: Self, keep: u64) {
        for (mine, other) in self.series.iter_mut().zip(other.series) {
            mine.merge(other, keep);
        }
        self.errors.merge(other.errors);
        self.succeeded += other.succeeded;
        self.bytes += other.bytes;
        self.stopped = self.stopped.or(other.stopped);
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.cpu_ns += other.cpu_ns;
    }

    /// Counts the operations as cut that were due by the timetable and had not ended when the probe reached its limit. Further calls are
    /// allowed.
    pub fn cut_overdue(&mut self, plan: &Plan, limit_ns: u64) {
        let Some(rate) = plan
            .rate_per_s()
            .filter(|_| self.stopped == Some(Stopped::Limit))
        else {
            return;
        };
        // The warm-up took all the time.
        if self.start_ns == 0 || self.start_ns >= limit_ns {
            return;
        }
        let due = (seconds(limit_ns - self.start_ns) * rate) as u64 + 1;
        let missing = due.min(plan.spec.count).saturating_sub(self.attempted());
        self.errors.add(ErrorKind::Cut, missing);
    }

    /// Length of the measured part for its rate, s.
    fn duration_s(&self, plan: &Plan) -> f64 {
        let took = seconds(self.end_ns - self.start_ns);
        match plan.rate_per_s() {
            Some(rate) if self.stopped != Some(Stopped::Cancelled) => {
                took.max(plan.spec.count as f64 / rate)
            }
            _ => took,
        }
    }

    pub fn outcome(mut self, plan: &Plan, context: &Context, threads: u64) -> Outcome {
        self.cut_overdue(plan, context.limit_ns());
        let attempted = self.attempted();
        context.set_done(attempted);
        Outcome {
            duration_s: self.duration_s(plan),
            attempted,
            succeeded: self.succeeded,
            errors: self.errors.into_map(),
            anomalies: self.anomalies,
            other_source: self.other_source,
            bytes: self.bytes,
            stopped: self.stopped,
            warmup_failed: self.warmup_failed,
            replaced: self.replaced,
            probe_cpu_s: seconds(self.cpu_ns),
            threads,
            cpus: plan.spec.cpus.clone(),
            series: self.series.into_iter().map(Series::finish).collect(),
            ..Outcome::default()
        }
    }
}
