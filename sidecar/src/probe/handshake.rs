//! Times the stages from TCP dial to a usable tunnel, or to the first payload back. Up to 64 threads run, each with one tunnel at a time.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::context::Context;
use super::far_end::{ANY, Bounds, Carried};
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Granted, Outcome};
use super::plan::Plan;
use super::socks5::client::{self, Deadline};
use super::stream::Stream;
use super::threads::{self, Done, Worker};
use super::wire::{Broken, Wire};
use crate::echo::faults::FAREWELL;
use crate::lock::lock;
use crate::net::clock::now_ns;

/// How long the other end may take to close a tunnel that this one has closed.
const TEARDOWN: Duration = Duration::from_millis(100);
/// After this many teardowns in a row without an end, the probe no longer waits for one: the proxy keeps half a tunnel open,
const ENDLESS: u32 = 3;
/// and gets this long for the whole one.
const PAUSE: Duration = Duration::from_millis(1);

const STAGES: [&str; 6] = ["dial", "tls", "greeting", "auth", "connect", "first_reply"];

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    // The far end cannot distinguish tunnels of the same time.
    let alone = plan.spec.connections == 1;
    let granted = Mutex::new(Granted::default());
    let worker = || Handshake {
        plan,
        context,
        opened: None,
        endless: 0,
        granted: alone.then_some(&granted),
    };
    let mut outcome = threads::run(plan, context, STAGES, worker)?;
    let granted = granted.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.granted = (granted.tunnels > 0).then_some(granted);
    let login = plan
        .proxy
        .as_ref()
        .is_some_and(|proxy| proxy.login.is_some());
    outcome.series.retain(|series| match series.name {
        "total" | "dial" | "lateness" => true,
        "tls" => plan.tls().is_some(),
        "auth" => login && series.count > 0,
        "first_reply" => plan.spec.first_reply,
        _ => plan.proxy.is_some(),
    });
    Ok(outcome)
}

struct Handshake<'a> {
    plan: &'a Plan,
    context: &'a Context,
    /// The tunnel of the operation before.
    opened: Option<Stream>,
    /// Teardowns in a row without an end.
    endless: u32,
    granted: Option<&'a Mutex<Granted>>,
}

impl Worker<{ STAGES.len() }> for Handshake<'_> {
    /// Closes the tunnel of the previous operation, and waits until the proxy closes its side. Otherwise the proxy's work for one tunnel
    /// would be in the greeting of the next.
    fn prepare(&mut self) -> Result<(), ProbeError> {
        if let Some(stream) = self.opened.take() {
            self.tear_down(stream);
        }
        Ok(())
    }

    fn operate(&mut self) -> Result<Done<{ STAGES.len() }>, ProbeError> {
        let before = self.arrived();
        let deadline = Deadline::of_handshake(self.plan, self.context);
        let (stream, stages) = client::open(self.plan, &deadline)?;
        self.note_grant(before);
        // Without a first payload, the moment of the tunnel.
        let (stream, replied) = if self.plan.spec.first_reply {
            self.first_reply(stream, deadline.at_ns)?
        } else if self.plan.spec.half_close {
            let ended = last_answer(&stream, self.plan, self.context)?;
            (stream, ended)
        } else {
            self.context.carry(Carried::opened());
            (stream, stages.connected)
        };
        self.opened = Some(stream);
        let logged_in = stages.logged_in.unwrap_or(stages.greeted);
        Ok(Done {
            began_ns: stages.began,
            ended_ns: replied,
            bytes: 0,
            parts: [
                Some(stages.dialled - stages.began),
                Some(stages.secured - stages.dialled),
                Some(stages.greeted - stages.secured),
                stages.logged_in.map(|moment| moment - stages.greeted),
                Some(stages.connected - logged_in),
                Some(replied - stages.connected),
            ],
        })
    }
}

impl Handshake<'_> {
    /// Connections that have reached the far end; none where the far end cannot distinguish them.
    fn arrived(&self) -> Option<u64> {
        self.granted.and_then(|_| self.context.arrived())
    }

    /// Called right after a tunnel's grant. `before`: the connections at the far end before the tunnel was asked for.
    fn note_grant(&self, before: Option<u64>) {
        let (Some(granted), Some(before), Some(now)) = (self.granted, before, self.arrived())
        else {
            return;
        };
        let mut granted = lock(granted);
        granted.tunnels += 1;
        granted.before_far_end += u64::from(now <= before);
    }

    fn tear_down(&mut self, stream: Stream) {
        if self.endless >= ENDLESS {
            drop(stream);
            std::thread::sleep(PAUSE);
        } else if ends(&stream) {
            self.endless = 0;
        } else {
            self.endless += 1;
        }
    }

    /// The tunnel, and the moment at which the first payload had come back whole.
    fn first_reply(&self, stream: Stream, deadline_ns: u64) -> Result<(Stream, u64), ProbeError> {
        let mut wire = Wire::new(stream, self.plan)?;
        let pattern = self.plan.pattern();
        let mut request = vec![0; self.plan.spec.payload_bytes as usize];
        pattern.fill(FIRST, &mut request);
        let over = |now: u64| {
            (now >= deadline_ns || self.context.cancelled())
                .then_some(Broken::Failed(ErrorKind::Timeout))
        };
        let failed = |kind: ErrorKind| ProbeError::new(kind, "the first payload of a tunnel");
        let answered = match wire.exchange(&request, over) {
            Ok(answer) if pattern.matches(FIRST, answer) => Ok(now_ns()),
            Ok(_) => Err(failed(ErrorKind::Corrupted)),
            Err(Broken::Failed(kind)) => Err(failed(kind)),
            Err(Broken::Stopped) => Err(failed(ErrorKind::Timeout)),
        };
        self.context.carry(wire.carried());
        answered.map(|replied| (wire.into_stream(), replied))
    }
}

/// Closes this end, and returns whether the other end closed in time.
fn ends(stream: &Stream) -> bool {
    let until = now_ns() + TEARDOWN.as_nanos() as u64;
    let (mut stream, socket) = (stream, stream.socket());
    let closed = socket
        .set_nonblocking(false)
        .and_then(|()| socket.set_read_timeout(Some(TEARDOWN)))
        .and_then(|()| stream.shutdown(Shutdown::Write));
    // A connection that was reset has ended.
    if closed.is_err() {
        return true;
    }
    let mut rest = [0; 1024];
    while now_ns() < until {
        match stream.read(&mut rest) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if ErrorKind::of_io(&error) == ErrorKind::Timeout => {}
            Err(_) => return true,
        }
    }
    false
}

/// Sequence number of the one payload that a tunnel carries.
const FIRST: u32 = 1;

/// Whether a tunnel passes the client's end (FIN) on and stays open the other way. The far end answers twice, each time after a delay: the
/// payload, and the client's end. Both answers mean that the end was passed on. The first alone means that the far end never saw it, and
/// none that the proxy closed both ways.
///
/// Sends a payload and the end, and returns the moment of the far end's last answer.
fn last_answer(mut stream: &Stream, plan: &Plan, context: &Context) -> Result<u64, ProbeError> {
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
