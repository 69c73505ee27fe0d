//! The UDP socket of a QUIC client: each datagram has the SOCKS5 header (RFC 1928, 7), if there is a proxy. One system call carries one
//! datagram, with a proxy and without, so that both paths cost the client the same.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use rustix::net::sockopt::{set_ip_mtu_discover, set_ipv6_mtu_discover};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;

use crate::lock::lock;
use crate::net::batch::{DATAGRAM, SOCKET_BUFFER};
use crate::probe::socks5::codec::udp_payload;

#[derive(Debug)]
pub struct Wrapped {
    socket: UdpSocket,
    /// Header of each datagram; empty without a proxy.
    header: Vec<u8>,
    /// Where the client means to send to.
    target: SocketAddr,
    output: Mutex<Vec<u8>>,
    input: Mutex<Vec<u8>>,
    pub counts: Counts,
}

/// Datagrams without their SOCKS5 headers.
#[derive(Debug, Default)]
pub struct Counts {
    pub sent: AtomicU64,
    /// The largest sent one, bytes.
    pub largest_sent: AtomicU64,
    pub received: AtomicU64,
    /// The largest received one, bytes.
    pub largest: AtomicU64,
    /// Whether the kernel says that nothing listens there.
    pub refused: AtomicBool,
}

impl Wrapped {
    /// Sends to `peer`, which is the relay if there is a proxy. The caller is inside a runtime.
    pub fn new(peer: SocketAddr, header: Vec<u8>, target: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_recv_buffer_size(SOCKET_BUFFER)?;
        socket.set_send_buffer_size(SOCKET_BUFFER)?;
        socket.set_nonblocking(true)?;
        // The kernel must not cut datagrams into fragments: discovery would find an MTU that the path does not have (RFC 8899, 3).
        match peer {
            SocketAddr::V4(_) => set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?,
            SocketAddr::V6(_) => set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?,
        }
        socket.connect(&peer.into())?;
        Ok(Self {
            socket: UdpSocket::from_std(socket.into())?,
            header,
            target,
            output: Mutex::default(),
            input: Mutex::new(vec![0; DATAGRAM]),
            counts: Counts::default(),
        })
    }

    /// Receives one datagram, without its header. None: it was none of the relay's, or too large for `buffer`.
    fn take(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut input = lock(&self.input);
        let length = self.socket.try_recv(&mut input)?;
        let Some(payload) = udp_payload(&input[..length], !self.header.is_empty()) else {
            return Ok(None);
        };
        let Some(room) = buffer.get_mut(..payload.len()) else {
            return Ok(None);
        };
        room.copy_from_slice(payload);
        self.counts.received.fetch_add(1, Ordering::Relaxed);
        let size = payload.len() as u64;
        self.counts.largest.fetch_max(size, Ordering::Relaxed);
        Ok(Some(payload.len()))
    }
}

impl AsyncUdpSocket for Wrapped {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let mut output = lock(&self.output);
        output.clear();
        output.extend_from_slice(&self.header);
        output.extend_from_slice(transmit.contents);
        match self.socket.try_send(&output) {
            Ok(_) => {
                self.counts.sent.fetch_add(1, Ordering::Relaxed);
                let size = transmit.contents.len() as u64;
                self.counts.largest_sent.fetch_max(size, Ordering::Relaxed);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(error) => {
                self.note(&error);
                // QUIC sends again what was lost. Too large a datagram is a test of the discovery, which thus fails.
                Ok(())
            }
        }
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.socket.poll_recv_ready(context))?;
            match self.take(&mut buffers[0]) {
                Ok(Some(length)) => {
                    meta[0] = RecvMeta {
                        addr: self.target,
                        len: length,
                        stride: length,
                        ecn: None,
                        dst_ip: None,
                    };
                    return Poll::Ready(Ok(1));
                }
                Ok(None) => {}
                Err(error) => self.note(&error),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

impl Wrapped {
    pub fn target(&self) -> SocketAddr {
        self.target
    }

    fn note(&self, error: &io::Error) {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            self.counts.refused.store(true, Ordering::Relaxed);
        }
    }
}

#[derive(Debug)]
struct Writable(Arc<Wrapped>);

impl UdpPoller for Writable {
    fn poll_writable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.socket.poll_send_ready(context)
    }
}
