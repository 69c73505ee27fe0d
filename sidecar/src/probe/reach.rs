//! Which address of a name is dialled: the first that answers, as k6/internal/connect does for HTTP.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);
/// Bounds the addresses of a name that are tried.
const MOST: usize = 8;

/// The address that is dialled, with all addresses of its name that were tried.
#[derive(Debug, Clone)]
pub struct Reached {
    pub address: SocketAddr,
    tried: Vec<SocketAddr>,
}

impl Reached {
    /// An address that was given as one.
    pub fn given(address: SocketAddr) -> Self {
        Self {
            address,
            tried: Vec::new(),
        }
    }

    /// Tries addresses in their order; the first one is taken if no address answers. An empty list gives none.
    pub fn first_that_answers(all: Vec<SocketAddr>) -> Option<Self> {
        let first = *all.first()?;
        if all.len() == 1 {
            return Some(Self::given(first));
        }
        let answers = |address: &&SocketAddr| TcpStream::connect_timeout(address, PATIENCE).is_ok();
        Some(Self {
            address: all.iter().find(answers).copied().unwrap_or(first),
            tried: all,
        })
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        if self.tried.is_empty() {
            return Ok(());
        }
        let tried: Vec<String> = self.tried.iter().map(SocketAddr::to_string).collect();
        write!(f, " (tried {})", tried.join(", "))
    }
}

/// The local address from which a peer is reached: loopback's where the peer is there, else any.
pub fn near(peer: IpAddr) -> IpAddr {
    match (peer.is_ipv4(), peer.is_loopback()) {
        (true, true) => Ipv4Addr::LOCALHOST.into(),
        (true, false) => Ipv4Addr::UNSPECIFIED.into(),
        (false, true) => Ipv6Addr::LOCALHOST.into(),
        (false, false) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// The host of HOST:PORT, without brackets.
pub fn host_of(address: &str) -> &str {
    let (host, _) = address.rsplit_once(':').unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The addresses of a name, IPv4 first; of localhost both of this machine, whatever the resolver knows.
pub fn addresses_of(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let looked_up = (host, port).to_socket_addrs();
    let mut all: Vec<SocketAddr> = if host.eq_ignore_ascii_case("localhost") {
        let own = [
            SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
        ];
        looked_up.into_iter().flatten().chain(own).collect()
    } else {
        looked_up?.collect()
    };
    all.sort();
    all.dedup();
    all.truncate(MOST);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A port on which nothing listens at 127.0.0.1, but a listener does at 127.0.0.2.
    fn only_at_the_second() -> (TcpListener, Vec<SocketAddr>) {
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let second = listener.local_addr().unwrap();
        let first = SocketAddr::from((Ipv4Addr::LOCALHOST, second.port()));
        (listener, vec![first, second])
    }

    #[test]
    fn the_address_that_answers_is_taken() {
        let (listener, all) = only_at_the_second();
        let reached = Reached::first_that_answers(all.clone()).unwrap();
        assert_eq!(reached.address, all[1]);
        drop(listener);
        let reached = Reached::first_that_answers(all.clone()).unwrap();
        assert_eq!(reached.address, all[0]);
        let told = format!("{} (tried {}, {})", all[0], all[0], all[1]);
        assert_eq!(reached.to_string(), told);
        assert_eq!(Reached::given(all[0]).to_string(), all[0].to_string());
        assert!(Reached::first_that_answers(Vec::new()).is_none());
    }

    #[test]
    fn localhost_has_both_addresses() {
        let all = addresses_of("LocalHost", 9).unwrap();
        let own = ["127.0.0.1:9", "[::1]:9"].map(|text| text.parse().unwrap());
        assert!(own.iter().all(|address| all.contains(address)), "{all:?}");
        assert!(all[0].is_ipv4(), "{all:?}");
    }
}
