//! What an echo server has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

#[derive(Default)]
pub struct Counters {
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

/// Counts since the start. `tcp_bytes` is payload: echoed, taken in or sent out by bulk transfers.
/// Datagrams and answers for the rest; `dropped` on purpose or because they could not be sent.
/// `dns_queries` are those of DNS that were understood, `dns_nxdomain` those of them for names that are not there.
#[derive(Debug, Clone, Serialize)]
pub struct Counted {
    pub tcp_connections: u64,
    pub tcp_bytes: u64,
    pub udp_received: u64,
    pub udp_sent: u64,
    pub dropped: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub delayed: u64,
    pub dns_queries: u64,
    pub dns_nxdomain: u64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// What was counted as sent and could not be.
    pub fn not_sent(&self, count: usize) {
        if count > 0 {
            self.udp_sent.fetch_sub(count as u64, Ordering::Relaxed);
            Self::add(&self.dropped, count);
        }
    }

    pub fn counted(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            tcp_connections: read(&self.tcp_connections),
            tcp_bytes: read(&self.tcp_bytes),
            udp_received: read(&self.udp_received),
            udp_sent: read(&self.udp_sent),
            dropped: read(&self.dropped),
            duplicated: read(&self.duplicated),
            reordered: read(&self.reordered),
            delayed: read(&self.delayed),
            dns_queries: read(&self.dns_queries),
            dns_nxdomain: read(&self.dns_nxdomain),
        }
    }
}
