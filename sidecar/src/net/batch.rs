//! Many datagrams per system call: `recvmmsg(2)` and `sendmmsg(2)`.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, recvfrom, recvmmsg, sendmmsg, sendmsg,
    sendto, setsockopt, sockopt,
};
use socket2::SockRef;

/// Room for the largest datagram or packet of IPv4, and a byte to notice a longer one.
pub const DATAGRAM: usize = 65_536;
/// The most payload of a datagram over IPv4, or of one send: 65,535 less the headers of IP and UDP.
pub const MAX_PAYLOAD: usize = 65_507;
/// Socket buffer that is requested from the kernel, bytes: its default holds about 150 small datagrams.
pub const SOCKET_BUFFER: usize = 4 << 20;
/// After this many datagrams that come one by one, a batch is tried. The try costs 1 µs, which a round
/// trip of 10 µs would show.
const TRY_EVERY: u32 = 16;
const TRY: usize = 8;

/// Asks for large buffers for either direction. Only CAP_NET_ADMIN allows more than the system's bound; without it, the kernel
/// grants as much as it may.
pub fn widen(socket: &impl AsFd) -> io::Result<()> {
    if setsockopt(socket, sockopt::RcvBufForce, &SOCKET_BUFFER).is_err() {
        SockRef::from(socket).set_recv_buffer_size(SOCKET_BUFFER)?;
    }
    if setsockopt(socket, sockopt::SndBufForce, &SOCKET_BUFFER).is_err() {
        SockRef::from(socket).set_send_buffer_size(SOCKET_BUFFER)?;
    }
    Ok(())
}

/// Datagrams that were received together, and room for them.
pub struct Batch {
    buffers: Vec<Vec<u8>>,
    received: Vec<Received>,
    receive: MultiHeaders<SockaddrStorage>,
    // Sending makes its headers point at other addresses, so receiving has its own.
    send: MultiHeaders<SockaddrStorage>,
    /// The most datagrams that the next call takes. Each header costs time to fill in, so the bound
    /// follows the number that came last.
    take: usize,
    /// Datagrams that came one by one since a batch was tried.
    singles: u32,
    /// Whether the kernel cuts buffers into datagrams on the way to the peers.
    cuts: bool,
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
            singles: 0,
            cuts: true,
        }
    }

    /// Receives what is there, and waits for the first one where the socket blocks. Returns how
    /// many came.
    pub fn receive(&mut self, socket: RawFd) -> nix::Result<usize> {
        self.received.clear();
        if self.take == 1 {
            return self.receive_one(socket);
        }
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
        self.take = if count == 1 { 1 } else { 2 * count }.min(self.buffers.len());
        Ok(count)
    }

    fn receive_one(&mut self, socket: RawFd) -> nix::Result<usize> {
        let (length, from) = recvfrom::<SockaddrStorage>(socket, &mut self.buffers[0])?;
        self.received.push(Received { length, from });
        self.singles += 1;
        if self.singles.is_multiple_of(TRY_EVERY) {
            self.take = TRY.min(self.buffers.len());
        }
        Ok(1)
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
            let alike = self.alike(sent);
            let result = if let [
                Received {
                    length,
                    from: Some(from),
                },
            ] = &self.received[..]
            {
                sendto(socket, &self.buffers[0][..*length], from, MsgFlags::empty()).map(|_| 1)
            } else if self.cuts && alike > 1 {
                self.send_cut(socket, sent, alike)
            } else {
                self.send_each(socket, sent)
            };
            match result {
                Ok(count) => sent += count.max(1),
                Err(Errno::EINTR) => {}
                Err(Errno::EIO | Errno::EINVAL | Errno::EMSGSIZE) if self.cuts => {
                    self.cuts = false;
                }
                Err(_) if sent > 0 => return Ok(sent),
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    /// How many datagrams from `first` on are of one size and from one peer.
    fn alike(&self, first: usize) -> usize {
        let one = self.received[first];
        let most = MAX_PAYLOAD.checked_div(one.length).unwrap_or(1);
        let same = |other: &&Received| other.length == one.length && other.from == one.from;
        let rest = self.received[first..].iter().take(most);
        rest.take_while(same).count()
    }

    /// All of them are one buffer that the kernel cuts (UDP_SEGMENT, udp(7)): it goes through the
    /// stack once.
    fn send_cut(&self, socket: RawFd, first: usize, count: usize) -> nix::Result<usize> {
        let Received { length, from } = self.received[first];
        let parts: Vec<IoSlice<'_>> = self.buffers[first..first + count]
            .iter()
            .map(|buffer| IoSlice::new(&buffer[..length]))
            .collect();
        let size = length as u16;
        let cut = [ControlMessage::UdpGsoSegments(&size)];
        sendmsg(socket, &parts, &cut, MsgFlags::empty(), from.as_ref())?;
        Ok(count)
    }

    fn send_each(&mut self, socket: RawFd, first: usize) -> nix::Result<usize> {
        let received = &self.received[first..];
        let slices: Vec<[IoSlice<'_>; 1]> = received
            .iter()
            .zip(&self.buffers[first..])
            .map(|(received, buffer)| [IoSlice::new(&buffer[..received.length])])
            .collect();
        let addresses: Vec<Option<SockaddrStorage>> =
            received.iter().map(|received| received.from).collect();
        let results = sendmmsg(
            socket,
            &mut self.send,
            &slices,
            addresses,
            [],
            MsgFlags::empty(),
        )?;
        Ok(results.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use std::time::Duration;

    #[test]
    fn datagrams_go_back_to_each_peer_as_they_came() {
        for cuts in [true, false] {
            let echo = UdpSocket::bind("127.0.0.1:0").unwrap();
            let patience = Some(Duration::from_secs(10));
            echo.set_read_timeout(patience).unwrap();
            let mut batch = Batch::new(64);
            batch.cuts = cuts;
            let peers = [0, 1].map(|_| {
                let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
                peer.connect(echo.local_addr().unwrap()).unwrap();
                peer.set_read_timeout(patience).unwrap();
                peer
            });
            let sizes = [0, 0, 3, 512, 512, 512, 512, 9_000, 9_000, 512, 1];
            for number in 0..sizes.len() * 2 {
                let bytes = vec![number as u8; sizes[number / 2]];
                peers[usize::from(number % 7 == 0)].send(&bytes).unwrap();
            }
            let mut left = sizes.len() * 2;
            while left > 0 {
                let count = batch.receive(echo.as_raw_fd()).unwrap();
                assert_eq!(batch.send_back(echo.as_raw_fd()), Ok(count));
                left -= count;
            }
            let mut buffer = vec![0; 70_000];
            for number in 0..sizes.len() * 2 {
                let peer = &peers[usize::from(number % 7 == 0)];
                let count = peer.recv(&mut buffer).unwrap();
                assert_eq!(count, sizes[number / 2]);
                assert!(buffer[..count].iter().all(|byte| *byte == number as u8));
            }
            assert_eq!(batch.cuts, cuts);
        }
    }
}
