//! Opens a tunnel over a blocking socket, and notes the moment of each stage. Each wait has a deadline.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::codec::{Address, MAX_REPLY_BYTES};
use super::dialogue::{Answer, Dialogue, Stage};
use crate::net::clock::now_ns;
use crate::probe::context::Context;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::plan::{Plan, Proxy};
use crate::probe::reach::Reached;
use crate::probe::stream::{Stream, unsecured};
use crate::probe::tls::Tls;

/// The longest wait in the kernel at once, so that the thread sees a cancel.
const SLICE: Duration = Duration::from_millis(100);

/// An equal part of a timeout, at most [`SLICE`], so that waits of this length end exactly at the
/// timeout.
pub fn slice(timeout: Duration) -> Duration {
    let parts = timeout.as_nanos().div_ceil(SLICE.as_nanos()).max(1);
    timeout / parts as u32
}

/// Moments of [`now_ns`]. A stage that did not take place has the moment of the previous one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stages {
    pub began: u64,
    pub dialled: u64,
    /// When TLS was ready.
    pub secured: u64,
    pub greeted: u64,
    /// Absent if the proxy asked for no login.
    pub logged_in: Option<u64>,
    pub connected: u64,
}

/// When a wait ends: its moment, or sooner when the probe is cancelled.
pub struct Deadline<'a> {
    pub at_ns: u64,
    context: &'a Context,
}

impl<'a> Deadline<'a> {
    /// The deadline of a tunnel that is opened now.
    pub fn of_handshake(plan: &Plan, context: &'a Context) -> Self {
        Self {
            at_ns: now_ns() + plan.handshake_timeout.as_nanos() as u64,
            context,
        }
    }

    fn over(&self) -> bool {
        now_ns() >= self.at_ns || self.context.cancelled()
    }

    /// Called after each part of an answer: a peer that trickles would otherwise keep a wait open
    /// without end.
    fn goes_on(&self, what: &str, have: usize) -> Result<(), ProbeError> {
        if have > 0 && self.over() {
            return Err(ProbeError::late(what));
        }
        Ok(())
    }
}

/// A TCP connection with TCP_NODELAY and with [`SLICE`] as the time of each wait in the kernel, and
/// the moment at which its connect began.
fn dial(to: &Reached, deadline: &Deadline<'_>) -> Result<(TcpStream, u64), ProbeError> {
    let address = to.address;
    let failed = |error: &io::Error| ProbeError::io(format_args!("dial {to}"), error);
    let open = || -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_read_timeout(Some(SLICE))?;
        socket.set_write_timeout(Some(SLICE))?;
        Ok(socket)
    };
    let socket = open().map_err(|error| failed(&error))?;
    let to = address.into();
    let began = now_ns();
    loop {
        match socket.connect(&to) {
            Ok(()) => return Ok((socket.into(), began)),
            Err(error) if error.raw_os_error() == Some(nix::libc::EISCONN) => {
                return Ok((socket.into(), began));
            }
            // The time of one wait is over (socket(7), SO_SNDTIMEO); a second connect waits on.
            Err(error) if waits_on(&error) => {
                if deadline.over() {
                    return Err(failed(&io::ErrorKind::TimedOut.into()));
                }
            }
            Err(error) => return Err(failed(&error)),
        }
    }
}

fn waits_on(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(nix::libc::EINPROGRESS | nix::libc::EALREADY | nix::libc::EAGAIN | nix::libc::EINTR)
    )
}

/// Dials, and starts TLS on the connection if the plan asks for TLS.
fn secure(
    to: &Reached,
    tls: Option<&Tls>,
    deadline: &Deadline<'_>,
) -> Result<(Stream, Stages), ProbeError> {
    let (socket, began) = dial(to, deadline)?;
    let dialled = now_ns();
    let stream = Stream::new(socket, tls).map_err(|error| unsecured(&error))?;
    shake_hands(&stream, deadline, unsecured)?;
    let secured = tls.map_or(dialled, |_| now_ns());
    let stages = Stages {
        began,
        dialled,
        secured,
        greeted: secured,
        logged_in: None,
        connected: secured,
    };
    Ok((stream, stages))
}

fn shake_hands(
    stream: &Stream,
    deadline: &Deadline<'_>,
    failed: impl Fn(&io::Error) -> ProbeError,
) -> Result<(), ProbeError> {
    while !stream.handshake().map_err(|error| failed(&error))? {
        if deadline.over() {
            return Err(failed(&io::ErrorKind::TimedOut.into()));
        }
    }
    Ok(())
}

/// Starts TLS with the far end, inside the tunnel, if the plan asks for it.
fn within(stream: Stream, plan: &Plan, deadline: &Deadline<'_>) -> Result<Stream, ProbeError> {
    let (Some(tls), Stream::Plain(socket)) = (&plan.inner, stream) else {
        return Err(ProbeError::new(ErrorKind::Tls, "the tunnel is in TLS"));
    };
    let failed = |error: &io::Error| ProbeError::io("TLS inside the tunnel", error);
    let stream = Stream::new(socket, Some(tls)).map_err(|error| failed(&error))?;
    shake_hands(&stream, deadline, failed)?;
    deadline.context.negotiated(stream.session());
    Ok(stream)
}

/// Opens a tunnel to the plan's target through its proxy, or a direct connection if the plan has no
/// proxy. TLS inside begins after the stage `connected`.
pub fn open(plan: &Plan, deadline: &Deadline<'_>) -> Result<(Stream, Stages), ProbeError> {
    let (stream, mut stages) = secure(plan.first_hop(), plan.tls(), deadline)?;
    if let Some(dialogue) = Dialogue::of(plan) {
        ask(&stream, &dialogue, deadline, &mut stages)?;
    }
    if plan.inner.is_some() {
        return Ok((within(stream, plan, deadline)?, stages));
    }
    Ok((stream, stages))
}

/// Asks the proxy for a UDP association. Returns its control connection, which must stay open, and the reply's address, unchecked.
pub fn ask_for_udp(
    proxy: &Proxy,
    deadline: &Deadline<'_>,
) -> Result<(Stream, Address), ProbeError> {
    let (control, mut stages) = secure(&proxy.at, proxy.tls.as_ref(), deadline)?;
    let dialogue = Dialogue {
        proxy,
        target: None,
    };
    let bound = ask(&control, &dialogue, deadline, &mut stages)?;
    Ok((control, bound))
}

/// The relay's address for datagrams, by the proxy's reply.
pub fn relay_of(bound: &Address, proxy: &Proxy) -> Result<SocketAddr, ProbeError> {
    let garbage = |message: String| ProbeError::new(ErrorKind::SocksGarbage, message);
    let relay = match bound {
        Address::Ip(address) => *address,
        Address::Domain(name, port) => {
            let ip = relay_ip(name, proxy).ok_or_else(|| {
                garbage(format!(
                    "UDP associate: the relay {name:?} is neither an address nor the proxy"
                ))
            })?;
            SocketAddr::new(ip, *port)
        }
    };
    if relay.port() == 0 {
        return Err(garbage(
            "UDP associate: the proxy answered with port 0".into(),
        ));
    }
    if relay.ip().is_unspecified() {
        return Ok(SocketAddr::new(proxy.at.address.ip(), relay.port()));
    }
    Ok(relay)
}

/// A proxy may name its relay. The probe does not look up such a name, because a lookup has no deadline. An empty name means the proxy,
/// like 0.0.0.0.
fn relay_ip(name: &str, proxy: &Proxy) -> Option<IpAddr> {
    if name.is_empty() || name.eq_ignore_ascii_case(&proxy.host) {
        return Some(proxy.at.address.ip());
    }
    if name.eq_ignore_ascii_case("localhost") {
        return Some(match proxy.at.address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    name.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// The whole handshake. Returns the bound address of the reply that grants the request.
fn ask(
    stream: &Stream,
    dialogue: &Dialogue<'_>,
    deadline: &Deadline<'_>,
    stages: &mut Stages,
) -> Result<Address, ProbeError> {
    let mut stage = Stage::Greeting;
    loop {
        let what = dialogue.name(stage);
        send(stream, what, &dialogue.message(stage), deadline)?;
        let mut bytes = [0; MAX_REPLY_BYTES];
        let mut have = 0;
        let answer = loop {
            match dialogue.read(stage, &bytes[..have])? {
                Answer::Cut => {
                    deadline.goes_on(what, have)?;
                    let room = &mut bytes[have..stage.most()];
                    have += receive_some(stream, what, room, deadline)?;
                }
                answer => break answer,
            }
        };
        let now = now_ns();
        match stage {
            Stage::Greeting => stages.greeted = now,
            Stage::Login => stages.logged_in = Some(now),
            Stage::Request => stages.connected = now,
        }
        match answer {
            Answer::Granted(bound) => return Ok(bound),
            Answer::Next(next) => stage = next,
            Answer::Cut => {}
        }
    }
}

fn send(
    mut stream: &Stream,
    what: &str,
    mut bytes: &[u8],
    deadline: &Deadline<'_>,
) -> Result<(), ProbeError> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) if waits_on(&error) && !deadline.over() => {}
            Err(error) => return Err(ProbeError::io(what, &error)),
        }
    }
    Ok(())
}

fn receive_some(
    mut stream: &Stream,
    what: &str,
    bytes: &mut [u8],
    deadline: &Deadline<'_>,
) -> Result<usize, ProbeError> {
    loop {
        match stream.read(bytes) {
            Ok(0) => return Err(ProbeError::io(what, &io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => return Ok(count),
            Err(error) if waits_on(&error) && !deadline.over() => {}
            Err(error) => return Err(ProbeError::io(what, &error)),
        }
    }
}
