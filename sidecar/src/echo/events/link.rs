//! When an answer is due: delay, jitter, rate and stall of one server.

use fastrand::Rng;

use crate::echo::deck::Deck;
use crate::echo::faults::Faults;

/// Unused rate that may be used later, ns. A thread that wakes a little late catches up with it.
const CREDIT_NS: u64 = 5_000_000;
const NS_PER_MS: f64 = 1e6;
/// The most bytes held for later. Above it, datagrams are dropped and streams are not read.
const MAX_HELD: usize = 64 << 20;
/// Memory per held answer in addition to its bytes, approximately.
const HELD_EACH: usize = 128;

pub struct Link {
    pub faults: Faults,
    pub loss: Deck,
    pub duplicate: Deck,
    pub reorder: Deck,
    corrupt: Deck,
    jitter: Rng,
    answered: u64,
    stall_until_ns: u64,
    free_at_ns: u64,
    held: usize,
}

impl Link {
    pub fn new(faults: Faults) -> Self {
        let deck = |kind, fraction| Deck::new(faults.seed, kind, fraction);
        Self {
            loss: deck(1, faults.loss),
            duplicate: deck(2, faults.duplicate),
            reorder: deck(3, faults.reorder),
            corrupt: deck(4, faults.corrupt),
            jitter: Rng::with_seed(faults.seed.rotate_left(32) ^ 5),
            answered: 0,
            stall_until_ns: 0,
            free_at_ns: 0,
            held: 0,
            faults,
        }
    }

    /// When an answer of `bytes` bytes that is made now must be sent.
    pub fn due_ns(&mut self, now_ns: u64, bytes: usize) -> u64 {
        if let Some(stall) = self.faults.stall
            && self.answered == stall.after
        {
            self.stall_until_ns = now_ns + stall.ms * 1_000_000;
        }
        self.answered += 1;
        let jitter = self.faults.jitter_ms * self.jitter.f64();
        let delay = ((self.faults.delay_ms + jitter) * NS_PER_MS) as u64;
        (self.reserve_ns(now_ns, bytes) + delay).max(self.stall_until_ns)
    }

    /// When the link has passed on `bytes` bytes, after all bytes given to it before.
    pub fn reserve_ns(&mut self, now_ns: u64, bytes: usize) -> u64 {
        let Some(rate) = self.faults.rate_bytes_per_s else {
            return now_ns;
        };
        let takes = (bytes as f64 * 1e9 / rate as f64) as u64;
        self.free_at_ns = self.free_at_ns.max(now_ns.saturating_sub(CREDIT_NS)) + takes;
        self.free_at_ns.max(now_ns)
    }

    pub fn hold(&mut self, bytes: usize) {
        self.held += bytes + HELD_EACH;
    }

    pub fn let_go(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes + HELD_EACH);
    }

    pub fn full(&self) -> bool {
        self.held > MAX_HELD
    }

    /// End of the present stall. Answers that are due during a stall wait for it.
    pub fn stall_until_ns(&self) -> u64 {
        self.stall_until_ns
    }

    /// Corrupts the last byte if the fault's draw hits.
    pub fn spoil(&mut self, bytes: &mut [u8]) {
        if self.corrupt.draw()
            && let Some(byte) = bytes.last_mut()
        {
            *byte ^= 0x55;
        }
    }

    /// Whether the next write of a transfer gets a wrong byte.
    pub fn spoils(&mut self) -> bool {
        self.corrupt.draw()
    }

    /// The most bytes that a bulk transfer moves at once. The limit keeps a limited rate even.
    pub fn piece(&self, most: usize) -> usize {
        self.faults
            .rate_bytes_per_s
            .map_or(most, |rate| most.min((rate / 100).max(1) as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::echo::faults::Stall;

    #[test]
    fn a_rate_spaces_answers_and_a_pause_is_not_made_up_for() {
        let mut link = Link::new(Faults {
            rate_bytes_per_s: Some(1_000),
            ..Faults::default()
        });
        assert_eq!(link.due_ns(0, 100), 100_000_000);
        assert_eq!(link.due_ns(0, 100), 200_000_000);
        assert_eq!(link.due_ns(900_000_000, 100), 995_000_000);
    }

    #[test]
    fn a_stall_is_once_and_holds_all_that_comes_meanwhile() {
        let mut link = Link::new(Faults {
            delay_ms: 1.0,
            stall: Some(Stall { after: 2, ms: 500 }),
            ..Faults::default()
        });
        assert_eq!(link.due_ns(0, 1), 1_000_000);
        assert_eq!(link.due_ns(0, 1), 1_000_000);
        assert_eq!(link.due_ns(10, 1), 500_000_010);
        assert_eq!(link.due_ns(1_000_000, 1), 500_000_010);
        assert_eq!(link.due_ns(500_000_010, 1), 501_000_010);
    }

    #[test]
    fn jitter_is_uniform_and_within_its_bounds() {
        let mut link = Link::new(Faults {
            delay_ms: 10.0,
            jitter_ms: 10.0,
            ..Faults::default()
        });
        let all: Vec<u64> = (0..10_000).map(|_| link.due_ns(0, 1)).collect();
        assert!(
            all.iter()
                .all(|due| (10_000_000..=20_000_000).contains(due))
        );
        let mean = all.iter().sum::<u64>() / 10_000;
        assert!((14_500_000..15_500_000).contains(&mean), "{mean}");
    }
}
