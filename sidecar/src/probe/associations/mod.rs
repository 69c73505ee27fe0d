//! Many UDP associations open at once, on one thread (sidecar/README.md, Probes). A datagram's number tells its association, so that an
//! answer through another one is found. Without a proxy there are only sockets.

mod drive;
mod opening;
mod record;

use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Associations, Outcome};
use super::plan::Plan;
use super::recorder::Errors;
use crate::net::clock::seconds;
use drive::Drive;
use opening::{State, open_all};

pub use opening::bind;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let failed = |error: std::io::Error| ProbeError::io("epoll", &error);
    let spec = &plan.spec;
    let opened = open_all(plan, context).map_err(failed)?;
    let all = &opened.associations;
    let number = all.iter().filter(|one| one.is_open()).count() as u64;
    if number == 0 {
        let none = || ProbeError::new(ErrorKind::Timeout, "no association was open in time");
        return Err(opened.first_error.unwrap_or_else(none));
    }
    context.measured_begins();
    let mut drive = Drive::new(plan, context, opened.poller, opened.associations);
    drive.exchange().map_err(failed)?;
    context.measured_ended();
    let idle = drive.idle().map_err(failed)?;
    drive.drain().map_err(failed)?;
    context.carry(drive.carried());
    let mut errors = Errors::default();
    for one in &drive.associations {
        if let State::Down(kind) = one.state {
            errors.add(kind, 1);
        }
    }
    let associations = Associations {
        asked: spec.connections,
        opened: number,
        carried: drive.associations.iter().filter(|one| one.carried).count() as u64,
        open_all_s: seconds(opened.took_ns),
        errors: errors.into_map(),
        misdelivered: drive.misdelivered,
        stale: drive.stale,
        loss_bursts: drive.record.loss_bursts(spec.connections as usize),
        gaps: drive.take_gaps(),
    };
    let mut outcome = drive.tally.outcome(plan, context, 1);
    outcome.associations = Some(associations);
    outcome.idle = idle;
    Ok(outcome)
}
