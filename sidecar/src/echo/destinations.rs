//! Many destinations of datagrams: consecutive loopback addresses with one port, so that each is another host to a proxy.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use super::{Engine, Request, failed};
use crate::failure::{Failure, Result};

/// As many as there may be associations at once.
pub const MOST: u64 = 8_192;

/// The destination of this number; number 0 is the first address itself. Outside 127.0.0.0/8 there is no other.
pub fn at(first: SocketAddr, number: u64) -> Option<SocketAddr> {
    if number == 0 {
        return Some(first);
    }
    let IpAddr::V4(ip) = first.ip() else {
        return None;
    };
    let ip = Ipv4Addr::from_bits(ip.to_bits().checked_add(u32::try_from(number).ok()?)?);
    (first.ip().is_loopback() && ip.is_loopback()).then_some((ip, first.port()).into())
}

pub fn check(request: &Request) -> Result<()> {
    let number = u64::from(request.destinations);
    let plain = request.engine == Engine::Events && request.faults.is_none();
    let last = number.checked_sub(1).filter(|_| number <= MOST);
    let fits = last.is_some_and(|last| at(SocketAddr::new(request.host, 0), last).is_some());
    if fits && (number == 1 || plain && request.dns.is_none()) {
        return Ok(());
    }
    Err(Failure::invalid(
        format!("destinations: {number} are not possible here"),
        format!(
            "give 1 to {MOST}; several need engine events, no faults, and a host in 127.0.0.0/8"
        ),
    ))
}

/// The sockets of all destinations after the first one, which is open.
pub fn others(request: &Request, first: &UdpSocket) -> Result<Vec<UdpSocket>> {
    let bind = |number: u32| {
        let first = first.local_addr()?;
        let address = at(first, u64::from(number)).unwrap_or(first);
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let all = (1..request.destinations)
        .map(bind)
        .collect::<std::io::Result<_>>();
    all.map_err(|error| failed("UDP", request.host, request.udp_port, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_consecutive_and_stay_on_loopback() {
        let of = |first: &str, number| at(first.parse().unwrap(), number).map(|it| it.to_string());
        assert_eq!(of("[::1]:9", 0), Some("[::1]:9".into()));
        assert_eq!(of("[::1]:9", 1), None);
        assert_eq!(of("127.0.0.1:9", 256), Some("127.0.1.1:9".into()));
        assert_eq!(of("127.255.255.255:9", 1), None);
        assert_eq!(of("192.0.2.1:9", 1), None);
    }

    #[test]
    fn several_need_the_events_engine_and_ipv4() {
        let request = |engine, host: &str, destinations| Request {
            engine,
            host: host.parse().unwrap(),
            destinations,
            ..Request::default()
        };
        assert!(check(&request(Engine::Blocking, "::1", 1)).is_ok());
        assert!(check(&request(Engine::Events, "127.0.0.1", 8_192)).is_ok());
        assert!(check(&request(Engine::Events, "127.0.0.1", 8_193)).is_err());
        assert!(check(&request(Engine::Events, "127.0.0.1", 0)).is_err());
        assert!(check(&request(Engine::Blocking, "127.0.0.1", 2)).is_err());
        assert!(check(&request(Engine::Events, "::1", 2)).is_err());
    }
}
