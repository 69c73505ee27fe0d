//! Many connections on one thread: `tcp` with more than one, and `concurrency` (sidecar/README.md, Probes).
//!
//! In the open loop, connection `i mod N` sends operation `i`, so that the phases of the connections are spread evenly. A tunnel that
//! cannot be opened at the start counts as a failed operation, and takes no part in the rest. `3 × connections` failures in a row end the
//! probe.

mod drive;
mod round;
mod slot;

use super::context::Context;
use super::idle::{Held, hold};
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Idle, Outcome, Stopped, Tunnels};
use super::plan::Plan;
use super::recorder::{Errors, Series};
use super::spec::ProbeKind;
use super::tally::Tally;
use crate::net::clock::{now_ns, seconds};
use drive::{Drive, Happened};
use round::Round;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let failed = |error: std::io::Error| ProbeError::io("epoll", &error);
    let mut drive = Drive::new(plan, context).map_err(failed)?;
    let opened = open_all(&mut drive).map_err(failed)?;
    if opened.usable.is_empty() {
        return Err(opened.first_error.unwrap_or_else(|| {
            ProbeError::new(
                ErrorKind::Timeout,
                "no tunnel was open when the probe ended",
            )
        }));
    }
    let mut tally = Tally::of_round_trips(plan, plan.spec.count);
    let mut stopped = opened.stopped;
    if stopped.is_none() && plan.spec.warmup > 0 {
        let mut ignored = Tally::of_round_trips(plan, plan.spec.count);
        let warm_up = Round::new(plan.spec.warmup, plan.timetable(now_ns()), &mut ignored);
        stopped = warm_up.run(&mut drive, &opened.usable).map_err(failed)?;
        if stopped == Some(Stopped::Failures)
            && let Some(kind) = ignored.errors.into_map().into_keys().next()
        {
            let what = format!("warm-up: the operations fail ({kind})");
            return Err(ProbeError::new(kind, what));
        }
    }
    if stopped.is_none() {
        context.measured_begins();
        let timetable = plan.timetable(tally.begin());
        let round = Round::new(plan.spec.count, timetable, &mut tally).measured();
        stopped = round.run(&mut drive, &opened.usable).map_err(failed)?;
        tally.end();
        context.measured_ended();
    }
    let idle = match stopped {
        None => idle(&mut drive).map_err(failed)?,
        Some(_) => None,
    };
    drive.let_go();
    tally.stopped = stopped;
    // A failed tunnel is no operation of the timetable.
    tally.cut_overdue(plan, context.limit_ns());
    tally.errors.merge(opened.errors);
    let concurrency = plan.spec.kind == ProbeKind::Concurrency;
    let tunnels = concurrency.then_some(Tunnels {
        asked: plan.spec.connections,
        open: opened.usable.len() as u64,
        open_all_s: seconds(opened.ended_ns - opened.began_ns),
    });
    if concurrency {
        tally.series.insert(0, opened.series);
    }
    let mut outcome = tally.outcome(plan, context, 1);
    outcome.tunnels = tunnels;
    outcome.idle = idle;
    Ok(outcome)
}

/// Holds all tunnels without traffic, and then tries those that are still open.
fn idle(drive: &mut Drive<'_>) -> std::io::Result<Option<Idle>> {
    let (plan, context) = (drive.plan, drive.context);
    let open = drive.usable().len() as u64;
    let since_ns = now_ns();
    let mut ignored = Tally::of_round_trips(plan, plan.spec.count);
    let Some(Held { mut idle, began_ns }) = hold(plan, context, |until_ns| drive.turn(until_ns))?
    else {
        return Ok(None);
    };
    let left = drive.usable();
    if !left.is_empty() {
        Round::new(left.len() as u64, None, &mut ignored).run(drive, &left)?;
    }
    let broken = drive.slots.iter().filter_map(|slot| slot.broken);
    // Earlier ends are of tunnels that were not open.
    let ended = broken.filter(|broken| broken.at_ns >= since_ns);
    let (closed, unasked): (Vec<_>, Vec<_>) =
        ended.partition(|broken| broken.error != ErrorKind::Corrupted);
    idle.ended_s = closed
        .iter()
        .map(|broken| seconds(broken.at_ns.saturating_sub(began_ns)))
        .collect();
    idle.ended_s.sort_by(f64::total_cmp);
    Ok(Some(Idle {
        open,
        unasked: unasked.len() as u64,
        answered: ignored.succeeded,
        ..idle
    }))
}

struct Opened {
    /// Slots whose tunnel was open.
    usable: Vec<usize>,
    /// Time from dial to usable, of each tunnel.
    series: Series,
    /// The first dial, and the last tunnel that opened or failed.
    began_ns: u64,
    ended_ns: u64,
    first_error: Option<ProbeError>,
    errors: Errors,
    stopped: Option<Stopped>,
}

fn open_all(drive: &mut Drive<'_>) -> std::io::Result<Opened> {
    let spec = &drive.plan.spec;
    let began_ns = now_ns();
    let mut all = Opened {
        usable: Vec::new(),
        series: Series::new("open", spec.connections, spec.keep),
        began_ns,
        ended_ns: began_ns,
        first_error: None,
        errors: Errors::default(),
        stopped: None,
    };
    for index in 0..drive.slots.len() {
        drive.open(index);
    }
    while drive.opening() && all.stopped.is_none() {
        drive.turn(u64::MAX)?;
        all.stopped = drive.stopped();
    }
    for happened in drive.happened.drain(..) {
        match happened {
            Happened::Opened { began_ns, ended_ns } => {
                all.series.record(ended_ns, ended_ns - began_ns);
                all.ended_ns = ended_ns;
            }
            Happened::NotOpened { error, ended_ns } => {
                all.ended_ns = ended_ns;
                all.errors.add(error.kind, 1);
                all.first_error.get_or_insert(error);
            }
            Happened::Sent { .. } | Happened::Answered { .. } | Happened::Failed { .. } => {}
        }
    }
    all.usable = drive.usable();
    if all.stopped == Some(Stopped::Limit) {
        let ended = all.usable.len() as u64 + all.errors.total();
        let asked = drive.slots.len() as u64;
        all.errors.add(ErrorKind::Cut, asked.saturating_sub(ended));
    }
    Ok(all)
}
