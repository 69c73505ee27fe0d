//! The far end of a flow: one thread that reads, answers and reports. If asked to, it also keeps the way down full.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;

use super::counters::{Counters, Tagged};
use super::flow::{
    Header, Incoming, Mark, Outgoing, REPORT_NS, SILENT_REPORT_NS, Said, UNSENT_BYTES, Way,
};
use super::shared::Shared;
use crate::net::clock::now_ns;
use crate::net::wait::not_yet;

const BUFFER: usize = 64 * 1024;
/// The longest single wait, ms. It bounds how late the thread notices the server's end and how late a report is.
const SLICE_MS: u16 = 50;

/// Serves until the client ends the connection. `name` is a congestion control; an empty name keeps the kernel's default.
pub fn serve(stream: &TcpStream, shared: &Shared, header: Header, name: &[u8]) -> io::Result<()> {
    let socket = SockRef::from(stream);
    if !name.is_empty() {
        socket.set_tcp_congestion(name)?;
    }
    socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
    stream.set_nonblocking(true)?;
    let blocks = if header.way == Way::Down {
        header.blocks
    } else {
        0
    };
    let mut far = Far {
        stream,
        shared,
        counts: shared.counters.of(header.tag),
        outgoing: Outgoing::new(Vec::new(), blocks),
        incoming: Incoming::default(),
        buffer: vec![0; BUFFER],
        reported: (header.way == Way::Up).then(|| Said {
            received: 0,
            sent: 0,
            at_ns: now_ns(),
        }),
    };
    while !shared.ending() && far.turn()? {}
    Ok(())
}

struct Far<'a> {
    stream: &'a TcpStream,
    shared: &'a Shared,
    counts: &'a Tagged,
    outgoing: Outgoing,
    incoming: Incoming,
    buffer: Vec<u8>,
    /// The last report; `None` if the flow has no reports.
    reported: Option<Said>,
}

impl Far<'_> {
    /// Waits, reads and writes. Returns false when the client ends the connection.
    fn turn(&mut self) -> io::Result<bool> {
        let mut events = PollFlags::POLLIN;
        events.set(PollFlags::POLLOUT, self.outgoing.wants());
        let mut ready = [PollFd::new(self.stream.as_fd(), events)];
        poll(&mut ready, PollTimeout::from(SLICE_MS))?;
        let ready = ready[0].revents().unwrap_or(PollFlags::empty());
        if ready.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR)
            && !self.read()?
        {
            return Ok(false);
        }
        self.report();
        if ready.contains(PollFlags::POLLOUT) || self.outgoing.wants() {
            self.write()?;
        }
        Ok(true)
    }

    fn read(&mut self) -> io::Result<bool> {
        let count = match not_yet((&mut &*self.stream).read(&mut self.buffer))? {
            None => return Ok(true),
            Some(0) => return Ok(false),
            Some(count) => count,
        };
        Counters::add(&self.shared.counters.tcp_bytes, count);
        Counters::add(&self.counts.bytes_received, count);
        let (sent, at_ns) = (self.outgoing.sent, now_ns());
        let received = self.incoming.received + count as u64;
        let outgoing = &mut self.outgoing;
        let taken = self.incoming.take(&self.buffer[..count], |mark| {
            if let Mark::Request(number) = mark {
                let said = Said {
                    received,
                    sent,
                    at_ns,
                };
                outgoing.mark(Mark::Answer(number, said));
            }
        });
        taken
            .map_err(|_| io::ErrorKind::InvalidData.into())
            .map(|()| true)
    }

    /// Sends a report if one is due and no other bytes wait: the next report will say more.
    fn report(&mut self) {
        let Some(last) = self.reported else { return };
        let said = Said {
            received: self.incoming.received,
            sent: self.outgoing.sent,
            at_ns: now_ns(),
        };
        let pause = if said.received > last.received {
            REPORT_NS
        } else {
            SILENT_REPORT_NS
        };
        if said.at_ns >= last.at_ns + pause && !self.outgoing.wants() {
            self.outgoing.mark(Mark::Report(said));
            self.reported = Some(said);
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = self.outgoing.next();
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(count) = not_yet((&mut &*self.stream).write(bytes))? {
            self.outgoing.written(count);
            Counters::add(&self.shared.counters.tcp_bytes, count);
            Counters::add(&self.counts.bytes_sent, count);
        }
        Ok(())
    }
}
