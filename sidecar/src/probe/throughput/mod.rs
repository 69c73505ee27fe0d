//! Bulk transfer: a thread per connection and direction, large writes and reads.
//!
//! Each connection makes one measured transfer per direction, whatever `count` is; an operation is one
//! transfer. `warmup` is rounded up to whole transfers of every connection and direction, on the same
//! connections. A transfer "up" lasts from its start until the far end has confirmed its bytes, one
//! "down" until the last byte is here; in "both" the confirmation follows the far end's own bytes. The
//! socket buffers are left to the kernel. `timeout` is the longest time without progress. What is
//! checked is said in [`crate::echo::bulk`], and the far end has to be an echo server of ours.

mod transfer;

use std::net::TcpStream;
use std::sync::Barrier;

use super::clock::now_ns;
use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Outcome, Stopped};
use super::plan::Plan;
use super::recorder::Series;
use super::socks5::client::{self, Deadline};
use super::spec::Wait;
use super::tally::Tally;
use transfer::{Line, Transferred};

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let direction = plan.transfer.direction;
    let directions = 1 + u64::from(direction.up() && direction.down());
    let planned = plan.spec.connections * directions;
    let mut tally = Tally::new(vec![Series::new("transfer", planned, plan.spec.keep)]);
    let streams = open_all(plan, context, &mut tally, directions)?;
    let mut stopped = context.must_stop(plan, now_ns());
    for _ in 0..plan.spec.warmup.div_ceil(planned) {
        if stopped.is_none() {
            let done = round(plan, context, &streams, false);
            // A connection that fails here fails again below, where it counts.
            stopped = done.into_iter().find_map(|done| done.stopped);
        }
    }
    let mut cpu_ns = 0;
    if stopped.is_none() {
        context.measured_begins();
        tally.begin();
        let done = round(plan, context, &streams, true);
        tally.end();
        context.measured_ended();
        let began_ns = done.iter().map(|done| done.began_ns).min();
        for done in done {
            cpu_ns += done.cpu_ns;
            stopped = stopped.or(done.stopped);
            for ended in done.ended {
                tally.end_ns = tally.end_ns.max(now_ns().min(ended.at_ns));
                match ended.result {
                    Ok(bytes) => {
                        tally.series[0].record(ended.at_ns - done.began_ns);
                        tally.success(bytes);
                    }
                    Err(kind) => tally.errors.add(kind, 1),
                }
            }
        }
        if let Some(began_ns) = began_ns {
            tally.starts(began_ns);
        }
    }
    tally.stopped = stopped;
    tally.add_cpu(cpu_ns);
    Ok(tally.outcome(plan, context, planned))
}
