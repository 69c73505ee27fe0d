//! Ports on loopback: finds free ones, and finds the process that uses one.

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use procfs::FromReadSI;
use procfs::net::{TcpNetEntries, TcpState, UdpState};
use procfs::process::FDTarget;

use crate::process::sock_diag;

/// The lowest port that is chosen.
const LOWEST: u16 = 20_000;

/// Whether a port can be bound for TCP and for UDP. The error says why not.
pub fn check_free(port: u16) -> io::Result<()> {
    hold(port).map(drop)
}

fn hold(port: u16) -> io::Result<(TcpListener, UdpSocket)> {
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    Ok((tcp, udp))
}

/// `count` different ports that are free for TCP and UDP and not in `avoid`.
///
/// The ports are below the kernel's ephemeral range. So no outgoing connection takes one between this choice and the process's own bind.
pub fn free(count: usize, avoid: &HashSet<u16>) -> io::Result<Vec<u16>> {
    let highest = ephemeral_start()
        .filter(|start| *start > LOWEST + 1_000)
        .unwrap_or(32_768);
    let mut found = Vec::new();
    for _ in 0..10_000 {
        if found.len() == count {
            return Ok(found);
        }
        let port = fastrand::u16(LOWEST..highest);
        if !found.contains(&port) && !avoid.contains(&port) && check_free(port).is_ok() {
            found.push(port);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AddrInUse,
        "no free port was found",
    ))
}

fn ephemeral_start() -> Option<u16> {
    std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")
        .ok()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// The kernel's inode numbers of the TCP sockets that listen on a port, in the calling thread's network namespace; empty if they cannot be
/// read.
pub fn listening(port: u16) -> HashSet<u64> {
    sock_diag::listening(port).unwrap_or_else(|_| listed(port))
}

/// The same numbers from the kernel's lists, for kernels without sock_diag. With ten thousand connections it takes tens of milliseconds.
fn listed(port: u16) -> HashSet<u64> {
    // procfs::net::tcp() reads the lists of the process, but this thread may be in another namespace.
    ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .into_iter()
        .flat_map(|path| TcpNetEntries::from_file(path, procfs::current_system_info()))
        .flat_map(|TcpNetEntries(entries)| entries)
        .filter(|entry| entry.state == TcpState::Listen && entry.local_address.port() == port)
        .map(|entry| entry.inode)
        .collect()
}

/// The kernel's inode numbers of the sockets that are bound to a port, for TCP only listening ones; empty if they cannot be read.
pub fn sockets(port: u16) -> HashSet<u64> {
    let udp = [procfs::net::udp(), procfs::net::udp6()]
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.state != UdpState::Established && entry.local_address.port() == port)
        .map(|entry| entry.inode);
    listening(port).into_iter().chain(udp).collect()
}

/// Whether process `pid` has one of `sockets` open.
pub fn owns(pid: i32, sockets: &HashSet<u64>) -> bool {
    let Ok(files) = procfs::process::Process::new(pid).and_then(|process| process.fd()) else {
        return false;
    };
    files
        .flatten()
        .any(|file| matches!(file.target, FDTarget::Socket(inode) if sockets.contains(&inode)))
}

/// The process that uses a port, such as `pid 12 (nginx)`; `None` if unknown.
pub fn holder(port: u16) -> Option<String> {
    let sockets = sockets(port);
    if sockets.is_empty() {
        return None;
    }
    procfs::process::all_processes()
        .ok()?
        .flatten()
        .find(|process| owns(process.pid, &sockets))
        .map(|process| {
            let name = process
                .stat()
                .map_or_else(|_| "?".to_owned(), |stat| stat.comm);
            format!("pid {} ({name})", process.pid)
        })
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn free_ports_are_different_and_below_the_ephemeral_range() {
        let ports = free(5, &HashSet::new()).unwrap();
        assert_eq!(ports.iter().collect::<HashSet<_>>().len(), 5);
        assert!(ports.iter().all(|port| *port >= LOWEST));
    }

    #[test]
    fn a_taken_port_is_refused_and_its_holder_is_named() {
        let port = free(1, &HashSet::new()).unwrap()[0];
        let _tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert_eq!(
            check_free(port).unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
        let holder = holder(port).unwrap();
        assert!(
            holder.contains(&format!("pid {}", std::process::id())),
            "{holder}"
        );
    }

    #[test]
    fn a_port_that_is_listened_on_is_found_by_both_ways_and_one_that_is_connected_is_not() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine without IPv6.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let at = listener.local_addr().unwrap();
            let found = listening(at.port());
            assert_eq!(found.len(), 1, "{address}");
            assert_eq!(found, listed(at.port()));
            assert!(owns(std::process::id() as i32, &found));
            let stream = TcpStream::connect(at).unwrap();
            let _accepted = listener.accept().unwrap();
            assert_eq!(listening(at.port()), found, "the connection is no listener");
            assert!(listening(stream.local_addr().unwrap().port()).is_empty());
        }
        let port = free(1, &HashSet::new()).unwrap()[0];
        assert!(listening(port).is_empty() && listed(port).is_empty());
    }

    #[test]
    fn a_port_that_only_udp_holds_is_taken_too() {
        let port = free(1, &HashSet::new()).unwrap()[0];
        let _udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert!(check_free(port).is_err());
        assert!(holder(port).is_some());
    }
}
