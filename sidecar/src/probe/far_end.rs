//! Compares the counts of a probe with the counts of its far end.
//!
//! The probe knows two bounds of each count. The far end has counted at least what was answered or confirmed, and at most what was
//! sent. If each answer was awaited, both bounds are the same number. A failure, a datagram without an answer and a time limit move the
//! bounds apart, only by what was on its way.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::plan::Plan;
use crate::echo::counters::Seen;
use crate::echo::{Echo, Shared};
use crate::net::clock::now_ns;

/// The longest wait for the far end's counts. A far end counts its answer a moment after it sends the answer, and some proxies grant a
/// tunnel before they dial.
const PATIENCE_NS: u64 = 2_000_000_000;
const LOOK_EVERY: Duration = Duration::from_millis(2);
pub const ANY: u64 = u64::MAX;

/// Bounds of one count of the far end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    pub least: u64,
    pub most: u64,
}

impl Bounds {
    pub fn new(least: u64, most: u64) -> Self {
        Self { least, most }
    }
}

impl AddAssign for Bounds {
    fn add_assign(&mut self, other: Self) {
        self.least = self.least.saturating_add(other.least);
        self.most = self.most.saturating_add(other.most);
    }
}

/// All that a probe knows of what it carried, its warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Tunnels that were opened and over which nothing was sent.
    pub silent: u64,
    /// Tunnels over which something was sent.
    pub connections: Bounds,
    pub datagrams_up: Bounds,
    pub datagrams_down: Bounds,
    pub bytes_up: Bounds,
    pub bytes_down: Bounds,
}

impl Carried {
    /// A tunnel of round trips, by its bytes: all that is sent comes back.
    pub fn echoed(sent: u64, got: u64) -> Self {
        Self::tunnel(Bounds::new(got, sent), Bounds::new(got, sent), got > 0)
    }

    /// A tunnel by its bytes.
    pub fn tunnel(up: Bounds, down: Bounds, answered: bool) -> Self {
        Self {
            connections: Bounds::new(u64::from(answered), u64::from(up.most > 0)),
            bytes_up: up,
            bytes_down: down,
            ..Self::default()
        }
    }

    /// Datagrams of `size` bytes; the last may be shorter. All that is sent comes back.
    pub fn datagrams(sent: u64, got: u64, size: u64) -> Self {
        let datagrams = Bounds::new(got.div_ceil(size), sent.div_ceil(size));
        Self::both_ways(datagrams, Bounds::new(got, sent))
    }

    /// Datagrams by their numbers and bytes: all that is sent comes back.
    pub fn both_ways(datagrams: Bounds, bytes: Bounds) -> Self {
        Self {
            datagrams_up: datagrams,
            datagrams_down: datagrams,
            bytes_up: bytes,
            bytes_down: bytes,
            ..Self::default()
        }
    }

    pub fn opened() -> Self {
        Self {
            silent: 1,
            ..Self::default()
        }
    }
}

impl AddAssign for Carried {
    fn add_assign(&mut self, other: Self) {
        self.silent += other.silent;
        self.connections += other.connections;
        self.datagrams_up += other.datagrams_up;
        self.datagrams_down += other.datagrams_down;
        self.bytes_up += other.bytes_up;
        self.bytes_down += other.bytes_down;
    }
}

/// Bytes that went over a tunnel. Several threads may count.
#[derive(Default)]
pub struct Moved {
    pub sent: AtomicU64,
    /// The sent bytes that the far end has, as the far end reports or its answer shows.
    pub confirmed: AtomicU64,
    pub asked: AtomicU64,
    pub got: AtomicU64,
}

impl Moved {
    /// The sender's thread may count its last write only after its confirmation.
    pub fn add(counter: &AtomicU64, bytes: u64) {
        counter.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn carried(&self) -> Carried {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let up = Bounds::new(of(&self.confirmed), of(&self.sent));
        let down = Bounds::new(of(&self.got), of(&self.asked));
        Carried::tunnel(up, down, down.least > 0)
    }
}

/// One count as JSON has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Count {
    pub least: u64,
    /// Null stands for any number.
    pub most: Option<u64>,
    pub found: u64,
}

impl Count {
    fn of(bounds: Bounds, found: u64) -> Self {
        Self {
            least: bounds.least,
            most: (bounds.most != ANY).then_some(bounds.most),
            found,
        }
    }
}

/// The counts that the probe's kind has: `connections`, or `datagrams_up` and `datagrams_down`; `bytes_up` and `bytes_down`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Counts(BTreeMap<&'static str, Count>);

impl Counts {
    /// `silent`: the probe only opens tunnels. `duplicates`: the network may deliver a datagram twice.
    fn new(carried: Carried, before: Seen, now: Seen, silent: bool, duplicates: bool) -> Self {
        let udp = carried.datagrams_up.most > 0;
        let mut all = BTreeMap::new();
        let mut count = |name, mut bounds: Bounds, found: u64| {
            if udp && duplicates {
                bounds.most = ANY;
            }
            all.insert(name, Count::of(bounds, found));
        };
        if silent {
            // A proxy that dials ahead, or twice, makes more of them.
            let bounds = Bounds::new(carried.silent, ANY);
            count(
                "connections",
                bounds,
                now.empty.saturating_sub(before.empty),
            );
            return Self(all);
        }
        let bytes_received = now.bytes_received - before.bytes_received;
        count("bytes_up", carried.bytes_up, bytes_received);
        count(
            "bytes_down",
            carried.bytes_down,
            now.bytes_sent - before.bytes_sent,
        );
        if udp {
            let received = now.datagrams_received - before.datagrams_received;
            count("datagrams_up", carried.datagrams_up, received);
            let sent = now.datagrams_sent - before.datagrams_sent;
            count("datagrams_down", carried.datagrams_down, sent);
        } else {
            let connections = now.connections - before.connections;
            count("connections", carried.connections, connections);
        }
        Self(all)
    }

    /// Whether the far end has counted all that it must have.
    fn complete(&self) -> bool {
        self.0.values().all(|count| count.found >= count.least)
    }
}

/// The far end of one probe, if it is an echo server of this sidecar.
pub struct FarEnd {
    counts: Arc<Shared>,
    duplicates: bool,
    tag: u8,
    before: Seen,
}

impl FarEnd {
    /// `duplicates`: the network on the way may deliver a datagram twice.
    pub fn new(echo: &Echo, duplicates: bool) -> Self {
        Self {
            counts: echo.counts(),
            duplicates,
            tag: 0,
            before: Seen::default(),
        }
    }

    /// Counts under this tag belong to the probe from now on.
    pub fn begins(&mut self, tag: u8) {
        self.tag = tag;
        self.before = self.counts.counters.seen(tag);
    }

    /// Connections that have reached it so far, from any client; none if its thread is in between.
    pub fn arrived(&self) -> Option<u64> {
        self.counts.arrivals.number()
    }

    /// Connections of the probe that have ended there so far.
    pub fn connections_ended(&self) -> u64 {
        self.counts.counters.seen(self.tag).ended - self.before.ended
    }

    /// Waits until the far end has counted the least that `carried` makes certain, and returns the counts. A cancel ends the wait.
    pub fn ended(&self, plan: &Plan, carried: Carried, cancelled: impl Fn() -> bool) -> Counts {
        let silent = plan.only_opens();
        let until = now_ns() + PATIENCE_NS;
        loop {
            let now = self.counts.counters.seen(self.tag);
            let counts = Counts::new(carried, self.before, now, silent, self.duplicates);
            if counts.complete() || cancelled() || now_ns() >= until {
                return counts;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(number: u64) -> Seen {
        Seen {
            empty: number,
            connections: number,
            ended: number,
            bytes_received: number,
            bytes_sent: number,
            datagrams_received: number,
            datagrams_sent: number,
        }
    }

    fn count(least: u64, most: Option<u64>, found: u64) -> Option<Count> {
        Some(Count { least, most, found })
    }

    #[test]
    fn tunnels_add_up_and_one_without_an_answer_sets_the_bounds_apart() {
        let mut carried = Carried::echoed(100, 100);
        carried += Carried::echoed(30, 0);
        carried += Carried::echoed(0, 0);
        let counts = Counts::new(carried, seen(5), seen(7), false, false);
        assert_eq!(counts.0.get("connections").copied(), count(1, Some(2), 2));
        assert_eq!(counts.0.get("bytes_up").copied(), count(100, Some(130), 2));
        assert_eq!(
            counts.0.get("bytes_down").copied(),
            count(100, Some(130), 2)
        );
        assert_eq!(counts.0.get("datagrams_up").copied(), None);
        assert!(!counts.complete());
        assert!(Counts::new(carried, seen(5), seen(105), false, false).complete());
    }

    #[test]
    fn a_flow_that_is_full_downwards_has_no_upper_bound() {
        let down = Bounds::new(10, ANY);
        let mut carried = Carried::tunnel(Bounds::new(3, 5), down, true);
        carried += Carried::tunnel(Bounds::new(3, 5), down, true);
        let counts = Counts::new(carried, seen(0), seen(25), false, false);
        assert_eq!(counts.0.get("bytes_down").copied(), count(20, None, 25));
        assert_eq!(counts.0.get("bytes_up").copied(), count(6, Some(10), 25));
    }

    #[test]
    fn a_network_may_deliver_datagrams_twice_and_tunnels_may_not() {
        let carried = Carried {
            datagrams_up: Bounds::new(4, 6),
            datagrams_down: Bounds::new(4, 6),
            bytes_up: Bounds::new(40, 60),
            bytes_down: Bounds::new(40, 60),
            ..Carried::default()
        };
        // Another probe was before it.
        let counts = |duplicates| Counts::new(carried, seen(1), seen(10), false, duplicates);
        assert_eq!(
            counts(false).0.get("datagrams_up").copied(),
            count(4, Some(6), 9)
        );
        assert_eq!(
            counts(false).0.get("datagrams_down").copied(),
            count(4, Some(6), 9)
        );
        assert_eq!(
            counts(false).0.get("bytes_up").copied(),
            count(40, Some(60), 9)
        );
        assert_eq!(
            counts(false).0.get("bytes_down").copied(),
            count(40, Some(60), 9)
        );
        assert_eq!(
            counts(true).0.get("datagrams_up").copied(),
            count(4, None, 9)
        );
        assert_eq!(counts(true).0.get("connections").copied(), None);
        let tunnel = Counts::new(Carried::echoed(7, 7), seen(0), seen(9), false, true);
        assert_eq!(tunnel.0.get("bytes_up").copied(), count(7, Some(7), 9));
    }

    #[test]
    fn tunnels_that_carry_nothing_are_connections_without_a_byte() {
        let mut carried = Carried::opened();
        carried += Carried::opened();
        let counts = Counts::new(carried, seen(1), seen(4), true, false);
        let wanted = count(2, None, 3).map(|count| ("connections", count));
        assert_eq!(counts, Counts(wanted.into_iter().collect()));
    }
}
