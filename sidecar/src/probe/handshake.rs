//! From TCP dial to a usable tunnel, or to its first payload back, by stages; up to 64 threads, each with one tunnel at a time.

use std::net::TcpStream;

use super::clock::now_ns;
use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::Outcome;
use super::plan::Plan;
use super::socks5::client::{self, Deadline};
use super::threads::{self, Done, Worker};
use super::wire::{Broken, Wire};

const STAGES: [&str; 5] = ["dial", "greeting", "auth", "connect", "first_reply"];

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let worker = || Handshake { plan, context };
    let mut outcome = threads::run(plan, context, STAGES, worker)?;
    let login = plan
        .proxy
        .as_ref()
        .is_some_and(|proxy| proxy.login.is_some());
    outcome.series.retain(|series| match series.name {
        "total" | "dial" | "lateness" => true,
        "auth" => login && series.count > 0,
        "first_reply" => plan.spec.first_reply,
        _ => plan.proxy.is_some(),
    });
    Ok(outcome)
}

struct Handshake<'a> {
    plan: &'a Plan,
    context: &'a Context,
}

impl Worker<{ STAGES.len() }> for Handshake<'_> {
    /// The tunnel is closed again at once, and that is not in the stages.
    fn operate(&mut self) -> Result<Done<{ STAGES.len() }>, ProbeError> {
        let deadline = Deadline {
            at_ns: (now_ns() + self.plan.handshake_timeout.as_nanos() as u64)
                .min(self.context.limit_ns(self.plan)),
            cancelled: &|| self.context.cancelled(),
        };
        let (stream, stages) = client::open(self.plan, &deadline)?;
        // Where it was not asked for, the moment of the tunnel.
        let replied = if self.plan.spec.first_reply {
            self.first_reply(stream, deadline.at_ns)?
        } else {
            stages.connected
        };
        let logged_in = stages.logged_in.unwrap_or(stages.greeted);
        Ok(Done {
            began_ns: stages.began,
            ended_ns: replied,
            bytes: 0,
            parts: [
                Some(stages.dialled - stages.began),
                Some(stages.greeted - stages.dialled),
                stages.logged_in.map(|moment| moment - stages.greeted),
                Some(stages.connected - logged_in),
                Some(replied - stages.connected),
            ],
        })
    }
}

impl Handshake<'_> {
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
