//! The far end sends objects on request: a page, or a segment of a stream (sidecar/README.md, Probes). Each connection has a thread, which
//! waits for all tunnels of the connection together. [`crate::echo::bulk`] describes the bytes.

mod lane;

use std::time::Duration;

use nix::poll::{PollTimeout, poll};

use super::context::Context;
use super::download::BUFFER;
use super::kinds::ProbeError;
use super::outcome::Outcome;
use super::plan::Plan;
use super::spec::FetchSpec;
use super::threads::{self, Done, Worker};
use crate::echo::bulk::Header;
use crate::net::clock::now_ns;
use crate::net::wait::{Wait, pause};
use lane::{Lane, Tools};

const PARTS: [&str; 1] = ["first_object"];
/// The longest wait at once, so that the thread sees a cancel.
const SLICE_NS: u64 = 100_000_000;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let worker = || Fetcher {
        plan,
        context,
        tools: Tools {
            plan,
            context,
            object: Header::new(&plan.transfer, plan.fetch.bytes, plan.tag),
            buffer: vec![0; BUFFER],
        },
        lanes: (0..plan.fetch.tunnels).map(|_| Lane::default()).collect(),
    };
    let mut outcome = threads::run(plan, context, PARTS, worker)?;
    // The time of a single object is the total.
    outcome
        .series
        .retain(|series| series.name != "first_object" || plan.fetch.objects > 1);
    Ok(outcome)
}

struct Fetcher<'a> {
    plan: &'a Plan,
    context: &'a Context,
    tools: Tools<'a>,
    lanes: Vec<Lane>,
}

impl Fetcher<'_> {
    /// Returns the moment at which the document was whole.
    fn fetch(&mut self, deadline_ns: u64) -> Result<u64, ProbeError> {
        self.lanes[0].begin(1, &mut self.tools)?;
        self.drive(deadline_ns)?;
        let document_ns = now_ns();
        for (index, lane) in (0..).zip(&mut self.lanes) {
            lane.begin(share(self.plan.fetch, index), &mut self.tools)?;
        }
        self.drive(deadline_ns)?;
        Ok(document_ns)
    }

    /// Goes on until no lane has anything under way.
    fn drive(&mut self, deadline_ns: u64) -> Result<(), ProbeError> {
        let late = || ProbeError::late("objects");
        while self.lanes.iter().any(Lane::busy) {
            let now = now_ns();
            if now >= deadline_ns || self.context.cancelled() {
                return Err(late());
            }
            if let Some(error) = self.lanes.iter().find_map(|lane| lane.late(self.plan, now)) {
                return Err(error);
            }
            for index in self.ready(deadline_ns - now)? {
                self.lanes[index].step(&mut self.tools)?;
            }
        }
        // An answer after the timeout is no success.
        if now_ns() >= deadline_ns {
            return Err(late());
        }
        Ok(())
    }

    /// Waits for some lanes, not much longer than `patience_ns`.
    fn ready(&self, patience_ns: u64) -> Result<Vec<usize>, ProbeError> {
        let wait = self.plan.spec.wait;
        let timeout = match wait {
            // The kernel counts in whole milliseconds.
            Wait::Block => {
                Duration::from_nanos(patience_ns.min(SLICE_NS)) + Duration::from_millis(1)
            }
            Wait::Spin | Wait::Yield => Duration::ZERO,
        };
        let lanes = self.lanes.iter().enumerate();
        let (indexes, mut awaited): (Vec<usize>, Vec<_>) = lanes
            .filter_map(|(index, lane)| Some((index, lane.awaited()?)))
            .unzip();
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::ZERO);
        match poll(&mut awaited, timeout) {
            Ok(0) | Err(nix::Error::EINTR) => pause(wait),
            Ok(_) => {}
            Err(error) => return Err(ProbeError::io("poll", &error.into())),
        }
        let ready = indexes.into_iter().zip(awaited);
        Ok(ready
            .filter(|(_, awaited)| awaited.any() == Some(true))
            .map(|(index, _)| index)
            .collect())
    }

    /// Ends the tunnels that are no longer usable, or all if the next operation opens its own.
    fn settle(&mut self) {
        for lane in &mut self.lanes {
            if lane.busy() || self.plan.fetch.fresh {
                lane.close(self.context);
            }
        }
    }
}

impl Drop for Fetcher<'_> {
    fn drop(&mut self) {
        for lane in &mut self.lanes {
            lane.close(self.context);
        }
    }
}

impl Worker<{ PARTS.len() }> for Fetcher<'_> {
    fn prepare(&mut self) -> Result<(), ProbeError> {
        if self.plan.fetch.fresh {
            return Ok(());
        }
        let opened = (self.lanes.iter_mut())
            .try_for_each(|lane| lane.begin(0, &mut self.tools))
            .and_then(|()| self.drive(u64::MAX));
        self.settle();
        opened
    }

    fn operate(&mut self) -> Result<Done<{ PARTS.len() }>, ProbeError> {
        let began_ns = now_ns();
        let fetched = self.fetch(began_ns + self.plan.timeout.as_nanos() as u64);
        let ended_ns = now_ns();
        self.settle();
        let document_ns = fetched?;
        let FetchSpec { bytes, objects, .. } = self.plan.fetch;
        Ok(Done {
            began_ns,
            ended_ns,
            bytes: bytes * objects,
            parts: [Some(document_ns - began_ns)],
        })
    }
}

/// How many of the objects after the document come over one of the tunnels. The spec alone decides this,
/// so that two systems carry the same.
fn share(fetch: FetchSpec, tunnel: u64) -> u64 {
    let objects = (1..fetch.objects).filter(|object| object % fetch.tunnels == tunnel);
    objects.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_comes_over_one_tunnel_and_each_tunnel_brings_one_at_least() {
        for (objects, tunnels, shares) in [
            (1, 1, &[0][..]),
            (4, 1, &[3]),
            (2, 2, &[0, 1]),
            (6, 6, &[0, 1, 1, 1, 1, 1]),
            (16, 6, &[2, 3, 3, 3, 2, 2]),
        ] {
            let fetch = FetchSpec {
                objects,
                tunnels,
                ..FetchSpec::default()
            };
            let all: Vec<u64> = (0..tunnels).map(|tunnel| share(fetch, tunnel)).collect();
            assert_eq!(all, shares, "{objects} over {tunnels}");
        }
    }
}
