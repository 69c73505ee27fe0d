//! Probes: what k6 cannot measure. Raw TCP, UDP and SOCKS5, on threads of their own.
//!
//! An engine takes a checked [`plan::Plan`] and a [`context::Context`] and returns an
//! [`outcome::Outcome`]; it fails only where nothing at all could be measured.

pub mod context;
mod dns;
mod download;
pub mod far_end;
mod fetch;
mod flow;
mod gate;
mod handshake;
pub mod kinds;
mod many;
pub mod observer;
pub mod outcome;
pub mod plan;
mod reach;
pub mod recorder;
pub mod registry;
pub mod socks5;
pub mod spec;
mod stream;
pub mod tally;
mod tcp;
mod threads;
mod throughput;
pub mod tls;
mod udp;
mod wire;

use std::sync::Arc;

use context::Context;
use kinds::{ErrorKind, ProbeError};
use outcome::Outcome;
use plan::Plan;
use spec::ProbeKind;

use crate::net::{pace, placement};
use crate::process::namespace::Namespace;

/// What every engine is. It blocks until the probe has ended.
pub type Engine = fn(&Plan, &Context) -> Result<Outcome, ProbeError>;

fn engine(plan: &Plan) -> Engine {
    match plan.spec.kind {
        ProbeKind::Tcp if plan.spec.connections > 1 => many::run,
        ProbeKind::Tcp => tcp::run,
        ProbeKind::Udp => udp::run,
        ProbeKind::Dns => dns::run,
        ProbeKind::Handshake => handshake::run,
        ProbeKind::Throughput => throughput::run,
        ProbeKind::Concurrency => many::run,
        ProbeKind::Fetch => fetch::run,
        ProbeKind::Flow => flow::run,
    }
}

/// Runs a probe to its end on a thread that is its own: the thread is pinned and moved into the
/// namespace, where there is one, and what engines start on it with it.
pub fn run(
    plan: &Plan,
    namespace: Option<Arc<Namespace>>,
    context: &Context,
) -> Result<Outcome, ProbeError> {
    placement::pin(&plan.spec.cpus)
        .map_err(|failure| ProbeError::new(ErrorKind::Network, failure.to_string()))?;
    if let Some(namespace) = &namespace {
        namespace.enter().map_err(|error| {
            let what = format!("its namespace cannot be entered: {error}");
            ProbeError::new(ErrorKind::Network, what)
        })?;
    }
    pace::exact_sleeps();
    let mut outcome = engine(plan)(plan, context)?;
    context.measured_ended();
    outcome.usage = context.usage();
    outcome.far_end = (plan.spec.kind != ProbeKind::Dns).then(|| context.far_end(plan));
    Ok(outcome)
}
