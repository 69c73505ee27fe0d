//! The far end of a flow: one thread that reads, answers and, where it is asked to, keeps the way down full.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;

use super::counters::Counters;
use super::flow::{Answer, Header, Incoming, Mark, Outgoing, UNSENT_BYTES, Way};
use super::shared::Shared;
use crate::net::clock::now_ns;

const BUFFER: usize = 64 * 1024;
/// A wait is no longer than this at once, so that the server's end is seen, ms.
const SLICE_MS: u16 = 100;

/// Until the client ends the connection. `name` is that of a congestion control; empty: the kernel's own.
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
        outgoing: Outgoing::new(Vec::new(), blocks),
        incoming: Incoming::default(),
        buffer: vec![0; BUFFER],
    };
    while !shared.ending() && far.turn()? {}
    Ok(())
}

struct Far<'a> {
    stream: &'a TcpStream,
    shared: &'a Shared,
    outgoing: Outgoing,
    incoming: Incoming,
    buffer: Vec<u8>,
}

impl Far<'_> {
    /// Waits, reads, writes. False at the client's end.
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
        let (sent, at_ns) = (self.outgoing.sent, now_ns());
        let received = self.incoming.received + count as u64;
        let outgoing = &mut self.outgoing;
        let taken = self.incoming.take(&self.buffer[..count], |mark| {
            if let Mark::Request(number) = mark {
                outgoing.mark(Mark::Answer(Answer {
                    number,
                    received,
                    sent,
                    at_ns,
                }));
            }
        });
        taken
            .map_err(|_| io::ErrorKind::InvalidData.into())
            .map(|()| true)
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = self.outgoing.next();
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(count) = not_yet((&mut &*self.stream).write(bytes))? {
            self.outgoing.written(count);
            Counters::add(&self.shared.counters.tcp_bytes, count);
        }
        Ok(())
    }
}

/// None where there is nothing yet.
pub fn not_yet(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(count) => Ok(Some(count)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
