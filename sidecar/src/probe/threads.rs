//! Operations on several threads. Each thread has one operation at a time; the first free thread takes
//! the next operation that is due.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::context::Context;
use super::gate::Gate;
use super::kinds::ProbeError;
use super::outcome::{Outcome, Stopped};
use super::plan::Plan;
use super::recorder::Series;
use super::tally::{FAILURES_IN_A_ROW, Tally};
use crate::net::clock::now_ns;
use crate::net::pace::{Timetable, exact_sleeps, wait_until};

/// The repeated operation of one thread; it has `PARTS` parts.
pub trait Worker<const PARTS: usize> {
    /// Prepares the next operation; the operation's time excludes this call.
    fn prepare(&mut self) -> Result<(), ProbeError> {
        Ok(())
    }

    fn operate(&mut self) -> Result<Done<PARTS>, ProbeError>;
}

pub struct Done<const PARTS: usize> {
    pub began_ns: u64,
    pub ended_ns: u64,
    /// Payload.
    pub bytes: u64,
    /// Time of each part, ns, or none if the part did not take place.
    pub parts: [Option<u64>; PARTS],
}

struct Shared<'a, const PARTS: usize> {
    plan: &'a Plan,
    context: &'a Context,
    parts: [&'static str; PARTS],
    /// The next operation of the warm-up, and of the measured part.
    warm: AtomicU64,
    next: AtomicU64,
    failures: AtomicU32,
    /// All threads are there, and the warm-up begins.
    warm_up: Gate,
    /// All have warmed up, and the measured part begins.
    begin: Gate,
    /// The measured part's start; set before its gate opens.
    start_ns: AtomicU64,
    threads: u64,
}

type Thread = (Tally, Option<ProbeError>);

/// Starts one thread for each connection of the spec, each with a separate worker. The series are `total`, the parts by these names, and
/// in the open loop `lateness`.
pub fn run<W: Worker<PARTS> + Send, const PARTS: usize>(
    plan: &Plan,
    context: &Context,
    parts: [&'static str; PARTS],
    worker: impl Fn() -> W,
) -> Result<Outcome, ProbeError> {
    let threads = plan.spec.connections.min(plan.spec.count);
    let shared = &Shared {
        plan,
        context,
        parts,
        warm: AtomicU64::new(0),
        next: AtomicU64::new(0),
        failures: AtomicU32::new(0),
        warm_up: Gate::default(),
        begin: Gate::default(),
        start_ns: AtomicU64::new(0),
        threads,
    };
    let ended: Vec<Thread> = std::thread::scope(|scope| {
        let works = (0..threads).map(|_| {
            let worker = worker();
            move || shared.run(worker)
        });
        let Some(running) = shared.warm_up.start(scope, works) else {
            return Vec::new();
        };
        shared.warm_up.open();
        shared.begin.gather(running.len());
        if !shared.failed() {
            context.measured_begins();
        }
        shared.start_ns.store(now_ns(), Ordering::SeqCst);
        shared.begin.open();
        let ended = running.into_iter().flat_map(|thread| thread.join());
        ended.flatten().collect()
    });
    shared.warm_up.result()?;
    context.measured_ended();
    let (tallies, errors): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    let mut tally = Tally::merged(tallies, plan.spec.keep);
    match errors.into_iter().flatten().next() {
        Some(error) if tally.succeeded == 0 => return Err(error),
        _ => {}
    }
    if tally.stopped.is_none() && tally.attempted() < plan.spec.count {
        tally.stopped = Some(Stopped::Failures);
    }
    Ok(tally.outcome(plan, context, threads))
}

impl<const PARTS: usize> Shared<'_, PARTS> {
    fn failed(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= FAILURES_IN_A_ROW
    }

    fn stopped(&self) -> Option<Stopped> {
        if self.failed() {
            return Some(Stopped::Failures);
        }
        self.context.must_stop(now_ns())
    }

    fn series(&self) -> Vec<Series> {
        let spec = &self.plan.spec;
        let lateness = self.plan.rate_per_s().map(|_| "lateness");
        std::iter::once("total")
            .chain(self.parts)
            .chain(lateness)
            .map(|name| Series::new(name, spec.count, spec.keep / self.threads))
            .collect()
    }

    /// Returns none if a thread could not be started.
    fn run(&self, mut worker: impl Worker<PARTS>) -> Option<Thread> {
        exact_sleeps();
        if !self.warm_up.pass() {
            return None;
        }
        let mut tally = Tally::new(self.series());
        let mut first_error = self.warm_up(self.plan.timetable(now_ns()), &mut worker);
        self.begin.pass();
        tally.begin();
        let start = self.start_ns.load(Ordering::SeqCst);
        let timetable = self.plan.timetable(start);
        if timetable.is_some() {
            tally.intended_start(start);
        }
        self.measure(timetable, &mut worker, &mut tally, &mut first_error);
        tally.end();
        Some((tally, first_error))
    }

    /// Ends ready for the first measured operation. Returns the first error.
    fn warm_up(
        &self,
        timetable: Option<Timetable>,
        worker: &mut impl Worker<PARTS>,
    ) -> Option<ProbeError> {
        let mut first_error = None;
        loop {
            let index = self.take(&self.warm, self.plan.spec.warmup);
            let index = index.filter(|_| self.stopped().is_none());
            let operation = worker.prepare().and_then(|()| match index {
                Some(index) if self.wait(timetable, index) => worker.operate().map(Some),
                _ => Ok(None),
            });
            match operation {
                Ok(Some(_)) => self.failures.store(0, Ordering::Relaxed),
                Ok(None) => break,
                Err(_) if self.context.cancelled() => break,
                Err(error) => {
                    first_error.get_or_insert(error);
                    self.failures.fetch_add(1, Ordering::Relaxed);
                    if index.is_none() {
                        break;
                    }
                }
            }
        }
        first_error
    }

    fn measure(
        &self,
        timetable: Option<Timetable>,
        worker: &mut impl Worker<PARTS>,
        tally: &mut Tally,
        first_error: &mut Option<ProbeError>,
    ) {
        while let Some(index) = self.take(&self.next, self.plan.spec.count) {
            tally.stopped = self.stopped();
            if tally.stopped.is_some() {
                return;
            }
            let prepared = worker.prepare();
            let free = now_ns();
            if prepared.is_ok() && !self.wait(timetable, index) {
                tally.stopped = self.stopped();
                return;
            }
            match prepared.and_then(|()| worker.operate()) {
                Ok(done) => {
                    self.failures.store(0, Ordering::Relaxed);
                    tally.end_ns = done.ended_ns;
                    let intended = timetable.map(|timetable| timetable.intended_ns(index));
                    record(tally, &done, intended, free);
                    tally.success(done.bytes);
                }
                Err(_) if self.context.cancelled() => {
                    tally.stopped = Some(Stopped::Cancelled);
                    return;
                }
                Err(error) => {
                    tally.end_ns = now_ns();
                    tally.failure(error.kind);
                    // Three failures in a row on one thread alone do not end the probe.
                    tally.stopped = None;
                    first_error.get_or_insert(error);
                    self.failures.fetch_add(1, Ordering::Relaxed);
                }
            }
            self.context.add_done(1);
        }
    }

    fn take(&self, from: &AtomicU64, count: u64) -> Option<u64> {
        let index = from.fetch_add(1, Ordering::Relaxed);
        (index < count).then_some(index)
    }

    fn wait(&self, timetable: Option<Timetable>, index: u64) -> bool {
        timetable.is_none_or(|timetable| {
            let stopped = |_| self.stopped().is_some();
            let intended_ns = timetable.intended_ns(index);
            wait_until(intended_ns, self.plan.spec.wait, stopped).is_some()
        })
    }
}

/// `free_ns` is when the thread could begin at the earliest.
fn record<const PARTS: usize>(
    tally: &mut Tally,
    done: &Done<PARTS>,
    intended_ns: Option<u64>,
    free_ns: u64,
) {
    let total = done.ended_ns - intended_ns.unwrap_or(done.began_ns);
    let lateness = intended_ns.map(|intended| done.began_ns - intended.max(free_ns));
    let values = std::iter::once(Some(total))
        .chain(done.parts)
        .chain(std::iter::once(lateness));
    for (series, value) in tally.series.iter_mut().zip(values) {
        if let Some(ns) = value {
            series.record(done.ended_ns, ns);
        }
    }
}
