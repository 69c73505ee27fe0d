//! One of many connections: its tunnel, and the operation that is under way on it.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::mem;

use crate::net::clock::now_ns;
use crate::net::payload::Pattern;
use crate::probe::far_end::Carried;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::socks5::opening::Tunnel;
use crate::probe::stream::Stream;

/// A request and the part of its echo that has come.
#[derive(Debug, Clone, Copy, Default)]
pub struct Operation {
    /// Unique in a probe; its lower half is the payload's sequence number.
    pub serial: u64,
    /// When it was intended, in the open loop.
    pub intended_ns: Option<u64>,
    /// The earliest moment at which the operation could have been sent: its intended time, or later when
    /// the previous operation had ended or the new tunnel was there.
    pub due_ns: Option<u64>,
    /// When the operation was sent, or none while its tunnel is being opened.
    pub sent_ns: Option<u64>,
    sent: usize,
    got: usize,
}

#[derive(Default)]
pub struct Slot {
    pub tunnel: Tunnel,
    pub operation: Option<Operation>,
    /// Intended times of operations that wait for the one before to end.
    pub waiting: VecDeque<u64>,
    /// Something came, or the peer ended, while nothing was asked.
    pub broken: Option<Broken>,
    /// Bytes over its tunnel.
    pub sent: u64,
    pub got: u64,
    /// The number of dials, by which a deadline finds its own dial.
    pub dials: u64,
    pub began_ns: u64,
    /// Since when the slot has no operation.
    pub free_since_ns: u64,
}

/// Why and when a tunnel without an operation broke.
#[derive(Debug, Clone, Copy)]
pub struct Broken {
    pub error: ErrorKind,
    pub at_ns: u64,
}

pub struct Scratch {
    pattern: Pattern,
    out: Vec<u8>,
    expected: Vec<u8>,
    expected_of: Option<u32>,
    input: Vec<u8>,
}

impl Scratch {
    pub fn new(pattern: Pattern) -> Self {
        let size = pattern.size();
        Self {
            pattern,
            out: vec![0; size],
            expected: vec![0; size],
            expected_of: None,
            input: vec![0; size],
        }
    }

    fn right(&mut self, sequence: u32, at: usize, count: usize) -> bool {
        let size = self.pattern.size();
        if at == 0 && count == size {
            return self.pattern.matches(sequence, &self.input);
        }
        if self.expected_of != Some(sequence) {
            self.pattern.fill(sequence, &mut self.expected);
            self.expected_of = Some(sequence);
        }
        self.input[..count] == self.expected[at..at + count]
    }
}

impl Operation {
    pub fn new(serial: u64, intended_ns: Option<u64>, due_ns: Option<u64>) -> Self {
        Self {
            serial,
            intended_ns,
            due_ns,
            ..Self::default()
        }
    }

    fn sequence(&self) -> u32 {
        self.serial as u32
    }

    /// Bytes of it that went out, and that came back.
    pub fn moved(&self) -> (u64, u64) {
        (self.sent as u64, self.got as u64)
    }

    pub fn all_sent(&self, size: usize) -> bool {
        self.sent == size
    }

    /// Sends what goes out without waiting.
    pub fn send(&mut self, mut stream: &Stream, scratch: &mut Scratch) -> Result<(), ProbeError> {
        scratch.pattern.fill(self.sequence(), &mut scratch.out);
        while self.sent < scratch.out.len() {
            match stream.write(&scratch.out[self.sent..]) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(ProbeError::io("request", &error)),
            }
        }
        Ok(())
    }

    /// Takes what is there. True where the answer is whole.
    pub fn receive(
        &mut self,
        mut stream: &Stream,
        scratch: &mut Scratch,
    ) -> Result<bool, ProbeError> {
        let size = scratch.pattern.size();
        loop {
            let left = size - self.got;
            let count = match stream.read(&mut scratch.input[..left]) {
                Ok(0) => {
                    let end = io::ErrorKind::UnexpectedEof.into();
                    return Err(ProbeError::io("answer", &end));
                }
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(ProbeError::io("answer", &error)),
            };
            if self.got + count > self.sent || !scratch.right(self.sequence(), self.got, count) {
                return Err(ProbeError::new(
                    ErrorKind::Corrupted,
                    "answer: it is not what was sent",
                ));
            }
            self.got += count;
            if self.got == size {
                return Ok(true);
            }
            // Less than was asked for: there is no more now.
            if count < left {
                return Ok(false);
            }
        }
    }
}

impl Slot {
    /// Returns the bytes that went over the tunnel, and resets both counters.
    pub fn carried(&mut self) -> Carried {
        let (sent, got) = (mem::take(&mut self.sent), mem::take(&mut self.got));
        Carried::echoed(sent, got)
    }

    /// Something happened on an open tunnel on which nothing was asked.
    pub fn unasked(&mut self) {
        if let Tunnel::Open(stream) = &self.tunnel {
            let error = match (&mut &*stream).read(&mut [0]) {
                Ok(0) => Some(ErrorKind::Closed),
                Ok(_) => Some(ErrorKind::Corrupted),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
                Err(error) => Some(ErrorKind::of_io(&error)),
            };
            let at_ns = now_ns();
            self.broken = error.map(|error| Broken { error, at_ns });
        }
        if self.broken.is_some() {
            self.tunnel = Tunnel::Down;
        }
    }
}
