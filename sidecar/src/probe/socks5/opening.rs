//! Opens one of many tunnels on one thread: the handshake is a state machine over a non-blocking socket.

use std::io::{self, Read, Write};

use socket2::{Domain, SockRef, Socket, Type};

use super::codec::{Address, MAX_REPLY_BYTES};
use super::dialogue::{Answer, Dialogue, Stage};
use crate::net::poller::Flags;
use crate::probe::kinds::ProbeError;
use crate::probe::plan::Plan;
use crate::probe::stream::{Stream, unsecured};

/// Handshakes at once: more would overflow the accept backlog of a proxy that could serve them all.
pub const HANDSHAKES: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Dial,
    Tls,
    Socks(Stage),
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
    step: Step,
    /// The name of the last stage of SOCKS.
    what: &'static str,
    out: Vec<u8>,
    sent: usize,
    answer: [u8; MAX_REPLY_BYTES],
    have: usize,
    /// The bound address in the reply that granted the request.
    pub bound: Option<Address>,
}

impl Opening {
    pub fn begin(plan: &Plan) -> Result<Self, ProbeError> {
        let hop = plan.first_hop();
        let address = hop.address;
        let dial = || -> io::Result<Socket> {
            let socket = Socket::new(
                Domain::for_address(address),
                Type::STREAM.nonblocking(),
                None,
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
            step: Step::Dial,
            what: "",
            out: Vec::new(),
            sent: 0,
            answer: [0; MAX_REPLY_BYTES],
            have: 0,
            bound: None,
        })
    }

    /// Goes on when the socket is ready. Returns true if the tunnel is open.
    pub fn step(&mut self, plan: &Plan) -> Result<bool, ProbeError> {
        if self.step == Step::Dial {
            match SockRef::from(&self.stream).take_error() {
                Ok(None) => {}
                Ok(Some(error)) | Err(error) => return Err(self.failed(plan, &error)),
            }
            self.step = Step::Tls;
        }
        let Some(dialogue) = Dialogue::of(plan) else {
            return Ok(true);
        };
        if self.step == Step::Tls {
            let secured = self.stream.handshake();
            if !secured.map_err(|error| self.failed(plan, &error))? {
                return Ok(false);
            }
            self.next(&dialogue, Stage::Greeting);
        }
        while let Step::Socks(stage) = self.step
            && self.flush(plan)?
            && self.read(plan, stage)?
        {
            match dialogue.read(stage, &self.answer[..self.have])? {
                Answer::Cut => {}
                Answer::Next(stage) => self.next(&dialogue, stage),
                Answer::Granted(bound) => {
                    self.bound = Some(bound);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn next(&mut self, dialogue: &Dialogue<'_>, stage: Stage) {
        self.step = Step::Socks(stage);
        self.what = dialogue.name(stage);
        self.out = dialogue.message(stage);
        self.sent = 0;
        self.have = 0;
    }

    fn flush(&mut self, plan: &Plan) -> Result<bool, ProbeError> {
        while self.sent < self.out.len() {
            match (&self.stream).write(&self.out[self.sent..]) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(self.failed(plan, &error)),
            }
        }
        Ok(true)
    }

    /// Reads some of the answer. Returns false if no bytes have come yet.
    fn read(&mut self, plan: &Plan, stage: Stage) -> Result<bool, ProbeError> {
        match (&self.stream).read(&mut self.answer[self.have..stage.most()]) {
            Ok(0) => Err(self.failed(plan, &io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.have += count;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(self.failed(plan, &error)),
        }
    }

    pub fn wanted(&self) -> Flags {
        if self.step == Step::Dial || self.stream.wants_write() || self.sent < self.out.len() {
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
        match self.step {
            Step::Dial => ProbeError::io(format_args!("dial {}", plan.first_hop()), error),
            Step::Tls => unsecured(error),
            Step::Socks(_) => ProbeError::io(self.what, error),
        }
    }
}
