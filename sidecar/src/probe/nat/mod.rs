//! Tests the behaviour of a UDP association. The words are of RFC 4787, and the tests resemble the tests of RFC 5780.
//!
//! The far ends are sockets of the probe at several loopback addresses and ports. A finding is what these sockets, and the client's, have
//! received. Each behaviour has separate associations, all at the same time, each on a separate thread. So the longest idle time and some
//! timeouts are the length of the whole.

mod after_control;
mod behaviours;
mod idle;
mod line;
pub mod report;
mod shared;

use std::sync::PoisonError;

use super::context::Context;
use super::kinds::ProbeError;
use super::outcome::Outcome;
use super::plan::Plan;
use crate::net::clock::now_ns;
use line::Line;
use report::{Bound, Report};
use shared::Nat;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let nat = Nat::new(plan, context);
    context.measured_begins();
    nat.noted().tally.begin();
    let mut report = Report::default();
    if let Some(own) = nat.first(&mut report)? {
        nat.behaviours(own, &mut report);
    }
    context.measured_ended();
    let mut noted = nat
        .noted
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    report.names_sender = noted.names_sender;
    report.answers_from = noted.answers_from;
    noted.tally.end_ns = now_ns();
    noted.tally.end();
    // A datagram that has not arrived when the probe was stopped says nothing.
    noted.tally.stopped = context.must_stop(now_ns());
    let stopped = noted.tally.stopped.is_some();
    let threads = plan.operations();
    Ok(Outcome {
        nat: Some(if stopped { Report::default() } else { report }),
        ..noted.tally.outcome(plan, context, threads)
    })
}

impl Nat<'_> {
    /// The first association: it tries the address that the proxy names, and the proxy's own address if nothing comes back from there.
    /// Returns whether only the latter works, or none if nothing came back from either.
    fn first(&self, report: &mut Report) -> Result<Option<bool>, ProbeError> {
        let far = self.first_far()?;
        let mut line = Line::open(self, false, None)?;
        let (mut own, mut works) = (false, None);
        if line.named {
            works = line.round_trip(&far).map(|_| true);
        }
        if line.named && works.is_none() {
            let other = Line::open(self, true, None)?;
            own = other.relay != line.relay && other.round_trip(&far).is_some();
            if own {
                (line, works) = (other, Some(false));
            }
        }
        if let (Some(bound), Some(proxy)) = (&line.bound, &self.plan.proxy) {
            report.bound = Some(Bound::new(bound, proxy.at.address.ip(), works));
        }
        let came_back = self.mapping(&line, &far, report);
        Ok(came_back.then_some(own))
    }
}
