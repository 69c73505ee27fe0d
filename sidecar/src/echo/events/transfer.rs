//! A bulk transfer of the events engine. These faults apply: rate, silence, corruption of sent bytes, and reset or end after a number of
//! reads and writes. Delay, jitter and stall apply to answers only.

use super::socket::{Over, Socket};
use super::tools::{Action, Tools};
use crate::echo::bulk::{Checker, Header, Source, confirmation};
use crate::echo::counters::Counters;
use crate::net::poller::Flags;

pub struct Transfer {
    header: Header,
    checker: Checker,
    source: Source,
    /// Bytes that came with the header and are not yet counted against the rate.
    came: usize,
    /// The rate allows no bytes until a timer fires.
    paused: bool,
    silent: bool,
}

impl Transfer {
    /// `rest` holds the bytes that came with the header.
    pub fn new(header: Header, rest: &[u8]) -> Self {
        let down = if header.direction.down() {
            header.bytes
        } else {
            0
        };
        let mut checker = Checker::new(header.every_byte);
        checker.take(rest);
        Self {
            header,
            checker,
            source: Source::new(down, header.write_bytes),
            came: rest.len(),
            paused: false,
            silent: false,
        }
    }

    pub fn resume(&mut self) {
        self.paused = false;
    }

    fn to_receive(&self) -> u64 {
        if self.header.direction.up() {
            self.header.bytes.saturating_sub(self.checker.received())
        } else {
            0
        }
    }

    /// Makes one read and one write. Returns true at the end.
    pub fn step(&mut self, socket: &mut Socket, tools: &mut Tools<'_>) -> Result<bool, Over> {
        self.silent = tools.link.faults.tcp.silent;
        if !self.paused {
            let moved = std::mem::take(&mut self.came)
                + self.take(socket, tools)?
                + self.give(socket, tools)?;
            Counters::add(&tools.counters.tcp_bytes, moved);
            let due_ns = tools.link.reserve_ns(tools.now_ns, moved);
            if due_ns > tools.now_ns {
                self.paused = true;
                let resume = (Action::Resume(socket.id), Vec::new());
                tools.timers.add(due_ns, resume);
            }
        }
        // The end waits for the rate, too.
        if self.paused || self.silent || self.to_receive() > 0 || !self.source.done() {
            return Ok(false);
        }
        if self.header.direction.up() {
            let wrong = self.checker.first_wrong();
            let answer = confirmation(self.checker.received(), wrong);
            socket.send(&answer, tools.counters)?;
        }
        Ok(true)
    }

    fn take(&mut self, socket: &mut Socket, tools: &mut Tools<'_>) -> Result<usize, Over> {
        let most = tools.link.piece(tools.buffer.len()) as u64;
        let length = most.min(self.to_receive()) as usize;
        if length == 0 {
            return Ok(0);
        }
        let buffer = &mut tools.buffer[..length];
        match socket.receive(buffer)? {
            None => Ok(0),
            Some(0) => Err(Over),
            Some(count) => {
                self.checker.take(&buffer[..count]);
                socket.told.received(count, tools.counters);
                socket.count(tools.link)?;
                Ok(count)
            }
        }
    }

    fn give(&mut self, socket: &mut Socket, tools: &mut Tools<'_>) -> Result<usize, Over> {
        if self.silent || self.source.done() {
            return Ok(0);
        }
        let most = tools.link.piece(usize::MAX);
        let bytes = self.source.next();
        let length = bytes.len().min(most);
        let sent = if tools.link.spoils() {
            let mut spoilt = bytes[..length].to_vec();
            spoilt.iter_mut().for_each(|byte| *byte ^= 0x55);
            socket.transmit(&spoilt, tools.counters)?
        } else {
            socket.transmit(&bytes[..length], tools.counters)?
        };
        if sent > 0 {
            self.source.written(sent);
            socket.count(tools.link)?;
        }
        Ok(sent)
    }

    pub fn wanted(&self) -> Flags {
        let mut flags = Flags::empty();
        if self.paused {
            return flags;
        }
        if self.to_receive() > 0 {
            flags |= Flags::IN;
        }
        if !self.silent && !self.source.done() {
            flags |= Flags::OUT;
        }
        flags
    }
}
