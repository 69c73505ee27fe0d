//! Counts of an echo server, in total and for each probe.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use serde::Serialize;

use crate::net::tag::{self, TAGS};

/// Counts since the start. `tcp_bytes` is payload: echoed, or received and sent by bulk transfers. `dropped` counts answers that a fault
/// dropped or that could not be sent. `dns_queries` counts valid DNS queries, and `dns_nxdomain` the queries for unknown names.
#[derive(Debug, Default, Serialize)]
pub struct Counters {
    /// All accepted connections, including empty ones.
    #[serde(skip)]
    accepted: AtomicU64,
    #[serde(skip)]
    tags: Tags,
    pub tcp_connections: AtomicU64,
    pub tcp_bytes: AtomicU64,
    pub udp_received: AtomicU64,
    pub udp_sent: AtomicU64,
    pub dropped: AtomicU64,
    pub duplicated: AtomicU64,
    pub reordered: AtomicU64,
    pub delayed: AtomicU64,
    pub dns_queries: AtomicU64,
    pub dns_nxdomain: AtomicU64,
}

/// Counts by tag. Traffic without a probe is counted at [`tag::NOBODY`].
#[derive(Debug)]
struct Tags(Vec<Tagged>);

impl Default for Tags {
    fn default() -> Self {
        Self((0..TAGS).map(|_| Tagged::default()).collect())
    }
}

/// Counts of the probe with one tag. The first byte of a connection or a datagram decides which probe it belongs to. Injected duplicates
/// are not in `datagrams_sent`.
#[derive(Debug, Default)]
pub struct Tagged {
    pub connections: AtomicU64,
    ended: AtomicU64,
    pub bytes_received: AtomicU64,
    pub bytes_sent: AtomicU64,
    pub datagrams_received: AtomicU64,
    pub datagrams_sent: AtomicU64,
}

/// The counts of one probe at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Connections over which no byte has arrived yet, from any client.
    pub empty: u64,
    pub connections: u64,
    /// Connections that have ended, of those over which a byte had arrived.
    pub ended: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub datagrams_received: u64,
    pub datagrams_sent: u64,
}

/// The tag of the probe that uses a connection, once its first byte has told it.
pub struct Told(AtomicU8);

impl Default for Told {
    fn default() -> Self {
        Self(AtomicU8::new(tag::UNTOLD))
    }
}

impl Told {
    /// Counts the first `bytes` bytes of the connection for the probe `tag`. Later calls do nothing.
    pub fn begins(&self, tag: u8, bytes: usize, counters: &Counters) {
        if self.0.load(Ordering::Relaxed) == tag::UNTOLD {
            self.0.store(tag::of(tag), Ordering::Relaxed);
            Counters::add(&self.counts(counters).connections, 1);
            self.received(bytes, counters);
        }
    }

    pub fn received(&self, bytes: usize, counters: &Counters) {
        if self.0.load(Ordering::Relaxed) != tag::UNTOLD {
            Counters::add(&self.counts(counters).bytes_received, bytes);
        }
    }

    pub fn sent(&self, bytes: usize, counters: &Counters) {
        Counters::add(&self.counts(counters).bytes_sent, bytes);
    }

    /// Counts the end of the connection. One without a byte belongs to no probe.
    pub fn ended(&self, counters: &Counters) {
        if self.0.load(Ordering::Relaxed) != tag::UNTOLD {
            Counters::add(&self.counts(counters).ended, 1);
        }
    }

    fn counts<'a>(&self, counters: &'a Counters) -> &'a Tagged {
        counters.of(self.0.load(Ordering::Relaxed))
    }
}

impl Counters {
    pub fn accepted(&self) {
        Self::add(&self.accepted, 1);
    }

    /// The counts of the tag that a first byte means.
    pub fn of(&self, byte: u8) -> &Tagged {
        &self.tags.0[usize::from(tag::of(byte))]
    }

    pub fn seen(&self, tag: u8) -> Seen {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Tags(all) = &self.tags;
        // A connection is counted as accepted before its first byte arrives.
        let used: u64 = all.iter().map(|one| read(&one.connections)).sum();
        let tagged = self.of(tag);
        Seen {
            empty: read(&self.accepted).saturating_sub(used),
            connections: read(&tagged.connections),
            ended: read(&tagged.ended),
            bytes_received: read(&tagged.bytes_received),
            bytes_sent: read(&tagged.bytes_sent),
            datagrams_received: read(&tagged.datagrams_received),
            datagrams_sent: read(&tagged.datagrams_sent),
        }
    }

    pub fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Takes back datagrams that were counted as sent but could not be sent.
    pub fn not_sent(&self, count: usize) {
        if count > 0 {
            self.udp_sent.fetch_sub(count as u64, Ordering::Relaxed);
            Self::add(&self.dropped, count);
        }
    }
}
