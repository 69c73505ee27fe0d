//! From TCP dial to a usable tunnel, or to its first payload back, by stages; up to 64 threads, each with one tunnel at a time.

use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::Builder;

use super::clock::now_ns;
use super::context::Context;
use super::gate::Gate;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Outcome, Stopped};
use super::pace::{Timetable, exact_sleeps, wait_until};
use super::plan::Plan;
use super::recorder::Series;
use super::socks5::client::{self, Deadline, Stages};
use super::tally::{FAILURES_IN_A_ROW, Tally};
use super::wire::{Broken, Wire};

const NAMES: [&str; 7] = [
    "total",
    "dial",
    "greeting",
    "auth",
    "connect",
    "first_reply",
    "lateness",
];

/// One that came to its end.
struct Handshake {
    stages: Stages,
    /// The first payload's way back; where it was not asked for, the moment of the tunnel.
    replied: u64,
}

/// What the threads share.
struct Shared<'a> {
    plan: &'a Plan,
    context: &'a Context,
    /// The next handshake of the warm-up, and of the measured part.
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

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let threads = plan.spec.connections.min(plan.spec.count);
    let shared = Shared {
        plan,
        context,
        warm: AtomicU64::new(0),
        next: AtomicU64::new(0),
        failures: AtomicU32::new(0),
        warm_up: Gate::default(),
        begin: Gate::default(),
        start_ns: AtomicU64::new(0),
        threads,
    };
    let ended: Vec<Thread> = std::thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 0..threads {
            match Builder::new().spawn_scoped(scope, || shared.run()) {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    shared.warm_up.abandon(&error);
                    return Vec::new();
                }
            }
        }
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
    let mut first_error = None;
    let mut all: Option<Tally> = None;
    for (tally, error) in ended {
        first_error = first_error.or(error);
        match &mut all {
            None => all = Some(tally),
            Some(all) => all.merge(tally, plan.spec.keep),
        }
    }
    let mut tally = all.unwrap_or_else(|| Tally::new(Vec::new()));
    match first_error {
        Some(error) if tally.succeeded == 0 => return Err(error),
        _ => {}
    }
    if tally.stopped.is_none() && tally.attempted() < plan.spec.count {
        tally.stopped = Some(Stopped::Failures);
    }
    let mut outcome = tally.outcome(plan, context, threads);
    let login = plan
        .proxy
        .as_ref()
        .is_some_and(|proxy| proxy.login.is_some());
    outcome.series.retain(|series| match series.name {
        "total" | "dial" => true,
        "auth" => login && series.count > 0,
        "lateness" => plan.rate_per_s().is_some(),
        "first_reply" => plan.spec.first_reply,
        _ => plan.proxy.is_some(),
    });
    Ok(outcome)
}

impl Shared<'_> {
    fn failed(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= FAILURES_IN_A_ROW
    }

    fn stopped(&self) -> Option<Stopped> {
        if self.failed() {
            return Some(Stopped::Failures);
        }
        self.context.must_stop(self.plan, now_ns())
    }

    /// None where not all threads could be started.
    fn run(&self) -> Option<Thread> {
        exact_sleeps();
        if !self.warm_up.pass() {
            return None;
        }
        let spec = &self.plan.spec;
        let keep = spec.keep / self.threads;
        let series = NAMES.map(|name| Series::new(name, spec.count, keep));
        let mut tally = Tally::new(series.into());
        let mut first_error = None;
        let timetable = |start| {
            self.plan
                .rate_per_s()
                .map(|rate| Timetable::new(start, rate))
        };

        let warm = timetable(now_ns());
        while let Some(index) = self.take(&self.warm, spec.warmup) {
            if self.stopped().is_some() || !self.wait(warm, index) {
                break;
            }
            match self.handshake() {
                Ok(_) => self.failures.store(0, Ordering::Relaxed),
                Err(_) if self.context.must_stop(self.plan, now_ns()).is_some() => break,
                Err(error) => {
                    first_error.get_or_insert(error);
                    self.failures.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        self.begin.pass();
        tally.begin();
        let start = self.start_ns.load(Ordering::SeqCst);
        let timetable = timetable(start);
        if timetable.is_some() {
            tally.intended_start(start);
        }
        self.measure(timetable, &mut tally, &mut first_error);
        tally.end();
        Some((tally, first_error))
    }

    fn measure(
        &self,
        timetable: Option<Timetable>,
        tally: &mut Tally,
        first_error: &mut Option<ProbeError>,
    ) {
        while let Some(index) = self.take(&self.next, self.plan.spec.count) {
            tally.stopped = self.stopped();
            if tally.stopped.is_some() {
                return;
            }
            let free = now_ns();
            if !self.wait(timetable, index) {
                tally.stopped = self.stopped();
                return;
            }
            match self.handshake() {
                Ok(handshake) => {
                    self.failures.store(0, Ordering::Relaxed);
                    tally.end_ns = handshake.replied;
                    let intended = timetable.map(|timetable| timetable.intended_ns(index));
                    record(tally, &handshake, intended, free);
                    tally.success(0);
                }
                Err(error) => {
                    tally.stopped = self.context.must_stop(self.plan, now_ns());
                    if tally.stopped.is_some() {
                        return;
                    }
                    tally.end_ns = now_ns();
                    tally.failure(error.kind);
                    // Of this thread alone three in a row say nothing yet.
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
            wait_until(timetable.intended_ns(index), self.plan.spec.wait, |_| {
                self.stopped().is_some()
            })
        })
    }

    /// The tunnel is closed again at once, and that is not in the stages.
    fn handshake(&self) -> Result<Handshake, ProbeError> {
        let deadline = Deadline {
            at_ns: (now_ns() + self.plan.handshake_timeout.as_nanos() as u64)
                .min(self.context.limit_ns(self.plan)),
            cancelled: &|| self.context.cancelled(),
        };
        let (stream, stages) = client::open(self.plan, &deadline)?;
        let replied = if self.plan.spec.first_reply {
            self.first_reply(stream, deadline.at_ns)?
        } else {
            stages.connected
        };
        Ok(Handshake { stages, replied })
    }

    /// The moment at which the first payload had come back whole.
    fn first_reply(&self, stream: TcpStream, deadline_ns: u64) -> Result<u64, ProbeError> {
        let mut wire = Wire::new(stream, self.plan)?;
        let pattern = self.plan.pattern();
        let mut request = vec![0; self.plan.spec.payload_bytes as usize];
        pattern.fill(FIRST, &mut request);
        let over = |now: u64| {
            (now >= deadline_ns || self.context.cancelled())
                .then_some(Broken::Failed(ErrorKind::Timeout))
        };
        let failed = |kind: ErrorKind| ProbeError::new(kind, "the first payload of a tunnel");
        match wire.exchange(&request, over) {
            Ok(answer) if pattern.matches(FIRST, answer) => Ok(now_ns()),
            Ok(_) => Err(failed(ErrorKind::Corrupted)),
            Err(Broken::Failed(kind)) => Err(failed(kind)),
            Err(Broken::Stopped) => Err(failed(ErrorKind::Timeout)),
        }
    }
}

/// Sequence number of the one payload that a tunnel carries.
const FIRST: u32 = 1;

/// `free_ns` is when the thread could begin at the earliest.
fn record(tally: &mut Tally, handshake: &Handshake, intended_ns: Option<u64>, free_ns: u64) {
    let Handshake { stages, replied } = handshake;
    let logged_in = stages.logged_in.unwrap_or(stages.greeted);
    let values = [
        Some(replied - intended_ns.unwrap_or(stages.began)),
        Some(stages.dialled - stages.began),
        Some(stages.greeted - stages.dialled),
        stages.logged_in.map(|moment| moment - stages.greeted),
        Some(stages.connected - logged_in),
        Some(replied - stages.connected),
        intended_ns.map(|intended| stages.began - intended.max(free_ns)),
    ];
    for (series, value) in tally.series.iter_mut().zip(values) {
        if let Some(ns) = value {
            series.record(ns);
        }
    }
}
