//! Opens one of many tunnels on one thread: the handshake is a state machine over a non-blocking socket.

use std::io::{self, Read, Write};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::client::unknown_client;
use super::codec::{self, Address, Bad, Command, MAX_REPLY_BYTES, Method, Reply};
use crate::net::poller::Flags;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::plan::{Plan, Proxy};
use crate::probe::spec::ProbeKind;
use crate::probe::stream::{Stream, unsecured};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Dial,
    Tls,
    Greeting,
    Login,
    Request,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Dial => "dial",
            Self::Tls => "TLS handshake",
            Self::Greeting => "SOCKS greeting",
            Self::Login => "SOCKS login",
            Self::Request => "SOCKS request",
        }
    }
}

#[derive(Default)]
pub enum Tunnel {
    #[default]
    Down,
    Opening(Box<Opening>),
    Open(Stream),
}

pub struct Opening {
    pub stream: Stream,
    stage: Stage,
    out: Vec<u8>,
    sent: usize,
    answer: [u8; MAX_REPLY_BYTES],
    have: usize,
    /// The bound address in the reply that granted the request.
    pub bound: Option<Address>,
}

/// The probe's request: a tunnel, or an association.
fn request(plan: &Plan, proxy: &Proxy) -> Vec<u8> {
    match plan.spec.kind {
        ProbeKind::Associations => codec::request(Command::UdpAssociate, &unknown_client(proxy)),
        _ => codec::request(Command::Connect, &plan.target),
    }
}

impl Opening {
    /// Begins to dial.
    pub fn begin(plan: &Plan) -> Result<Self, ProbeError> {
        let hop = plan.first_hop();
        let address = hop.address;
        let dial = || -> io::Result<Socket> {
            let socket = Socket::new(
                Domain::for_address(address),
                Type::STREAM.nonblocking(),
                Some(Protocol::TCP),
            )?;
            socket.set_tcp_nodelay(true)?;
            match socket.connect(&address.into()) {
                Err(error) if error.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(error),
                _ => Ok(socket),
            }
        };
        let socket = dial().map_err(|error| ProbeError::io(format_args!("dial {hop}"), &error))?;
        let stream = Stream::new(socket.into(), plan.tls());
        Ok(Self {
            stream: stream.map_err(|error| unsecured(&error))?,
            stage: Stage::Dial,
            out: Vec::new(),
            sent: 0,
            answer: [0; MAX_REPLY_BYTES],
            have: 0,
            bound: None,
        })
    }

    /// Goes on when the socket is ready. Returns true if the tunnel is open.
    pub fn step(&mut self, plan: &Plan) -> Result<bool, ProbeError> {
        if self.stage == Stage::Dial {
            match SockRef::from(&self.stream).take_error() {
                Ok(None) => {}
                Ok(Some(error)) | Err(error) => return Err(self.failed(plan, &error)),
            }
            self.stage = Stage::Tls;
        }
        if self.stage == Stage::Tls {
            let Some(proxy) = &plan.proxy else {
                return Ok(true);
            };
            let secured = self.stream.handshake();
            if !secured.map_err(|error| self.failed(plan, &error))? {
                return Ok(false);
            }
            let greeting = codec::greeting(proxy.login.is_some()).to_vec();
            self.next(Stage::Greeting, greeting);
        }
        loop {
            if !self.flush(plan)? || !self.read(plan)? {
                return Ok(false);
            }
            if self.advance(plan)? {
                return Ok(true);
            }
        }
    }

    fn next(&mut self, stage: Stage, out: Vec<u8>) {
        self.stage = stage;
        self.out = out;
        self.sent = 0;
        self.have = 0;
    }

    fn flush(&mut self, plan: &Plan) -> Result<bool, ProbeError> {
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(self.failed(plan, &error)),
            }
        }
        Ok(true)
    }

    /// Reads some of the answer. Returns false if no bytes have come yet.
    fn read(&mut self, plan: &Plan) -> Result<bool, ProbeError> {
        let wanted = match self.stage {
            Stage::Request => MAX_REPLY_BYTES,
            _ => 2,
        };
        match self.stream.read(&mut self.answer[self.have..wanted]) {
            Ok(0) => Err(self.failed(plan, &io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.have += count;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(self.failed(plan, &error)),
        }
    }

    /// Parses the bytes read so far. Returns true if the tunnel is open.
    fn advance(&mut self, plan: &Plan) -> Result<bool, ProbeError> {
        if self.stage == Stage::Request {
            return match codec::reply(&self.answer[..self.have]) {
                Ok(Reply::Granted(bound, used)) if used == self.have => {
                    self.bound = Some(bound);
                    Ok(true)
                }
                Ok(Reply::Granted(..)) => Err(self.garbage("there is more than a reply")),
                Ok(Reply::Refused(code)) => {
                    let kind = ErrorKind::of_reply(code);
                    let what = format!("refused with reply {code} ({kind})");
                    Err(self.refused(kind, &what))
                }
                Err(Bad::Short) => Ok(false),
                Err(bad) => Err(self.garbage(bad)),
            };
        }
        let (Some(answer), Some(proxy)) =
            (self.answer[..self.have].first_chunk::<2>(), &plan.proxy)
        else {
            return Ok(false);
        };
        if self.stage == Stage::Login {
            if !codec::login_answer(*answer).map_err(|bad| self.garbage(bad))? {
                let what = "refused user name or password";
                return Err(self.refused(ErrorKind::SocksAuthFailed, what));
            }
            self.next(Stage::Request, request(plan, proxy));
            return Ok(false);
        }
        let method = codec::method(*answer, proxy.login.is_some());
        match (method.map_err(|bad| self.garbage(bad))?, &proxy.login) {
            (Method::None, _) => self.next(Stage::Request, request(plan, proxy)),
            (Method::Password, Some((username, password))) => {
                self.next(Stage::Login, codec::login(username, password));
            }
            _ => {
                let what = "takes none of the methods that were offered";
                return Err(self.refused(ErrorKind::SocksNoMethod, what));
            }
        }
        Ok(false)
    }

    pub fn wanted(&self) -> Flags {
        if self.stage == Stage::Dial || self.stream.wants_write() || self.sent < self.out.len() {
            Flags::OUT
        } else {
            Flags::IN
        }
    }

    /// The error of an opening that took too long.
    pub fn late(&self, plan: &Plan) -> ProbeError {
        self.failed(plan, &io::ErrorKind::TimedOut.into())
    }

    fn failed(&self, plan: &Plan, error: &io::Error) -> ProbeError {
        match self.stage {
            Stage::Dial => ProbeError::io(format_args!("dial {}", plan.first_hop()), error),
            Stage::Tls => unsecured(error),
            stage => ProbeError::io(stage.name(), error),
        }
    }

    fn garbage(&self, why: impl std::fmt::Display) -> ProbeError {
        ProbeError::new(
            ErrorKind::SocksGarbage,
            format!("{}: the answer is not SOCKS5: {why}", self.stage.name()),
        )
    }

    fn refused(&self, kind: ErrorKind, what: &str) -> ProbeError {
        ProbeError::new(kind, format!("{}: the proxy {what}", self.stage.name()))
    }
}
