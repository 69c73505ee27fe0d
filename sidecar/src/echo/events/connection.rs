//! One TCP connection of the events engine.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use socket2::SockRef;

use super::Action;
use super::link::Link;
use super::transfer::Transfer;
use crate::echo::bulk::{First, HEADER, Header};
use crate::echo::counters::{Counters, Tagged};
use crate::echo::zone::{Zone, first_message, framed};
use crate::net::poller::Flags;
use crate::net::tag;
use crate::net::timers::Timers;

/// If more bytes than this wait for a peer that does not read, the server stops reading from that peer.
const MAX_PENDING: usize = 4 << 20;

pub struct Connection {
    pub id: u64,
    pub stream: TcpStream,
    /// The tag of the probe that uses this connection.
    tag: u8,
    pub interest: Flags,
    pub work: Work,
    /// Answers that wait for the peer to read.
    pending: Vec<u8>,
    /// Answers sent until now; for a transfer, its reads and writes.
    answered: u64,
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

/// Parts of the server that every connection needs.
pub struct Tools<'a> {
    pub zone: Option<Zone>,
    pub link: &'a mut Link,
    pub timers: &'a mut Timers<(Action, Vec<u8>)>,
    pub counters: &'a Counters,
    pub buffer: &'a mut [u8],
    pub now_ns: u64,
}

/// The connection is over.
#[derive(Debug)]
pub struct Over;

impl Connection {
    pub fn new(id: u64, stream: TcpStream, dns: bool) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            id,
            stream,
            tag: tag::UNTOLD,
            interest: Flags::IN,
            work: match dns {
                true => Work::Dns(Vec::new()),
                false => Work::First(Vec::new()),
            },
            pending: Vec::new(),
            answered: 0,
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
            self.flush(tools.counters)?;
        }
        if let Work::Bulk(_) = self.work {
            return self.step(tools);
        }
        if flags.contains(Flags::IN) && !tools.link.full() {
            self.read(tools)?;
        }
        Ok(())
    }

    /// Continues a transfer.
    pub fn step(&mut self, tools: &mut Tools<'_>) -> Result<(), Over> {
        let first = Work::First(Vec::new());
        if let Work::Bulk(mut transfer) = std::mem::replace(&mut self.work, first)
            && !transfer.step(self, tools)?
        {
            self.work = Work::Bulk(transfer);
        }
        Ok(())
    }

    fn read(&mut self, tools: &mut Tools<'_>) -> Result<(), Over> {
        let Some(count) = receive(&self.stream, tools.buffer)? else {
            return Ok(());
        };
        if count == 0 {
            self.read_to_end = true;
            return self.end_if_done();
        }
        self.received(count, tools.counters);
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
                self.begins(header.tag, HEADER + rest.len(), tools.counters);
                self.work = Work::Bulk(Box::new(Transfer::new(header, &rest)));
                self.step(tools)
            }
            First::Echo => {
                let request = std::mem::take(first);
                self.work = Work::Echo;
                self.begins(request[0], request.len(), tools.counters);
                self.answer(request, tools)
            }
        }
    }

    /// Counts the first `bytes` bytes of the connection for the probe `tag`. Later calls do nothing.
    fn begins(&mut self, tag: u8, bytes: usize, counters: &Counters) {
        if self.tag != tag::UNTOLD {
            return;
        }
        self.tag = tag::of(tag);
        Counters::add(&self.counts(counters).connections, 1);
        Counters::add(&self.counts(counters).bytes_received, bytes);
    }

    fn counts<'a>(&self, counters: &'a Counters) -> &'a Tagged {
        counters.of(self.tag)
    }

    pub fn received(&self, count: usize, counters: &Counters) {
        if self.tag != tag::UNTOLD {
            Counters::add(&self.counts(counters).bytes_received, count);
        }
    }

    /// Sends, and returns the number of bytes that the kernel took.
    pub fn transmit(&self, bytes: &[u8], counters: &Counters) -> Result<usize, Over> {
        let sent = transmit(&self.stream, bytes)?;
        Counters::add(&self.counts(counters).bytes_sent, sent);
        Ok(sent)
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
        let action = if faults.reset_after == Some(self.answered) {
            bytes.clear();
            Action::Reset(self.id)
        } else if faults.close_after == Some(self.answered) {
            bytes.clear();
            Action::Close(self.id)
        } else {
            tools.link.spoil(&mut bytes);
            Action::Answer(self.id)
        };
        self.answered += 1;
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

    /// Performs a scheduled action.
    pub fn due(&mut self, action: &Action, bytes: &[u8], counters: &Counters) -> Result<(), Over> {
        self.scheduled -= 1;
        self.act(action, bytes, counters)?;
        self.end_if_done()
    }

    fn act(&mut self, action: &Action, bytes: &[u8], counters: &Counters) -> Result<(), Over> {
        match action {
            Action::Answer(_) => {
                Counters::add(&counters.tcp_bytes, bytes.len());
                self.send(bytes, counters)
            }
            Action::Reset(_) => Err(self.reset()),
            // All received bytes were read, so closing the socket sends no reset.
            _ => Err(Over),
        }
    }

    fn reset(&self) -> Over {
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
        Over
    }

    /// Counts a read or a write of a transfer. The fault `tcp` may end the connection here.
    pub fn count(&mut self, link: &Link) -> Result<(), Over> {
        let faults = &link.faults.tcp;
        if faults.reset_after == Some(self.answered) {
            return Err(self.reset());
        }
        if faults.close_after == Some(self.answered) {
            return Err(Over);
        }
        self.answered += 1;
        Ok(())
    }

    pub fn send(&mut self, bytes: &[u8], counters: &Counters) -> Result<(), Over> {
        let sent = if self.pending.is_empty() {
            self.transmit(bytes, counters)?
        } else {
            0
        };
        self.pending.extend_from_slice(&bytes[sent..]);
        Ok(())
    }

    fn flush(&mut self, counters: &Counters) -> Result<(), Over> {
        let sent = self.transmit(&self.pending, counters)?;
        self.pending.drain(..sent);
        self.end_if_done()
    }

    fn end_if_done(&self) -> Result<(), Over> {
        if self.read_to_end && self.scheduled == 0 && self.pending.is_empty() {
            return Err(Over);
        }
        Ok(())
    }

    /// Events that this connection waits for. It does not wait for input while the link is full (`full`).
    pub fn wanted(&self, full: bool) -> Flags {
        let mut flags = match &self.work {
            Work::Bulk(transfer) => transfer.wanted(),
            _ if full || self.read_to_end || self.pending.len() > MAX_PENDING => Flags::empty(),
            _ => Flags::IN,
        };
        if !self.pending.is_empty() {
            flags |= Flags::OUT;
        }
        flags
    }
}

/// `None` if no byte is there yet, 0 at the end of the stream.
pub fn receive(mut stream: &TcpStream, buffer: &mut [u8]) -> Result<Option<usize>, Over> {
    match stream.read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) if try_later(&error) => Ok(None),
        Err(_) => Err(Over),
    }
}

fn transmit(mut stream: &TcpStream, bytes: &[u8]) -> Result<usize, Over> {
    if bytes.is_empty() {
        return Ok(0);
    }
    match stream.write(bytes) {
        Ok(count) => Ok(count),
        Err(error) if try_later(&error) => Ok(0),
        Err(_) => Err(Over),
    }
}

fn try_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
