//! One TCP connection of the events engine.

use std::net::TcpStream;

use super::socket::{Over, Socket};
use super::tools::{Action, Tools};
use super::transfer::Transfer;
use crate::echo::bulk::{First, HEADER, Header};
use crate::echo::counters::Counters;
use crate::echo::faults::FAREWELL;
use crate::echo::zone::{first_message, framed};
use crate::net::poller::Flags;

/// If more bytes than this wait for a peer that does not read, the server stops reading from that peer.
const MAX_PENDING: usize = 4 << 20;

pub struct Connection {
    pub socket: Socket,
    pub interest: Flags,
    pub work: Work,
    last_due_ns: u64,
    scheduled: usize,
    read_to_end: bool,
}

pub enum Work {
    /// The first bytes, while they may still become a bulk header.
    First(Vec<u8>),
    Echo,
    /// The beginning of the next query.
    Dns(Vec<u8>),
    Bulk(Box<Transfer>),
}

impl Connection {
    pub fn new(id: u64, stream: TcpStream, dns: bool) -> std::io::Result<Self> {
        Ok(Self {
            socket: Socket::new(id, stream)?,
            interest: Flags::IN,
            work: match dns {
                true => Work::Dns(Vec::new()),
                false => Work::First(Vec::new()),
            },
            last_due_ns: 0,
            scheduled: 0,
            read_to_end: false,
        })
    }

    pub fn ready(&mut self, flags: Flags, tools: &mut Tools<'_>) -> Result<(), Over> {
        if flags.intersects(Flags::ERR | Flags::HUP) {
            return Err(Over);
        }
        if flags.contains(Flags::OUT) {
            self.socket.flush(tools.counters)?;
            self.end_if_done()?;
        }
        if let Work::Bulk(_) = self.work {
            return self.step(tools);
        }
        if flags.contains(Flags::IN) && !tools.link.full() {
            self.read(tools)?;
        }
        Ok(())
    }

    pub fn step(&mut self, tools: &mut Tools<'_>) -> Result<(), Over> {
        if let Work::Bulk(transfer) = &mut self.work
            && transfer.step(&mut self.socket, tools)?
        {
            self.work = Work::First(Vec::new());
        }
        Ok(())
    }

    fn read(&mut self, tools: &mut Tools<'_>) -> Result<(), Over> {
        let Some(count) = self.socket.receive(tools.buffer)? else {
            return Ok(());
        };
        if count == 0 {
            self.read_to_end = true;
            if tools.link.faults.tcp.farewell {
                self.answer(FAREWELL.to_vec(), tools)?;
            }
            return self.end_if_done();
        }
        self.socket.told.received(count, tools.counters);
        if let Work::Dns(_) = &self.work {
            return self.answer_queries(count, tools);
        }
        let Work::First(first) = &mut self.work else {
            let request = tools.buffer[..count].to_vec();
            return self.answer(request, tools);
        };
        first.extend_from_slice(&tools.buffer[..count]);
        match Header::decode(first) {
            First::Unsure => Ok(()),
            // Flows need the blocking engine.
            First::Broken | First::Flow(_) => Err(Over),
            First::Bulk(header) => {
                let rest = first.split_off(HEADER);
                self.socket
                    .told
                    .begins(header.tag, HEADER + rest.len(), tools.counters);
                self.work = Work::Bulk(Box::new(Transfer::new(header, &rest)));
                self.step(tools)
            }
            First::Echo => {
                let request = std::mem::take(first);
                self.work = Work::Echo;
                self.socket
                    .told
                    .begins(request[0], request.len(), tools.counters);
                self.answer(request, tools)
            }
        }
    }

    /// Answers the complete queries in the `count` bytes that arrived.
    fn answer_queries(&mut self, count: usize, tools: &mut Tools<'_>) -> Result<(), Over> {
        let (Work::Dns(stream), Some(zone)) = (&mut self.work, tools.zone) else {
            return Err(Over);
        };
        stream.extend_from_slice(&tools.buffer[..count]);
        let mut answers = Vec::new();
        while let Some((query, rest)) = first_message(stream) {
            answers.push(zone.answer(query, tools.counters).ok_or(Over)?);
            *stream = rest.to_vec();
        }
        for answer in answers {
            self.answer(framed(&answer), tools)?;
        }
        Ok(())
    }

    fn answer(&mut self, mut bytes: Vec<u8>, tools: &mut Tools<'_>) -> Result<(), Over> {
        let faults = &tools.link.faults.tcp;
        if faults.silent {
            return Ok(());
        }
        let action = if faults.reset_after == Some(self.socket.answered) {
            bytes.clear();
            Action::Reset(self.socket.id)
        } else if faults.close_after == Some(self.socket.answered) {
            bytes.clear();
            Action::Close(self.socket.id)
        } else {
            tools.link.spoil(&mut bytes);
            Action::Answer(self.socket.id)
        };
        self.socket.answered += 1;
        // A stream keeps its order.
        let due_ns = tools.link.due_ns(tools.now_ns, bytes.len());
        let due_ns = due_ns.max(self.last_due_ns);
        self.last_due_ns = due_ns;
        if due_ns > tools.now_ns {
            Counters::add(&tools.counters.delayed, 1);
        } else if self.scheduled == 0 {
            return self.act(&action, &bytes, tools.counters);
        }
        self.scheduled += 1;
        tools.link.hold(bytes.len());
        tools.timers.add(due_ns, (action, bytes));
        Ok(())
    }

    pub fn due(&mut self, action: &Action, bytes: &[u8], counters: &Counters) -> Result<(), Over> {
        self.scheduled -= 1;
        self.act(action, bytes, counters)?;
        self.end_if_done()
    }

    fn act(&mut self, action: &Action, bytes: &[u8], counters: &Counters) -> Result<(), Over> {
        match action {
            Action::Answer(_) => {
                Counters::add(&counters.tcp_bytes, bytes.len());
                self.socket.send(bytes, counters)
            }
            Action::Reset(_) => Err(self.socket.reset()),
            // All received bytes were read, so closing the socket sends no reset.
            _ => Err(Over),
        }
    }

    fn end_if_done(&self) -> Result<(), Over> {
        if self.read_to_end && self.scheduled == 0 && self.socket.pending() == 0 {
            return Err(Over);
        }
        Ok(())
    }

    /// Events that this connection waits for. It does not wait for input while the link is full (`full`).
    pub fn wanted(&self, full: bool) -> Flags {
        let mut flags = match &self.work {
            Work::Bulk(transfer) => transfer.wanted(),
            _ if full || self.read_to_end || self.socket.pending() > MAX_PENDING => Flags::empty(),
            _ => Flags::IN,
        };
        if self.socket.pending() > 0 {
            flags |= Flags::OUT;
        }
        flags
    }
}
