//! Probes measure raw TCP, UDP and SOCKS5, which k6 cannot measure. Each probe has its own threads.
//!
//! An engine takes a checked [`plan::Plan`] and a [`context::Context`] and returns an
//! [`outcome::Outcome`]. An engine fails only if it could not measure at all.

mod associations;
pub mod context;
mod dns;
mod download;
pub mod far_end;
mod fetch;
mod flow;
mod gate;
mod handshake;
mod idle;
pub mod kinds;
mod many;
mod nat;
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
pub mod users;
mod web;
mod wire;

use std::sync::Arc;

use context::Context;
use kinds::{ErrorKind, ProbeError};
use outcome::Outcome;
use plan::Plan;
use spec::ProbeKind;

use crate::net::pace;
use crate::process::cpus;
use crate::process::namespace::Namespace;

/// An engine blocks until the probe has ended.
pub type Engine = fn(&Plan, &Context) -> Result<Outcome, ProbeError>;

fn engine(plan: &Plan) -> Engine {
    match plan.spec.kind {
        ProbeKind::Tcp if plan.spec.connections > 1 => many::run,
        ProbeKind::Tcp => tcp::run,
        ProbeKind::Udp => udp::run,
        ProbeKind::Associations => associations::run,
        ProbeKind::Dns => dns::run,
        ProbeKind::Handshake => handshake::run,
        ProbeKind::Throughput => throughput::run,
        ProbeKind::Concurrency => many::run,
        ProbeKind::Fetch => fetch::run,
        ProbeKind::Flow => flow::run,
        ProbeKind::Nat => nat::run,
        ProbeKind::Users => users::exchange,
        ProbeKind::Steady => users::steady,
        ProbeKind::H2 | ProbeKind::H3 => web::run,
    }
}

/// Runs a probe to its end on a separate thread. The thread is pinned and moved into the namespace, if
/// the probe has one; threads that engines start inherit both.
pub fn run(
    plan: &Plan,
    namespace: Option<Arc<Namespace>>,
    context: &Context,
) -> Result<Outcome, ProbeError> {
    cpus::bind(&plan.spec.cpus)
        .map_err(|error| ProbeError::new(ErrorKind::Network, format!("its CPUs: {error}")))?;
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
    let counts = !matches!(plan.spec.kind, ProbeKind::Dns | ProbeKind::Nat);
    outcome.far_end = counts.then(|| context.far_end(plan));
    outcome.inner_tls = context.sessions();
    Ok(outcome)
}
