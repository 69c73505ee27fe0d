//! The number of connections that have reached a server, accepted or waiting to be.
//!
//! The kernel sets a connection up before the server's thread accepts it. A busy thread may accept it long after the client has gone on.
//! The number therefore includes the kernel's queue, and does not depend on when the thread runs.

use std::net::TcpListener;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, libc, sockopt_impl};

use crate::net::clock::now_ns;

/// Where `tcpi_unacked` is: for a listener, the number of connections that wait to be accepted.
const WAITING: usize = std::mem::offset_of!(libc::tcp_info, tcpi_unacked) / size_of::<u32>();

sockopt_impl!(
    /// The begin of a socket's statistics (`linux/tcp.h`). Older kernels have less than the whole of `libc::tcp_info`.
    TcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u32; WAITING + 1]
);

/// The longest wait for a thread that is between taking a connection from the queue and counting it.
const PATIENCE_NS: u64 = 1_000_000;

#[derive(Default)]
pub struct Arrivals {
    listener: OnceLock<TcpListener>,
    /// Twice the connections that were taken from the queue, and one more while a thread takes one.
    taken: AtomicU64,
}

impl Arrivals {
    /// The server's listener; called once.
    pub fn of(&self, listener: &TcpListener) -> std::io::Result<()> {
        let _ = self.listener.set(listener.try_clone()?);
        Ok(())
    }

    /// Takes a connection from the queue by `accept`, which must not wait.
    pub fn take<T>(&self, accept: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        let before = self.taken.fetch_add(1, Ordering::SeqCst);
        let accepted = accept();
        let after = if accepted.is_ok() { before + 2 } else { before };
        self.taken.store(after, Ordering::SeqCst);
        accepted
    }

    /// Connections that have reached the server so far; none if a thread is in between.
    pub fn number(&self) -> Option<u64> {
        let listener = self.listener.get()?;
        let until = now_ns() + PATIENCE_NS;
        loop {
            let before = self.taken.load(Ordering::SeqCst);
            let waiting = getsockopt(listener, TcpInfo).ok()?[WAITING];
            let whole = before.is_multiple_of(2) && self.taken.load(Ordering::SeqCst) == before;
            if whole {
                return Some(before / 2 + u64::from(waiting));
            }
            if now_ns() >= until {
                return None;
            }
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn connections_count_before_and_after_they_are_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let arrivals = Arrivals::default();
        assert_eq!(arrivals.number(), None);
        arrivals.of(&listener).unwrap();
        assert_eq!(arrivals.number(), Some(0));
        let clients = [at, at].map(|at| TcpStream::connect(at).unwrap());
        assert_eq!(arrivals.number(), Some(2));
        arrivals.take(|| listener.accept()).unwrap();
        assert_eq!(arrivals.number(), Some(2));
        let failed = arrivals.take(|| Err::<(), _>(std::io::ErrorKind::WouldBlock.into()));
        assert!(failed.is_err());
        assert_eq!(arrivals.number(), Some(2));
        // A thread that has taken a connection and does not come to count it.
        let told = arrivals.take(|| Ok(arrivals.number()));
        assert_eq!(told.unwrap(), None);
        drop(clients);
    }
}
