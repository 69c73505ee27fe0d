//! Probes: what k6 cannot measure. Raw TCP, UDP and SOCKS5, on threads of their own.
//!
//! An engine takes a checked [`plan::Plan`] and a [`context::Context`] and returns an
//! [`outcome::Outcome`]; it fails only where nothing at all could be measured.

pub mod clock;
pub mod context;
pub mod kinds;
pub mod outcome;
pub mod pace;
pub mod payload;
pub mod placement;
pub mod plan;
pub mod recorder;
pub mod socks5;
pub mod spec;

use context::Context;
use kinds::{ErrorKind, ProbeError};
use outcome::Outcome;
use plan::Plan;
use spec::ProbeKind;

/// What every engine is. It blocks until the probe has ended.
pub type Engine = fn(&Plan, &Context) -> Result<Outcome, ProbeError>;

fn engine(plan: &Plan) -> Engine {
    match plan.spec.kind {
        ProbeKind::Tcp if plan.spec.connections > 1 => missing, // events::run
        ProbeKind::Tcp => missing,                              // tcp::run
        ProbeKind::Udp => missing,                              // udp::run
        ProbeKind::Handshake => missing,                        // handshake::run
        ProbeKind::Throughput => missing,                       // throughput::run
        ProbeKind::Concurrency => missing,                      // concurrency::run
    }
}

fn missing(plan: &Plan, _: &Context) -> Result<Outcome, ProbeError> {
    Err(ProbeError::new(
        ErrorKind::Network,
        format!("{} is not built yet", plan.spec.kind),
    ))
}

/// Runs a probe to its end on this thread (engines start and pin their own).
pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let mut outcome = engine(plan)(plan, context)?;
    context.measured_ended();
    outcome.usage = context.usage();
    Ok(outcome)
}
