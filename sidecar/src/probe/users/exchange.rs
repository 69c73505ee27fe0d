//! The probe `users`: a connection or an association, and its bytes there and back, for each entry.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::carry::attempt;
use super::flow::BLOCK;
use super::shared::{Shared, TOTAL, drive, ms, runtime};
use super::until;
use crate::lock::lock;
use crate::net::clock::now_ns;
use crate::net::payload::Pattern;
use crate::probe::context::Context;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::outcome::Outcome;
use crate::probe::plan::Plan;
use crate::probe::recorder::Series;
use crate::probe::tally::Tally;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let spec = &plan.spec;
    let series = |name| Series::new(name, spec.count, spec.keep);
    let tally = Tally::new(vec![series("first_byte"), series("total")]);
    let pattern = match spec.over_udp() {
        true => plan.pattern(),
        false => Pattern::new(BLOCK).tagged(plan.tag),
    };
    let shared = Shared::new(plan, pattern, tally)?;
    let runtime = runtime()?;
    context.measured_begins();
    lock(&shared.tally).begin();
    let tasks = (0..spec.connections.min(spec.count)).map(|_| work(Arc::clone(&shared)));
    runtime.block_on(drive(tasks, &shared, context));
    lock(&shared.tally).end();
    context.measured_ended();
    drop(runtime);
    context.carry(*lock(&shared.carried));
    let mut tally = std::mem::take(&mut *lock(&shared.tally));
    if tally.attempted() == spec.count {
        tally.stopped = None;
    }
    let missing = spec.count - tally.attempted();
    tally.errors.add(ErrorKind::Cut, missing);
    let mut outcome = tally.outcome(plan, context, 1);
    outcome.users = std::mem::take(&mut *lock(&shared.outcomes));
    Ok(outcome)
}

async fn work(shared: Arc<Shared>) {
    while let Some(user) = shared.take() {
        match shared.until {
            Some(wanted) => until::one(&shared, user, wanted).await,
            None => one(&shared, user).await,
        }
    }
}

async fn one(shared: &Arc<Shared>, user: usize) {
    let sent = Arc::new(AtomicU64::new(0));
    let tried = attempt(Arc::clone(shared), user, Arc::clone(&sent), now_ns()).await;
    let (took, now, mut outcome) = (tried.ended - tried.began, tried.ended, tried.outcome);
    outcome.took_ms = ms(took);
    outcome.sent = sent.load(Ordering::Relaxed);
    let mut tally = lock(&shared.tally);
    tally.end_ns = now;
    match tried.end {
        Ok(()) => {
            outcome.carried = true;
            tally.success(outcome.received);
            tally.series[TOTAL].record(now, took);
        }
        Err(kind) => {
            outcome.error = Some(kind);
            tally.errors.add(kind, 1);
        }
    }
    drop(tally);
    shared.note(user, outcome);
}
