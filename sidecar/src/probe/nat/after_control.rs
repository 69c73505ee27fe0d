//! Which parts end with the control connection, and how long after it. RFC 1928 (7) says that the association does.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use super::line::Line;
use super::report::AfterControl;
use super::shared::Nat;
use crate::net::clock::{now_ns, seconds};
use crate::probe::reach::near;
use crate::probe::socks5::codec::Address;

/// Time to wait for a datagram, and for the answer that a port is closed.
const WAIT: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Latest {
    up: Option<u64>,
    down: Option<u64>,
}

impl Nat<'_> {
    /// Both ways carry datagrams from the end of the control connection on, for a timeout and the longest idle time, or until neither way has
    /// carried one for a timeout.
    pub fn after_control(&self, own: bool) -> Option<AfterControl> {
        let mut line = self.line(own)?;
        let far = self.first_far().ok()?;
        let mapped = line.begin(&far)?;
        let to = Address::Ip(far.local_addr().ok()?);
        let timeout = self.plan.timeout.as_nanos() as u64;
        let longest = self.plan.nat.idle_s.iter().copied().fold(0.0, f64::max);
        let since = self.next_number();
        line.end_control();
        let began = now_ns();
        // A datagram that arrived at once has been silent for a timeout by then.
        let end = began + timeout + timeout.max((longest * 1e9) as u64);
        let mut latest = Latest::default();
        let silent = |at: Option<u64>, now: u64| now - at.unwrap_or(began) > timeout;
        while !self.stops() {
            let now = now_ns();
            if now >= end || (silent(latest.up, now) && silent(latest.down, now)) {
                break;
            }
            self.both_ways(&line, &far, mapped, &to, since, &mut latest);
        }
        let ended = now_ns();
        let goes_on = |at: Option<u64>| at.is_some_and(|at| ended - at <= timeout);
        let after = |at: Option<u64>| at.map(|at| seconds(at - began));
        Some(AfterControl {
            up: goes_on(latest.up),
            down: goes_on(latest.down),
            up_s: after(latest.up),
            down_s: after(latest.down),
            relay_closed: line.relay.is_some_and(closed),
            source_closed: closed(mapped),
            watched_s: seconds(ended - began),
        })
    }

    fn both_ways(
        &self,
        line: &Line<'_>,
        far: &UdpSocket,
        mapped: SocketAddr,
        to: &Address,
        since: u32,
        latest: &mut Latest,
    ) {
        line.send(to, 0, &self.payload());
        // A datagram that is not sent does not arrive, and only arrivals count.
        let _ = far.send_to(&self.payload(), mapped);
        let soon = || now_ns() + WAIT.as_nanos() as u64;
        if line.arrived(far, since, soon()).is_some() {
            latest.up = Some(now_ns());
        }
        if line.heard(since, soon()).is_some() {
            latest.down = Some(now_ns());
        }
    }
}

/// Whether a port of this machine answers that nothing listens there.
fn closed(at: SocketAddr) -> bool {
    let refused = || -> io::Result<()> {
        let socket = UdpSocket::bind((near(at.ip()), 0))?;
        socket.connect(at)?;
        socket.set_read_timeout(Some(WAIT))?;
        socket.send(&[0])?;
        socket.recv(&mut [0; 1]).map(drop)
    };
    matches!(refused(), Err(error) if error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_port_without_a_socket_is_closed() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let at = socket.local_addr().unwrap();
        assert!(!closed(at));
        drop(socket);
        assert!(closed(at));
    }
}
