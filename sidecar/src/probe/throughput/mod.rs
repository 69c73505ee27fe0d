//! Bulk transfer: a thread per connection and direction, large writes and reads.
//!
//! Each connection makes one measured transfer per direction, for any `count`. `warmup` is rounded up to whole transfers of every
//! connection and direction; a failed one ends the probe. A transfer "up" lasts until the far end has confirmed its bytes, and `timeout` is
//! the longest time without progress. [`crate::echo::bulk`] describes the checks.

mod line;

use std::sync::OnceLock;

use super::context::Context;
use super::far_end::Moved;
use super::gate::Gate;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Outcome, Stopped};
use super::plan::Plan;
use super::recorder::Series;
use super::socks5::client::{self, Deadline};
use super::stream::Stream;
use super::tally::Tally;
use crate::net::clock::now_ns;
use crate::net::wait::Wait;
use line::{Cut, Line};

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let planned = plan.operations();
    let directions = planned / plan.spec.connections;
    let mut opened = Tally::new(series(plan, planned));
    let streams = open_all(plan, context, directions, &mut opened)?;
    let moved: Vec<Moved> = streams.iter().map(|_| Moved::default()).collect();
    let lines: Vec<(&Stream, &Moved)> = streams.iter().zip(&moved).collect();
    for _ in 0..plan.spec.warmup.div_ceil(planned) {
        if opened.stopped.is_none() {
            let warm_up = round(plan, context, &lines, false)?;
            opened.stopped = warm_up.stopped;
            // The connection is in the middle of a transfer, so no other transfer can follow.
            if let Some(kind) = warm_up.errors.into_map().into_keys().next() {
                let what = format!("warm-up: a transfer failed ({kind})");
                return Err(ProbeError::new(kind, what));
            }
        }
    }
    let carried = || {
        moved
            .iter()
            .for_each(|moved| context.carry(moved.carried()))
    };
    if opened.stopped.is_some() {
        carried();
        return Ok(opened.outcome(plan, context, planned));
    }
    context.measured_begins();
    let tally = round(plan, context, &lines, true);
    context.measured_ended();
    carried();
    let mut tally = tally?;
    tally.errors.merge(opened.errors);
    Ok(tally.outcome(plan, context, planned))
}

fn series(plan: &Plan, count: u64) -> Vec<Series> {
    vec![Series::new("transfer", count, plan.spec.keep)]
}

/// Opens the connections one after the other. A connection that cannot be opened counts one failed
/// operation per direction. If the first cannot be opened, the probe fails.
fn open_all(
    plan: &Plan,
    context: &Context,
    directions: u64,
    tally: &mut Tally,
) -> Result<Vec<Stream>, ProbeError> {
    let mut streams = Vec::new();
    for _ in 0..plan.spec.connections {
        tally.stopped = context.must_stop(now_ns());
        if tally.stopped.is_some() {
            let opened = streams.len() as u64 * directions + tally.attempted();
            cut(tally, plan.operations() - opened);
            break;
        }
        let deadline = Deadline::of_handshake(plan, context);
        let opened = client::open(plan, &deadline).and_then(|(stream, _)| {
            stream
                .socket()
                .set_nonblocking(plan.spec.wait != Wait::Block)
                .map_err(|error| ProbeError::io("connection", &error))?;
            Ok(stream)
        });
        match opened {
            Ok(stream) => streams.push(stream),
            Err(error) if streams.is_empty() => return Err(error),
            Err(error) => tally.errors.add(error.kind, directions),
        }
    }
    Ok(streams)
}

/// One transfer per connection and direction, all at once. Fails if a thread cannot be started.
fn round(
    plan: &Plan,
    context: &Context,
    lines: &[(&Stream, &Moved)],
    measured: bool,
) -> Result<Tally, ProbeError> {
    let transfer = &plan.transfer;
    let directions = transfer.direction.count();
    let bytes = match transfer.warmup_bytes {
        Some(bytes) if !measured => bytes,
        _ => transfer.bytes,
    };
    let parts: &[Part] = match directions {
        1 => &[Part::Whole],
        _ => &[Part::Sender, Part::Receiver],
    };
    let failures: Vec<OnceLock<Cut>> = lines.iter().map(|_| OnceLock::new()).collect();
    let start = &Gate::default();
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let works = lines
            .iter()
            .zip(&failures)
            .flat_map(|(&(stream, moved), failure)| {
                let line = Line {
                    plan,
                    context,
                    stream,
                    bytes,
                    moved,
                    failure,
                };
                let work = move |part| move || transfers(line, part, start, measured);
                parts.iter().map(work)
            });
        let Some(threads) = start.start(scope, works) else {
            return Vec::new();
        };
        start.gather(threads.len());
        start.open();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.flatten().flatten().collect()
    });
    start.result()?;
    Ok(Tally::merged(tallies, plan.spec.keep))
}

/// The part of one thread in the transfers of a connection.
enum Part {
    Whole,
    Sender,
    /// Counts both directions.
    Receiver,
}

/// Returns `None` if a thread could not be started.
fn transfers(line: Line<'_>, part: &Part, start: &Gate, measured: bool) -> Option<Tally> {
    let mut tally = Tally::new(series(line.plan, 2));
    if !start.pass() {
        return None;
    }
    let began_ns = tally.begin();
    match part {
        Part::Whole => {
            let moved = if line.plan.transfer.direction.up() {
                line.send().and_then(|()| line.confirmed())
            } else {
                line.ask().and_then(|()| line.receive())
            };
            note(line, &mut tally, began_ns, moved, measured);
        }
        Part::Sender => {
            let _ = line.send().map_err(|cut| line.fail(cut));
        }
        Part::Receiver => {
            for part in [Line::receive, Line::confirmed] {
                let moved = part(line).map_err(|cut| line.fail(cut));
                note(line, &mut tally, began_ns, moved, measured);
            }
        }
    }
    tally.end();
    Some(tally)
}

/// Transfers under way at the probe's end: the probe's end alone bounds the time of a transfer.
fn cut(tally: &mut Tally, transfers: u64) {
    if tally.stopped == Some(Stopped::Limit) {
        tally.errors.add(ErrorKind::Cut, transfers);
    }
}

fn note(line: Line<'_>, tally: &mut Tally, began_ns: u64, result: Result<(), Cut>, measured: bool) {
    let now = now_ns();
    match result {
        Ok(()) => {
            tally.series[0].record(now, now - began_ns);
            tally.success(line.bytes);
        }
        Err(Cut::Failed(kind)) => tally.errors.add(kind, 1),
        Err(Cut::Stopped(stopped)) => {
            tally.stopped = tally.stopped.or(Some(stopped));
            cut(tally, 1);
        }
    }
    tally.end_ns = now;
    if measured {
        line.context.add_done(1);
    }
}
