//! One association: its control connection, its socket, and what came through it.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use crate::probe::kinds::ErrorKind;
use crate::probe::reach::near;
use crate::probe::socks5::opening::Opening;
use crate::probe::stream::Stream;

pub enum State {
    Opening(Box<Opening>),
    Open {
        /// Held open; none without a proxy.
        _control: Option<Stream>,
        socket: UdpSocket,
        /// The relay, or the destination without a proxy.
        peer: SocketAddr,
    },
    /// Why it was not opened, or ended.
    Down(ErrorKind),
}

pub struct Association {
    pub state: State,
    /// In front of each datagram; empty without a proxy.
    pub header: Vec<u8>,
    pub began_ns: u64,
    /// When its first datagram went out.
    pub first_ns: Option<u64>,
    /// When the last answer came, or the first datagram went out.
    pub heard_ns: u64,
    /// The number after the highest that was answered (NextExp of RFC 4737, 3.3).
    pub expected: usize,
    /// Whether a right answer came, in time or late.
    pub carried: bool,
    /// When the peer ended its control connection.
    pub ended_ns: Option<u64>,
}

impl Association {
    pub fn new(header: Vec<u8>) -> Self {
        Self {
            state: State::Down(ErrorKind::Cut),
            header,
            began_ns: 0,
            first_ns: None,
            heard_ns: 0,
            expected: 0,
            carried: false,
            ended_ns: None,
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }
}

/// A socket for datagrams to `peer`. It is not connected, so that answers from other senders are seen. On loopback it is bound there.
pub fn bind(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((near(peer.ip()), 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}
