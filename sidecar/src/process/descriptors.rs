//! Open descriptors of processes by kind.

use std::collections::BTreeMap;

use serde::Serialize;

use super::opened::{Open, Place, Transport, open_of, transport_of};
use super::sockets::{Socket, Sockets};

/// Open descriptors by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Descriptors {
    pub all: u64,
    /// TCP sockets by state (RFC 9293), such as `established`, `close_wait` and `listen`. A socket that is neither connected nor listens
    /// is `close`, such as one that the other end has reset.
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
            Open::Socket(inode, place) => match sockets.get(inode) {
                Some(Socket::Tcp(tcp)) => {
                    *self.tcp.entry(tcp.word()).or_default() += 1;
                    self.left += u64::from(sockets.is_left(tcp));
                }
                Some(Socket::Udp) => self.udp += 1,
                None => self.add_unlisted(place),
            },
            Open::Other => self.other += 1,
        }
    }

    /// The kernel lists no TCP socket without a connection, and no UDP socket without a port.
    fn add_unlisted(&mut self, place: Place) {
        match transport_of(place) {
            Some(Transport::Tcp) => {
                *self.tcp.entry("close".to_owned()).or_default() += 1;
                self.left += 1;
            }
            Some(Transport::Udp) => self.udp += 1,
            None => self.other += 1,
        }
    }
}

/// A sample reads kinds again if a process has more descriptors by 1 / GROWTH.
const GROWTH: u64 = 20;

/// The kinds of one target's descriptors at the reading that found the most.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    most: u64,
    /// `None` if unknown.
    pub found: Option<Descriptors>,
}

impl Kinds {
    /// Whether `open` descriptors are worth a reading. A close look takes each that are more than before.
    pub fn is_new(&self, open: u64, closely: bool) -> bool {
        let slack = if closely { 0 } else { self.most / GROWTH };
        open > self.most + slack
    }

    /// Notes a reading; some of the `open` descriptors may have been closed before it.
    pub fn note(&mut self, open: u64, found: Option<Descriptors>) {
        let all = found.as_ref().map_or(open, |found| found.all);
        if all > self.most {
            *self = Self { most: all, found };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_read_only_what_has_grown() {
        let of = |all| {
            Some(Descriptors {
                all,
                ..Descriptors::default()
            })
        };
        let mut kinds = Kinds::default();
        kinds.note(1_010, of(1_000));
        let is_new = |open| [false, true].map(|closely| kinds.is_new(open, closely));
        assert_eq!(is_new(1_000), [false, false]);
        assert_eq!(is_new(1_050), [false, true]);
        assert_eq!(is_new(1_051), [true, true]);
        kinds.note(1_100, of(900));
        assert_eq!(kinds.found, of(1_000));
        kinds.note(1_100, None);
        assert_eq!((kinds.most, &kinds.found), (1_100, &None));
    }
}
