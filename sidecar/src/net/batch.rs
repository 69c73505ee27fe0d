//! Many datagrams per system call: `recvmmsg(2)` and `sendmmsg(2)`.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};

/// The largest datagram that UDP has, and a byte to notice a longer one.
const DATAGRAM: usize = 65_536;

/// Datagrams that were received together, and room for them.
pub struct Batch {
    buffers: Vec<Vec<u8>>,
    received: Vec<Received>,
    receive: MultiHeaders<SockaddrStorage>,
    // Sending makes its headers point at other addresses, so receiving has its own.
    send: MultiHeaders<SockaddrStorage>,
    /// The most that the next call takes: filling in headers costs too, so few when few came.
    take: usize,
}

#[derive(Clone, Copy)]
struct Received {
    length: usize,
    from: Option<SockaddrStorage>,
}

impl Batch {
    /// Room for `size` datagrams.
    pub fn new(size: usize) -> Self {
        Self {
            buffers: vec![vec![0; DATAGRAM]; size],
            received: Vec::with_capacity(size),
            receive: MultiHeaders::preallocate(size, None),
            send: MultiHeaders::preallocate(size, None),
            take: 1,
        }
    }

    /// Receives what is there, and waits for the first one where the socket blocks. Returns how
    /// many came.
    pub fn receive(&mut self, socket: RawFd) -> nix::Result<usize> {
        self.received.clear();
        let mut slices: Vec<[IoSliceMut<'_>; 1]> = self.buffers[..self.take]
            .iter_mut()
            .map(|buffer| [IoSliceMut::new(buffer)])
            .collect();
        let results = recvmmsg(
            socket,
            &mut self.receive,
            slices.iter_mut(),
            MsgFlags::MSG_WAITFORONE,
            None,
        )?;
        for result in results {
            self.received.push(Received {
                length: result.bytes,
                from: result.address,
            });
        }
        let count = self.received.len();
        self.take = (2 * count).clamp(1, self.buffers.len());
        Ok(count)
    }

    /// A received datagram and where it came from.
    pub fn datagram(&self, index: usize) -> (&[u8], Option<SockaddrStorage>) {
        let received = self.received[index];
        (&self.buffers[index][..received.length], received.from)
    }

    /// Sends each received datagram back to where it came from. Returns how many were sent before
    /// the first that could not be.
    pub fn send_back(&mut self, socket: RawFd) -> nix::Result<usize> {
        let mut sent = 0;
        while sent < self.received.len() {
            let slices: Vec<[IoSlice<'_>; 1]> = self.received[sent..]
                .iter()
                .zip(&self.buffers[sent..])
                .map(|(received, buffer)| [IoSlice::new(&buffer[..received.length])])
                .collect();
            let addresses: Vec<Option<SockaddrStorage>> = self.received[sent..]
                .iter()
                .map(|received| received.from)
                .collect();
            match sendmmsg(
                socket,
                &mut self.send,
                &slices,
                addresses,
                [],
                MsgFlags::empty(),
            ) {
                Ok(results) => sent += results.count().max(1),
                Err(Errno::EINTR) => {}
                Err(_) if sent > 0 => return Ok(sent),
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }
}
