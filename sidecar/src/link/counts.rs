//! Counts of one direction of a link.

use serde::Serialize;

/// A packet that arrives later than this after its due time is late, ns.
pub const LATE_NS: u64 = 200_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Counts {
    /// Packets that entered, and their bytes, IP headers included.
    pub sent: u64,
    pub sent_bytes: u64,
    /// Packets delivered to the other end, including copies.
    pub delivered: u64,
    pub delivered_bytes: u64,
    /// Packets dropped because the queue was full.
    pub queue_dropped: u64,
    /// Packets lost by `loss`, after the queue.
    pub lost: u64,
    pub lost_bytes: u64,
    /// Packets lost because the link was dead.
    pub dead: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    pub reordered: u64,
    /// Packets that wait for the line now, and the most until now.
    pub queued_packets: u64,
    pub queued_bytes: u64,
    pub queued_bytes_most: u64,
    /// Packets behind the queue that have not arrived yet.
    pub in_flight: u64,
    /// The link's own losses: too much in flight, refused by the device at the other end, or not read from the device at this end in time.
    /// A correct link has no such losses: if there are any, the link was too slow.
    pub own_overrun: u64,
    pub own_refused: u64,
    /// Null if the device's count cannot be read.
    pub own_unread: Option<u64>,
    /// Packets delivered more than 0.2 ms late, and the largest lateness, ns.
    pub late: u64,
    pub late_most_ns: u64,
    /// The sum of the lateness of all packets, ns.
    pub late_sum_ns: u64,
}

/// Totals of one direction since the link was made, including the time before restarts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Carried {
    /// Packets delivered to the other end, including copies.
    pub delivered: u64,
    pub delivered_bytes: u64,
    /// Packets dropped by the full queue, lost by `loss`, and lost because the link was dead.
    pub queue_dropped: u64,
    pub lost: u64,
    pub dead: u64,
}

impl Carried {
    /// The sum of these totals and `counts`.
    pub fn and(self, counts: &Counts) -> Self {
        Self {
            delivered: self.delivered + counts.delivered,
            delivered_bytes: self.delivered_bytes + counts.delivered_bytes,
            queue_dropped: self.queue_dropped + counts.queue_dropped,
            lost: self.lost + counts.lost,
            dead: self.dead + counts.dead,
        }
    }
}

impl Counts {
    /// The sum of the link's own losses; `None` if one of them is unknown.
    pub fn own_losses(&self) -> Option<u64> {
        Some(self.own_overrun + self.own_refused + self.own_unread?)
    }

    /// Records the lateness of one packet.
    pub fn note_lateness(&mut self, late_ns: u64) {
        self.late += u64::from(late_ns > LATE_NS);
        self.late_most_ns = self.late_most_ns.max(late_ns);
        self.late_sum_ns += late_ns;
    }
}

/// The growth of a count; `None` if one of the two readings failed.
pub fn since(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_cannot_be_read_are_unknown() {
        assert_eq!(since(Some(3), Some(5)), Some(2));
        assert_eq!(since(None, Some(5)), None);
        assert_eq!(since(Some(3), None), None);
        let counts = |own_unread| Counts {
            own_overrun: 1,
            own_unread,
            ..Counts::default()
        };
        assert_eq!(counts(Some(2)).own_losses(), Some(3));
        assert_eq!(counts(None).own_losses(), None);
        let json = serde_json::to_value(counts(None)).unwrap();
        assert!(json["own_unread"].is_null(), "{json}");
    }
}
