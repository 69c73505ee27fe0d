//! Counts the packets of some ports (packet(7)), without delaying them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use nix::sys::socket::{LinkAddr, getsockopt, recvfrom};
use nix::{getsockopt_impl, libc, sockopt_impl};
use serde::Serialize;
use socket2::Socket;

use super::capture::{is_echo, open};
use super::flows::short;

sockopt_impl!(
    /// Packets that were received and dropped since the last reading.
    Statistics,
    GetOnly,
    libc::SOL_PACKET,
    libc::PACKET_STATISTICS,
    libc::tpacket_stats
);

/// The header of IP without options: it has the packet's length.
const HEADER: usize = 20;

/// IPv4 packets of TCP and UDP, and their bytes with all headers from IP's on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Packets {
    pub packets: u64,
    pub bytes: u64,
}

/// Counts from its start on, in this thread's network namespace. It must be read often.
pub struct Counter {
    socket: Socket,
    counted: Packets,
}

impl Counter {
    pub fn start(ports: &[u16]) -> io::Result<Self> {
        let socket = open(ports, HEADER as u32)?;
        socket.set_nonblocking(true)?;
        let mut counter = Self {
            socket,
            counted: Packets::default(),
        };
        // Packets of all ports arrived before the filter was set.
        counter.read();
        counter.counted = Packets::default();
        Ok(counter)
    }

    pub fn read(&mut self) {
        let mut header = [0; HEADER];
        while let Ok((read, from)) = recvfrom::<LinkAddr>(self.socket.as_raw_fd(), &mut header) {
            if read == HEADER && header[0] >> 4 == 4 && !is_echo(from.as_ref()) {
                self.counted.packets += 1;
                self.counted.bytes += short(&header, 2).map_or(0, u64::from);
            }
        }
    }

    /// The counts; `None` if some packets were lost.
    pub fn end(mut self) -> Option<Packets> {
        self.read();
        let statistics = getsockopt(&self.socket, Statistics).ok()?;
        (statistics.tp_drops == 0).then_some(self.counted)
    }
}

/// The ports of addresses; `None` if one is not of IPv4, whose packets are not counted.
pub fn ports_of(all: &[SocketAddr]) -> Option<Vec<u16>> {
    let port = |address: &SocketAddr| address.is_ipv4().then_some(address.port());
    all.iter().map(port).collect()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn packets_of_other_ports_do_not_count() {
        let busy = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = busy.local_addr().unwrap();
        let ends = AtomicBool::new(false);
        let found: Vec<_> = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    let _ = busy.send_to(&[0; 32], at);
                }
            });
            let all = (0..200).map_while(|_| Counter::start(&[9]).ok()?.end());
            let found = all.collect();
            ends.store(true, Ordering::Relaxed);
            found
        });
        // It is empty if this user may not capture packets.
        assert!(
            found.iter().all(|one| *one == Packets::default()),
            "{found:?}"
        );
    }
}
