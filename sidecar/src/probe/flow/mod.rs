//! Flows: tunnels that are kept full for a time, or not at all, with small requests on the same tunnels at a fixed rate.
//!
//! Each tunnel has a thread. After the measured part, the tunnels stay as full as before until the last answer is here, at most for
//! `timeout`. A tunnel *died* if it ended, or if no bytes came through it for `stall` before the probe ended. All requests of a dead tunnel
//! that were due count as failed. [`crate::echo::flow`] describes the bytes; the far end's engine is `blocking`.

mod line;
mod progress;

use socket2::SockRef;

use super::context::Context;
use super::gate::Gate;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Died, Flow, FlowTunnel, Outcome};
use super::plan::Plan;
use super::socks5::client::{self, Deadline};
use super::stream::Stream;
use super::tally::Tally;
use crate::echo::flow::UNSENT_BYTES;
use crate::net::clock::{now_ns, seconds, to_unix_us};
use crate::net::pace::wait_until;
use line::{Ended, Line, Times};
use progress::{BUCKET_NS, merged};

/// Receive buffer of a tunnel that the probe does not read, bytes. A small buffer is soon full.
const UNREAD_BYTES: usize = 16 * 1024;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let mut streams = Vec::new();
    let mut unopened: Vec<ErrorKind> = Vec::new();
    for _ in 0..plan.spec.connections {
        let deadline = Deadline::of_handshake(plan, context);
        match client::open(plan, &deadline) {
            Ok((stream, _)) => {
                make_ready(plan, &stream)?;
                streams.push(stream);
            }
            Err(error) if streams.is_empty() => return Err(error),
            Err(error) => unopened.push(error.kind),
        }
    }
    let (times, ended) = all_at_once(plan, context, &streams)?;
    let received = ended.iter().map(|line| line.progress.as_slice());
    let bytes = merged(received, times.whole_ns());
    let ended = ended.into_iter().map(|line| (line.tunnel, line.tally));
    let (mut tunnels, tallies): (Vec<FlowTunnel>, Vec<Tally>) = ended.unzip();
    let mut tally = Tally::merged(tallies, plan.spec.keep);
    for kind in unopened {
        tally.errors.add(kind, plan.flow.marks());
        tunnels.push(FlowTunnel {
            died: Some(Died { kind, at_s: 0.0 }),
            ..FlowTunnel::default()
        });
    }
    let (from, to) = (times.measured_ns - times.began_ns, times.whole_ns());
    tally.bytes = progress::between(&bytes, from, to);
    let mut outcome = tally.outcome(plan, context, streams.len() as u64);
    outcome.flow = Some(Flow {
        began_unix_us: to_unix_us()(times.began_ns),
        measured_from_s: seconds(from),
        bucket_ms: BUCKET_NS / 1_000_000,
        bytes,
        tunnels,
    });
    Ok(outcome)
}

fn make_ready(plan: &Plan, stream: &Stream) -> Result<(), ProbeError> {
    let socket = SockRef::from(stream);
    if let Some(name) = &plan.flow.congestion {
        let set = socket.set_tcp_congestion(name.as_bytes());
        set.map_err(|error| ProbeError::io(format_args!("congestion control {name}"), &error))?;
    }
    let set = || {
        socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
        if !plan.flow.reads {
            socket.set_recv_buffer_size(UNREAD_BYTES)?;
        }
        stream.socket().set_nonblocking(true)
    };
    set().map_err(|error| ProbeError::io("socket", &error))
}

/// One thread per tunnel; all begin together.
fn all_at_once(
    plan: &Plan,
    context: &Context,
    streams: &[Stream],
) -> Result<(Times, Vec<Ended>), ProbeError> {
    let start = Gate::default();
    let began = std::sync::OnceLock::new();
    let (start, began) = (&start, &began);
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let works = streams.iter().map(|stream| {
            move || {
                start
                    .pass()
                    .then(|| Line::run(plan, context, stream, *began.get_or_init(Times::default)))
            }
        });
        let Some(threads) = start.start(scope, works) else {
            return Vec::new();
        };
        start.gather(streams.len());
        let times = *began.get_or_init(|| Times::new(plan, now_ns()));
        start.open();
        let stopped = |now| context.must_stop(now).is_some();
        wait_until(times.measured_ns, plan.spec.wait, stopped);
        context.measured_begins();
        wait_until(times.end_ns, plan.spec.wait, stopped);
        context.measured_ended();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.flatten().flatten().collect()
    });
    start.result()?;
    Ok((began.get().copied().unwrap_or_default(), ended))
}

#[cfg(test)]
mod tests;
