//! The probe `steady`: users' connections that stay open, with requests by a timetable, or one after the other.

use std::collections::VecDeque;
use std::iter;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::flow::{self, Receiver, Sender, sequence};
use super::shared::{SLICE, Shared, drive, ms, runtime};
use crate::lock::lock;
use crate::net::clock::{now_ns, seconds};
use crate::net::pace::{Timetable, exact_sleeps, wait_until};
use crate::net::wait::Wait;
use crate::probe::context::Context;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::outcome::{Outcome, Stopped, UserOutcome};
use crate::probe::plan::Plan;
use crate::probe::tally::{LATENESS, ROUND_TRIP, Tally};

/// Connections that open at once.
const AT_ONCE: usize = 256;

#[derive(Default)]
struct Line {
    halves: Option<(Sender, Receiver)>,
    /// Intended times of the requests without an answer.
    pending: VecDeque<u64>,
    /// Why and when it ended.
    ended: Option<(ErrorKind, u64)>,
    began_ns: u64,
    opened: bool,
    outcome: UserOutcome,
}

struct All {
    shared: Arc<Shared>,
    lines: Vec<Mutex<Line>>,
}

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let spec = &plan.spec;
    let tally = Tally::of_round_trips(plan, spec.count);
    let shared = Shared::new(plan, plan.pattern(), tally)?;
    let lines = shared.bytes.iter().map(|_| Mutex::default()).collect();
    let all = Arc::new(All { shared, lines });
    let All { shared, lines } = &*all;
    let runtime = runtime()?;
    let started = runtime.block_on(async {
        let workers = AT_ONCE.min(lines.len());
        let tasks = (0..workers).map(|_| open(Arc::clone(&all)));
        drive(tasks, shared, context).await;
        shared.stop.store(false, Ordering::Relaxed);
        context.measured_begins();
        let started = lock(&shared.tally).begin();
        match plan.timetable(started) {
            Some(timetable) => {
                ask(&all, plan, context, timetable).await?;
            }
            None => {
                let task = in_turn(Arc::clone(&all), spec.count);
                drive(iter::once(task), shared, context).await;
            }
        }
        lock(&shared.tally).end();
        Ok(started)
    });
    let started = started.map_err(|error| ProbeError::io("thread", &error))?;
    context.measured_ended();
    drop(runtime);
    for (user, line) in lines.iter().enumerate() {
        let mut line = lock(line);
        let unanswered = line.pending.len() as u64;
        lock(&shared.tally)
            .errors
            .add(ErrorKind::Timeout, unanswered);
        let ended = line.ended.filter(|_| line.opened);
        let mut outcome = std::mem::take(&mut line.outcome);
        outcome.error = line.ended.map(|(kind, _)| kind);
        let silent = line.pending.front();
        outcome.silent_s = silent.map(|due_ns| seconds(due_ns.saturating_sub(started)));
        outcome.ended_s = ended.map(|(_, at_ns)| seconds(at_ns.saturating_sub(started)));
        let end_ns = line.ended.map_or_else(now_ns, |(_, at_ns)| at_ns);
        outcome.took_ms = ms(end_ns - line.began_ns);
        shared.note(user, outcome);
    }
    context.carry(*lock(&shared.carried));
    let mut tally = std::mem::take(&mut *lock(&shared.tally));
    if tally.attempted() == spec.count && tally.stopped == Some(Stopped::Limit) {
        tally.stopped = None;
    }
    // A timetable has a clock's thread.
    let threads = if plan.rate_per_s().is_some() { 2 } else { 1 };
    let mut outcome = tally.outcome(plan, context, threads);
    outcome.users = std::mem::take(&mut *lock(&shared.outcomes));
    Ok(outcome)
}

/// Opens one connection after the other. A connection is open when its first answer is here.
async fn open(all: Arc<All>) {
    while let Some(user) = all.shared.take() {
        lock(&all.lines[user]).began_ns = now_ns();
        let opening = timeout(all.shared.timeout, all.first(user)).await;
        let opened = opening.unwrap_or(Err(ErrorKind::Timeout));
        let mut line = lock(&all.lines[user]);
        match opened {
            Ok(halves) => {
                line.opened = true;
                line.halves = Some(halves);
            }
            Err(kind) => line.ended = Some((kind, now_ns())),
        }
    }
}

impl All {
    async fn first(&self, user: usize) -> Result<(Sender, Receiver), ErrorKind> {
        let (mut sender, mut receiver) = flow::dial(&self.shared, user).await?;
        self.send(user, 0, &mut sender).await?;
        self.answer(user, 0, &mut receiver).await?;
        Ok((sender, receiver))
    }

    async fn send(&self, user: usize, number: u64, to: &mut Sender) -> Result<(), ErrorKind> {
        let pattern = &self.shared.pattern;
        let mut payload = vec![0; pattern.size()];
        pattern.fill(sequence(user, number), &mut payload);
        lock(&self.lines[user]).outcome.sent += payload.len() as u64;
        to.send(&payload).await
    }

    /// Waits for the whole answer, and checks each byte.
    async fn answer(&self, user: usize, number: u64, of: &mut Receiver) -> Result<(), ErrorKind> {
        let pattern = &self.shared.pattern;
        let mut room = vec![0; pattern.size()];
        loop {
            match of.take(pattern, sequence(user, number), pattern.size(), &mut room) {
                Some(true) => break,
                Some(false) => return Err(ErrorKind::Corrupted),
                None => {
                    let count = of.more().await?;
                    let mut line = lock(&self.lines[user]);
                    line.outcome.received += count;
                    if line.outcome.first_byte_ms.is_none() {
                        line.outcome.first_byte_ms = Some(ms(now_ns() - line.began_ns));
                    }
                }
            }
        }
        lock(&self.lines[user]).outcome.carried = true;
        Ok(())
    }
}

/// Sends a request when the answer to the one before it is here, over one connection after the other.
async fn in_turn(all: Arc<All>, count: u64) {
    let All { shared, lines } = &*all;
    for number in 0..count {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let user = number as usize % lines.len();
        let line = &lines[user];
        let halves = lock(line).halves.take();
        let Some((mut sender, mut receiver)) = halves else {
            let kind = lock(line).ended.map_or(ErrorKind::Cut, |(kind, _)| kind);
            lock(&shared.tally).errors.add(kind, 1);
            continue;
        };
        // The connection's first request opened it.
        let round = 1 + number / lines.len() as u64;
        let began = now_ns();
        let asking = async {
            all.send(user, round, &mut sender).await?;
            all.answer(user, round, &mut receiver).await
        };
        let end = timeout(shared.timeout, asking).await;
        let now = now_ns();
        let mut tally = lock(&shared.tally);
        tally.end_ns = now;
        match end.unwrap_or(Err(ErrorKind::Timeout)) {
            Ok(()) => {
                tally.series[ROUND_TRIP].record(now, now - began);
                tally.success(shared.pattern.size() as u64);
                lock(line).halves = Some((sender, receiver));
            }
            Err(kind) => {
                tally.errors.add(kind, 1);
                lock(line).ended = Some((kind, now));
            }
        }
    }
}

/// Sends all requests by the timetable, and waits until each is answered or late.
async fn ask(
    all: &Arc<All>,
    plan: &Plan,
    context: &Context,
    timetable: Timetable,
) -> std::io::Result<()> {
    let All { shared, lines } = &**all;
    let mut ticks = Vec::new();
    for (user, line) in lines.iter().enumerate() {
        let halves = lock(line).halves.take();
        let Some((sender, receiver)) = halves else {
            ticks.push(None);
            continue;
        };
        let (tick, due) = unbounded_channel();
        ticks.push(Some(tick));
        tokio::spawn(requests(Arc::clone(all), user, sender, due));
        tokio::spawn(answers(Arc::clone(all), user, receiver));
    }
    let (ours, count) = (Arc::clone(all), plan.spec.count);
    let clock = thread::Builder::new().name("steady".to_owned());
    let clock = clock.spawn(move || tell(&ours, &ticks, timetable, count))?;
    let mut until_ns = u64::MAX;
    loop {
        sleep(SLICE).await;
        let now = now_ns();
        let done = lock(&shared.tally).attempted();
        context.set_done(done);
        if let Some(stopped) = context.must_stop(now) {
            lock(&shared.tally).stopped = Some(stopped);
            shared.stop.store(true, Ordering::Relaxed);
        }
        if clock.is_finished() {
            until_ns = until_ns.min(now + plan.timeout.as_nanos() as u64);
        }
        let waits = lines.iter().any(|line| !lock(line).pending.is_empty());
        let ended = clock.is_finished() && (!waits || now >= until_ns);
        if context.cancelled() || ended {
            break;
        }
    }
    shared.stop.store(true, Ordering::Relaxed);
    Ok(())
}

/// The clock's thread: tells each connection when a request of it is due.
fn tell(all: &All, ticks: &[Option<UnboundedSender<u64>>], timetable: Timetable, count: u64) {
    let All { shared, lines } = all;
    exact_sleeps();
    for number in 0..count {
        let intended_ns = timetable.intended_ns(number);
        let stop = |_| shared.stop.load(Ordering::Relaxed);
        if stop(0) || wait_until(intended_ns, Wait::Block, stop).is_none() {
            return;
        }
        let index = number as usize % lines.len();
        let mut line = lock(&lines[index]);
        match (&ticks[index], line.ended) {
            (Some(tick), None) => {
                line.pending.push_back(intended_ns);
                let _ = tick.send(intended_ns);
            }
            (_, ended) => {
                let kind = ended.map_or(ErrorKind::Cut, |(kind, _)| kind);
                drop(line);
                lock(&shared.tally).errors.add(kind, 1);
            }
        }
    }
}

async fn requests(all: Arc<All>, user: usize, mut sender: Sender, mut due: UnboundedReceiver<u64>) {
    let shared = &all.shared;
    let mut number = 0;
    while let Some(intended_ns) = due.recv().await {
        number += 1;
        let now = now_ns();
        lock(&shared.tally).series[LATENESS].record(now, now - intended_ns);
        if all.send(user, number, &mut sender).await.is_err() {
            break;
        }
    }
    // The end of the sender would close this way of the connection.
    while !shared.stop.load(Ordering::Relaxed) {
        sleep(SLICE).await;
    }
}

async fn answers(all: Arc<All>, user: usize, mut receiver: Receiver) {
    let (shared, line) = (&all.shared, &all.lines[user]);
    let mut number = 0;
    let kind = loop {
        number += 1;
        if let Err(kind) = all.answer(user, number, &mut receiver).await {
            break kind;
        }
        let now = now_ns();
        let Some(intended_ns) = lock(line).pending.pop_front() else {
            break ErrorKind::Corrupted;
        };
        let took_ns = now - intended_ns;
        let mut tally = lock(&shared.tally);
        tally.series[ROUND_TRIP].record(now, took_ns);
        tally.end_ns = now;
        // A late answer is a sample, too.
        if took_ns <= shared.timeout.as_nanos() as u64 {
            tally.success(shared.pattern.size() as u64);
        } else {
            tally.errors.add(ErrorKind::Timeout, 1);
        }
    };
    let mut line = lock(line);
    line.ended = Some((kind, now_ns()));
    let unanswered = line.pending.drain(..).count() as u64;
    drop(line);
    lock(&shared.tally).errors.add(kind, unanswered);
}
