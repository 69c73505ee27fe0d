//! Whether a tunnel passes the client's end (FIN) on and stays open the other way.
//!
//! The far end answers twice, each time after a delay: the payload, and the client's end. Both answers mean that the end was passed on.
//! The first alone means that the far end never saw it, and none that the proxy closed both ways.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use super::context::Context;
use super::far_end::{ANY, Bounds, Carried};
use super::kinds::{ErrorKind, ProbeError};
use super::plan::Plan;
use super::stream::Stream;
use crate::echo::faults::FAREWELL;
use crate::net::clock::now_ns;

/// Sequence number of the one payload that a tunnel carries.
const FIRST: u32 = 1;

/// Sends a payload and the end, and returns the moment of the far end's last answer.
pub fn last_answer(mut stream: &Stream, plan: &Plan, context: &Context) -> Result<u64, ProbeError> {
    let size = plan.spec.payload_bytes as usize;
    let mut request = vec![0; size];
    plan.pattern().fill(FIRST, &mut request);
    stream
        .write_all(&request)
        .and_then(|()| stream.shutdown(Shutdown::Write))
        .map_err(|error| ProbeError::io("the payload and the end", &error))?;
    let mut answer = vec![0; size + FAREWELL.len()];
    let (have, end) = read(stream, &mut answer, plan, context);
    let up = Bounds::new(if have > 0 { size as u64 } else { 0 }, size as u64);
    context.carry(Carried::tunnel(up, Bounds::new(have as u64, ANY), have > 0));
    let failed = |kind, message: &str| Err(ProbeError::new(kind, message));
    if have < size {
        return failed(end, "half-close: the answer after the client's end was cut");
    }
    if !plan.pattern().matches(FIRST, &answer[..size]) {
        return failed(ErrorKind::Corrupted, "half-close: the answer is wrong");
    }
    if answer[size..] != *FAREWELL {
        return failed(
            ErrorKind::Stalled,
            "half-close: the far end did not see the client's end",
        );
    }
    Ok(now_ns())
}

/// Reads until the buffer is full. Returns the number of bytes, and what ended the wait if it is not.
fn read(
    mut stream: &Stream,
    into: &mut [u8],
    plan: &Plan,
    context: &Context,
) -> (usize, ErrorKind) {
    let until = now_ns() + plan.timeout.as_nanos() as u64;
    let mut have = 0;
    while have < into.len() && now_ns() < until && !context.cancelled() {
        match stream.read(&mut into[have..]) {
            Ok(0) => return (have, ErrorKind::Closed),
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => match ErrorKind::of_io(&error) {
                ErrorKind::Timeout => {}
                kind => return (have, kind),
            },
        }
    }
    (have, ErrorKind::Timeout)
}
