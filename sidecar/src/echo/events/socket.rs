//! The socket of one TCP connection, with what it has carried for its probe.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use socket2::SockRef;

use super::link::Link;
use crate::echo::counters::{Counters, Told};
use crate::net::wait::not_yet;

pub struct Socket {
    pub id: u64,
    pub stream: TcpStream,
    pub told: Told,
    /// Answers that wait for the peer to read.
    pending: Vec<u8>,
    /// Answers sent until now; for a transfer, its reads and writes.
    pub answered: u64,
}

#[derive(Debug)]
pub struct Over;

impl Socket {
    pub fn new(id: u64, stream: TcpStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            id,
            stream,
            told: Told::default(),
            pending: Vec::new(),
            answered: 0,
        })
    }

    /// Sends, and returns the number of bytes that the kernel took.
    pub fn transmit(&self, bytes: &[u8], counters: &Counters) -> Result<usize, Over> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let sent = not_yet((&self.stream).write(bytes)).map_err(|_| Over)?;
        let sent = sent.unwrap_or(0);
        self.told.sent(sent, counters);
        Ok(sent)
    }

    pub fn reset(&self) -> Over {
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

    /// Sends bytes that wait for the peer.
    pub fn flush(&mut self, counters: &Counters) -> Result<(), Over> {
        let sent = self.transmit(&self.pending, counters)?;
        self.pending.drain(..sent);
        Ok(())
    }

    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// `None` if no byte is there yet, 0 at the end of the stream.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, Over> {
        not_yet((&self.stream).read(buffer)).map_err(|_| Over)
    }
}
