//! Open descriptors of processes by kind.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use serde::Serialize;

use super::sockets::{Socket, Sockets};

/// Open descriptors by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Descriptors {
    pub all: u64,
    /// TCP sockets by state (RFC 9293), such as `established`, `close_wait` and `listen`. A socket that is neither connected nor listens
    /// is `close`.
    pub tcp: BTreeMap<String, u64>,
    /// TCP connections that the other end does not need ([`Sockets::is_left`]).
    pub left: u64,
    pub udp: u64,
    pub pipes: u64,
    /// Files, other sockets, and descriptors that the kernel makes (epoll, timers, events).
    pub other: u64,
}

/// The open descriptors of each group of processes by kind; `None` if unknown ([`open_of`]).
pub fn kinds(groups: &[Vec<i32>]) -> Vec<Option<Descriptors>> {
    let open: Vec<_> = groups.iter().map(|pids| open_of(pids)).collect();
    // The tables of sockets are read last: a socket that is opened meanwhile is then in them.
    let mut sockets = Sockets::default();
    groups.iter().flatten().for_each(|pid| sockets.read(*pid));
    let kinds = |open: Vec<Open>| Descriptors::of(&open, &sockets);
    open.into_iter().map(|open| open.map(kinds)).collect()
}

impl Descriptors {
    fn of(open: &[Open], sockets: &Sockets) -> Self {
        let mut sum = Self::default();
        for one in open {
            sum.add(*one, sockets);
        }
        sum
    }

    fn add(&mut self, open: Open, sockets: &Sockets) {
        self.all += 1;
        match open {
            Open::Pipe => self.pipes += 1,
            Open::Socket(inode) => match sockets.get(inode) {
                Some(Socket::Tcp(tcp)) => {
                    *self.tcp.entry(tcp.word()).or_default() += 1;
                    self.left += u64::from(sockets.is_left(tcp));
                }
                Some(Socket::Udp) => self.udp += 1,
                None => self.other += 1,
            },
            Open::Other => self.other += 1,
        }
    }
}

/// The object that a descriptor refers to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    /// The kernel's number of its inode.
    Socket(u64),
    Pipe,
    Other,
}

impl Open {
    /// `link` is its link in `/proc/PID/fd`, such as `socket:[4711]`.
    fn of(link: &str) -> Self {
        let number = |kind: &str| {
            let number = link.strip_prefix(kind)?.strip_suffix(']')?;
            number.parse().ok()
        };
        match (number("socket:["), number("pipe:[")) {
            (Some(inode), _) => Self::Socket(inode),
            (_, Some(_)) => Self::Pipe,
            _ => Self::Other,
        }
    }
}

/// The open descriptors of processes; a process that has ended has none. `None` if the kernel does not show them: it shows those of a
/// program with capabilities to its user only as root.
pub fn open_of(pids: &[i32]) -> Option<Vec<Open>> {
    let mut open = Vec::new();
    for pid in pids {
        let folder = match std::fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(folder) => folder,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            Err(_) => continue,
        };
        // A descriptor may be closed meanwhile.
        let links = folder
            .flatten()
            .flat_map(|one| std::fs::read_link(one.path()));
        open.extend(links.map(|link| Open::of(&link.to_string_lossy())));
    }
    Some(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_tell_what_a_descriptor_refers_to() {
        for (link, open) in [
            ("socket:[4711]", Open::Socket(4711)),
            ("pipe:[12]", Open::Pipe),
            ("/tmp/pipe:[12]", Open::Other),
            ("anon_inode:[eventpoll]", Open::Other),
            ("/dev/null (deleted)", Open::Other),
        ] {
            assert_eq!(Open::of(link), open, "{link}");
        }
    }
}
