//! What one direction of a link has done.

use serde::Serialize;

/// A packet that arrives so much after its time was late, ns.
pub const LATE_NS: u64 = 200_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets that entered, and their bytes, IP headers included.
    pub sent: u64,
    pub sent_bytes: u64,
    /// Handed over at the other end; copies too.
    pub delivered: u64,
    pub delivered_bytes: u64,
    /// Not taken, as the queue was full.
    pub queue_dropped: u64,
    /// Lost by `loss`, after the queue.
    pub lost: u64,
    pub lost_bytes: u64,
    /// Lost because the link was dead.
    pub dead: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    pub reordered: u64,
    /// Waiting for the line now, and at most so far.
    pub queued_packets: u64,
    pub queued_bytes: u64,
    pub queued_bytes_most: u64,
    /// Past the queue and not yet arrived, packets.
    pub in_flight: u64,
    /// The link's own losses: more in flight than it keeps, refused by the device at the other end, and not read from
    /// the device at this end in time. None of them is asked for: a link that has any was too slow.
    pub own_overrun: u64,
    pub own_refused: u64,
    /// Null where the device's count cannot be read.
    pub own_unread: Option<u64>,
    /// Handed over more than 0.2 ms after their time; the most of all, ns.
    pub late: u64,
    pub late_most_ns: u64,
    /// How much later than their time packets were handed over, all together, ns.
    pub late_sum_ns: u64,
}

/// What one direction has carried and lost since the link was made, whatever was restarted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Carried {
    /// Handed over at the other end; copies too.
    pub delivered: u64,
    pub delivered_bytes: u64,
    /// Packets that the full queue did not take, that were lost, and that were lost because the link was dead.
    pub queue_dropped: u64,
    pub lost: u64,
    pub dead: u64,
}

impl Carried {
    /// And what was counted besides.
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
    /// The link's own losses together; none where one of them is unknown.
    pub fn own(&self) -> Option<u64> {
        Some(self.own_overrun + self.own_refused + self.own_unread?)
    }

    /// Notes how much later than its time a packet was handed over.
    pub fn note_lateness(&mut self, late_ns: u64) {
        self.late += u64::from(late_ns > LATE_NS);
        self.late_most_ns = self.late_most_ns.max(late_ns);
        self.late_sum_ns += late_ns;
    }
}

/// How much a count grew; none where one of both looks failed.
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
        let own = |own_unread| Counts {
            own_overrun: 1,
            own_unread,
            ..Counts::default()
        };
        assert_eq!(own(Some(2)).own(), Some(3));
        assert_eq!(own(None).own(), None);
        let told = serde_json::to_value(own(None)).unwrap();
        assert!(told["own_unread"].is_null(), "{told}");
    }
}
