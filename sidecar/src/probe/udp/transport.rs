//! Datagrams in batches. Buffers and headers are made once; nothing is allocated afterwards.
//!
//! All datagrams of a probe have one size, SOCKS header included. A batch is sent as one buffer that the
//! kernel cuts (UDP_SEGMENT, udp(7)). The buffer goes through the stack once, and the receiver still
//! gets single datagrams. If the kernel cannot cut buffers, sendmmsg(2) sends the batch.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{
    MsgFlags, MultiHeaders, recv, recvmmsg, send, sendmmsg, setsockopt, sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};

use crate::net::batch::{DATAGRAM, MAX_PAYLOAD, SOCKET_BUFFER, widen};
use crate::probe::socks5::codec::{MAX_REPLY_BYTES, udp_payload};

/// The most datagrams of one system call.
pub const BATCH: usize = 64;

pub struct Transport {
    socket: UdpSocket,
    /// Header of each datagram; empty if the probe has no proxy.
    header: Vec<u8>,
    batch: usize,
    longest_wait: Duration,
    out: Vec<u8>,
    out_stride: usize,
    out_headers: MultiHeaders<()>,
    /// How many datagrams the kernel cuts one buffer into; 1 if it does not.
    segments: usize,
    input: Vec<u8>,
    in_stride: usize,
    in_headers: MultiHeaders<()>,
    lengths: [usize; BATCH],
    strays: UdpSocket,
}

/// Opens a second socket at the connected socket's own address. The kernel hands it datagrams from other senders than the peer, which
/// the connected socket refuses.
fn strays_of(socket: &Socket) -> io::Result<UdpSocket> {
    let at = socket.local_addr()?;
    let strays = Socket::new(at.domain(), Type::DGRAM, Some(Protocol::UDP))?;
    // Only for the bind: a shared port must not be given to a third socket.
    for reuse in [true, false] {
        socket.set_reuse_address(reuse)?;
        strays.set_reuse_address(reuse)?;
        if reuse {
            strays.bind(&at)?;
        }
    }
    strays.set_recv_buffer_size(SOCKET_BUFFER)?;
    strays.set_nonblocking(true)?;
    Ok(strays.into())
}

/// Asks the kernel to cut buffers into datagrams of `size`, and says into how many.
fn segments(socket: &Socket, size: usize, batch: usize) -> usize {
    let most = batch.min(MAX_PAYLOAD / size);
    let asked = i32::try_from(size).ok().filter(|_| most > 1);
    match asked.map(|size| setsockopt(socket, sockopt::UdpGsoSegment, &size)) {
        Some(Ok(())) => most,
        _ => 1,
    }
}

impl Transport {
    /// Sends to `peer` and receives from it; [`Self::strays`] counts other senders. `batch` is at most [`BATCH`]. `payload` is the size of a sent payload and `answer` of
    /// the largest awaited one, bytes.
    pub fn new(
        peer: SocketAddr,
        header: Vec<u8>,
        payload: usize,
        answer: usize,
        batch: usize,
        wait_at_most: Duration,
    ) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        widen(&socket)?;
        socket.set_read_timeout(Some(wait_at_most))?;
        socket.set_write_timeout(Some(wait_at_most))?;
        socket.connect(&peer.into())?;
        let strays = strays_of(&socket)?;
        let out_stride = header.len() + payload;
        let out = if header.is_empty() {
            vec![0; out_stride * batch]
        } else {
            let mut one = header.clone();
            one.resize(out_stride, 0);
            one.repeat(batch)
        };
        let segments = segments(&socket, out_stride, batch);
        // A byte more than is right, so that a longer datagram is seen.
        let most = if header.is_empty() {
            answer + 1
        } else {
            MAX_REPLY_BYTES + answer + 1
        };
        let in_stride = most.min(DATAGRAM);
        Ok(Self {
            socket: socket.into(),
            header,
            batch,
            longest_wait: wait_at_most,
            out,
            out_stride,
            out_headers: MultiHeaders::preallocate(batch, None),
            segments,
            input: vec![0; in_stride * batch],
            in_stride,
            in_headers: MultiHeaders::preallocate(batch, None),
            lengths: [0; BATCH],
            strays,
        })
    }

    /// Counts the waiting datagrams that did not come from the peer, and names the sender of the last one. A flood does not hold up the
    /// call.
    pub fn strays(&self) -> (u64, Option<SocketAddr>) {
        let senders = (0..DATAGRAM).map_while(|_| self.strays.recv_from(&mut [0]).ok());
        senders.fold((0, None), |(count, _), (_, from)| (count + 1, Some(from)))
    }

    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// The most that one wait in the kernel takes.
    pub fn longest_wait_ns(&self) -> u64 {
        self.longest_wait.as_nanos() as u64
    }

    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Where the payload of a datagram of the next batch is written.
    #[inline]
    pub fn payload(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.out_stride + self.header.len();
        &mut self.out[start..(index + 1) * self.out_stride]
    }

    /// Sends the first `count` payloads, with one system call; returns how many were sent.
    #[inline]
    pub fn send(&mut self, count: usize) -> io::Result<usize> {
        let socket = self.socket.as_raw_fd();
        if count == 1 || self.segments > 1 {
            let count = count.min(self.segments);
            match send(
                socket,
                &self.out[..self.out_stride * count],
                MsgFlags::empty(),
            ) {
                Ok(_) => return Ok(count),
                Err(Errno::EIO | Errno::EINVAL | Errno::EMSGSIZE) if self.segments > 1 => {
                    // This path to the peer does not cut buffers, and even a single one is too large for
                    // its MTU without fragments.
                    self.segments = 1;
                    setsockopt(&self.socket, sockopt::UdpGsoSegment, &0)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let mut chunks = self.out.chunks_exact(self.out_stride);
        let slices: [[IoSlice<'_>; 1]; BATCH] =
            std::array::from_fn(|_| [IoSlice::new(chunks.next().unwrap_or_default())]);
        let sent = sendmmsg(
            socket,
            &mut self.out_headers,
            &slices[..count],
            [None::<()>; BATCH],
            [],
            MsgFlags::empty(),
        )?;
        Ok(sent.count())
    }

    /// Receives the available datagrams, one batch at most, with one system call. Waits for the first
    /// datagram unless `at_once`. If none comes within the waiting time, the error is
    /// [`io::ErrorKind::WouldBlock`].
    #[inline]
    pub fn receive(&mut self, at_once: bool) -> io::Result<usize> {
        let socket = self.socket.as_raw_fd();
        let mut flags = MsgFlags::empty();
        flags.set(MsgFlags::MSG_DONTWAIT, at_once);
        if self.batch == 1 {
            self.lengths[0] = recv(socket, &mut self.input, flags)?;
            return Ok(1);
        }
        let mut chunks = self.input.chunks_exact_mut(self.in_stride);
        let mut slices: [[IoSliceMut<'_>; 1]; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap_or_default())]);
        let received = recvmmsg(
            socket,
            &mut self.in_headers,
            slices.iter_mut().take(self.batch),
            flags | MsgFlags::MSG_WAITFORONE,
            None,
        )?;
        let mut count = 0;
        for (length, message) in self.lengths.iter_mut().zip(received) {
            *length = message.bytes;
            count += 1;
        }
        Ok(count)
    }

    /// The payload of a received datagram, or none if the proxy's header is malformed.
    #[inline]
    pub fn received(&self, index: usize) -> Option<&[u8]> {
        let start = index * self.in_stride;
        let datagram = &self.input[start..start + self.lengths[index]];
        udp_payload(datagram, !self.header.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of sending a batch put the same datagrams on the wire.
    #[test]
    fn batches_arrive_as_single_datagrams() {
        for cut in [true, false] {
            let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
            let to = peer.local_addr().unwrap();
            let wait = Duration::from_secs(10);
            peer.set_read_timeout(Some(wait)).unwrap();
            let mut transport = Transport::new(to, vec![7; 10], 100, 100, 32, wait).unwrap();
            if !cut {
                transport.segments = 1;
                setsockopt(&transport.socket, sockopt::UdpGsoSegment, &0).unwrap();
            }
            for index in 0..20 {
                transport.payload(index).fill(index as u8);
            }
            assert_eq!(transport.send(20).unwrap(), 20);
            let mut bytes = [0; 200];
            for index in 0..20 {
                assert_eq!(peer.recv(&mut bytes).unwrap(), 110);
                assert_eq!(bytes[..10], [7; 10]);
                assert_eq!(bytes[10..110], [index; 100]);
            }
            let from = transport.socket().local_addr().unwrap();
            let mut header = vec![0, 0, 0, 1, 127, 0, 0, 1, 0, 9];
            header.extend([1; 50]);
            peer.send_to(&header, from).unwrap();
            peer.send_to(b"nonsense", from).unwrap();
            let mut received = Vec::new();
            while received.len() < 2 {
                let count = transport.receive(false).unwrap();
                received.extend((0..count).map(|index| transport.received(index).map(<[u8]>::len)));
            }
            assert_eq!(received, [Some(50), None]);
            assert!(transport.receive(true).is_err());
        }
    }
}
