//! Samples of a link over time: one of each direction every tenth of a second.

use std::collections::VecDeque;

use serde::Serialize;

use super::counts::Counts;

/// Time between two samples, ns.
pub const EVERY_NS: u64 = 100_000_000;
/// The number of samples that count as recent. They cover more than a second, because a client that polls each second may be late.
const RECENT: u64 = 12;
/// The number of samples that are kept, which is one hour.
const KEPT: usize = 36_000;

/// One direction in one sampling period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Sample {
    /// The most bytes that waited for the line.
    pub queued_bytes_most: u64,
    /// Bytes delivered to the other end.
    pub delivered_bytes: u64,
    /// Packets dropped by the full queue, lost by `loss`, and lost because the link was dead.
    pub queue_dropped: u64,
    pub lost: u64,
    pub dead: u64,
}

impl Sample {
    /// The difference between two readings of the counts.
    fn since(before: &Counts, now: &Counts, most: u64) -> Self {
        Self {
            queued_bytes_most: most,
            delivered_bytes: now.delivered_bytes - before.delivered_bytes,
            queue_dropped: now.queue_dropped - before.queue_dropped,
            lost: now.lost - before.lost,
            dead: now.dead - before.dead,
        }
    }
}

/// A change, with its time after the start or the last restart.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AppliedChange {
    pub at_s: f64,
    pub items: Vec<(String, String)>,
}

/// Samples since the start or the last restart.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// Samples of the directions up and down.
    pub each: VecDeque<[Sample; 2]>,
    /// The number of old samples that were dropped.
    pub gone: u64,
    pub changes: Vec<AppliedChange>,
    before: [Counts; 2],
}

impl Samples {
    /// The number of sampling periods so far.
    fn done(&self) -> u64 {
        self.gone + self.each.len() as u64
    }

    /// Whether a sample is due `after_ns` after the start.
    pub fn due(&self, after_ns: u64) -> bool {
        after_ns >= self.next_ns()
    }

    /// When the next sample is due, ns after the start.
    pub fn next_ns(&self) -> u64 {
        (self.done() + 1) * EVERY_NS
    }

    /// The most bytes that waited in the last 1.2 s, up and down. Periods without a sample were idle.
    pub fn recent_most(&self, after_ns: u64) -> [u64; 2] {
        let first = (after_ns / EVERY_NS).saturating_sub(RECENT);
        let skipped = first.saturating_sub(self.gone) as usize;
        let recent = self.each.iter().skip(skipped);
        recent.fold([0, 0], |most, [up, down]| {
            [
                most[0].max(up.queued_bytes_most),
                most[1].max(down.queued_bytes_most),
            ]
        })
    }

    /// Takes the samples that are due. If several are due, the thread had no reason to wake in between, so all counts belong to the first
    /// sample.
    pub fn take(&mut self, after_ns: u64, counts: [Counts; 2], most: [u64; 2]) {
        let missing = (after_ns / EVERY_NS).saturating_sub(self.done());
        if missing == 0 {
            return;
        }
        let of = |way: usize| Sample::since(&self.before[way], &counts[way], most[way]);
        self.keep([of(0), of(1)]);
        self.before = counts;
        let idle = |way: usize| Sample {
            queued_bytes_most: counts[way].queued_bytes,
            ..Sample::default()
        };
        // Samples that would be dropped at once are not made.
        let rest = missing - 1;
        let skipped = rest.saturating_sub(KEPT as u64);
        if skipped > 0 {
            self.gone += skipped + self.each.len() as u64;
            self.each.clear();
        }
        for _ in skipped..rest {
            self.keep([idle(0), idle(1)]);
        }
    }

    fn keep(&mut self, sample: [Sample; 2]) {
        self.each.push_back(sample);
        if self.each.len() > KEPT {
            self.each.pop_front();
            self.gone += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(delivered_bytes: u64, queue_dropped: u64) -> Counts {
        Counts {
            delivered_bytes,
            queue_dropped,
            queued_bytes: 7,
            ..Counts::default()
        }
    }

    #[test]
    fn a_sample_covers_its_period() {
        let mut samples = Samples::default();
        assert!(!samples.due(EVERY_NS - 1) && samples.due(EVERY_NS));
        samples.take(EVERY_NS, [counts(10, 1), counts(0, 0)], [5, 0]);
        assert!(!samples.due(EVERY_NS + 1));
        samples.take(2 * EVERY_NS + 1, [counts(30, 4), counts(2, 0)], [9, 3]);
        let [up, down] = samples.each[1];
        assert_eq!((up.delivered_bytes, up.queue_dropped), (20, 3));
        assert_eq!((up.queued_bytes_most, down.delivered_bytes), (9, 2));
        samples.take(2 * EVERY_NS + 2, [counts(99, 9), counts(9, 9)], [9, 9]);
        assert_eq!(samples.each.len(), 2);
    }

    #[test]
    fn a_queue_is_forgotten_after_a_while() {
        let mut samples = Samples::default();
        samples.take(EVERY_NS, [counts(0, 0); 2], [50, 5]);
        samples.take(2 * EVERY_NS, [counts(0, 0); 2], [20, 9]);
        assert_eq!(samples.recent_most(3 * EVERY_NS), [50, 9]);
        // The link takes no samples for a while.
        assert_eq!(samples.recent_most((RECENT + 1) * EVERY_NS), [20, 9]);
        assert_eq!(samples.recent_most((RECENT + 2) * EVERY_NS), [0, 0]);
        samples.gone = 20;
        assert_eq!(samples.recent_most((RECENT + 21) * EVERY_NS), [20, 9]);
    }

    #[test]
    fn times_without_a_wake_up_have_samples_too_and_only_the_last_hour_is_kept() {
        let mut samples = Samples::default();
        samples.take(5 * EVERY_NS, [counts(10, 1); 2], [8, 8]);
        assert_eq!(samples.each.len(), 5);
        assert_eq!(samples.each[0][0].delivered_bytes, 10);
        assert_eq!(samples.each[4][1].delivered_bytes, 0);
        assert_eq!(samples.each[4][1].queued_bytes_most, 7);
        let late = 100 * KEPT as u64 * EVERY_NS;
        samples.take(late, [counts(11, 1); 2], [8, 8]);
        assert_eq!(samples.each.len(), KEPT);
        assert_eq!(samples.done(), late / EVERY_NS);
        assert!(!samples.due(late) && samples.due(late + EVERY_NS));
    }
}
