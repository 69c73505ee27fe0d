//! The fate of each packet, drawn from the seed by the packet's number in its direction.
//!
//! Every packet takes the same number of draws, whatever the settings are. So packet n of a direction has the same fate in each run of one
//! seed, and a changed setting moves no other draw.

use fastrand::Rng;

use super::settings::Side;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fate {
    pub lost: bool,
    pub duplicated: bool,
    /// The place of the wrong bit, from 0 to 1 of the bits that may be wrong.
    pub corrupted: Option<f64>,
    pub reordered: bool,
    /// Share of the jitter, from -1 to 1.
    pub jitter: f64,
}

pub struct Fates {
    rng: Rng,
    /// Whether the direction is in a bad spell.
    bad: bool,
}

impl Fates {
    /// `direction` separates the two directions of one seed.
    pub fn new(seed: u64, direction: u64) -> Self {
        // The product makes the sequences of neighbouring seeds independent.
        let mixed = seed
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(direction);
        Self {
            rng: Rng::with_seed(mixed),
            bad: false,
        }
    }

    /// The fate of the next packet.
    pub fn next(&mut self, side: &Side) -> Fate {
        let [spell, lost, duplicated, corrupted, place, reordered, jitter] =
            std::array::from_fn(|_| self.rng.f64());
        Fate {
            lost: lost < self.chance(side, spell),
            duplicated: duplicated < side.duplicate,
            corrupted: (corrupted < side.corrupt).then_some(place),
            reordered: reordered < side.reorder,
            jitter: 2.0 * jitter - 1.0,
        }
    }

    /// The chance that a packet is lost. A bad spell ends after `burst` packets on average. Spells begin as often as needed to make the
    /// share of lost packets `loss`.
    fn chance(&mut self, side: &Side, spell: f64) -> f64 {
        if side.burst <= 1.0 {
            return side.loss;
        }
        let bad_share = side.loss / side.burst_loss;
        let ends = 1.0 / side.burst;
        let begins = ends * bad_share / (1.0 - bad_share);
        self.bad = match self.bad {
            true => spell >= ends,
            false => spell < begins,
        };
        if self.bad { side.burst_loss } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(side: &Side, seed: u64, count: usize) -> Vec<bool> {
        let mut fates = Fates::new(seed, 0);
        (0..count).map(|_| fates.next(side).lost).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn one_seed_loses_the_same_packets_and_another_does_not() {
        let side = Side {
            loss: 0.05,
            ..Side::default()
        };
        assert_eq!(lost(&side, 7, 10_000), lost(&side, 7, 10_000));
        assert_ne!(lost(&side, 7, 10_000), lost(&side, 8, 10_000));
        let mut other = Fates::new(7, 1);
        let down: Vec<bool> = (0..10_000).map(|_| other.next(&side).lost).collect();
        assert_ne!(lost(&side, 7, 10_000), down);
    }

    #[test]
    fn another_setting_moves_no_loss() {
        let side = Side {
            loss: 0.05,
            ..Side::default()
        };
        let busy = Side {
            duplicate: 0.5,
            corrupt: 0.5,
            reorder: 0.5,
            jitter_ns: 1,
            ..side.clone()
        };
        assert_eq!(lost(&side, 7, 10_000), lost(&busy, 7, 10_000));
        let more = Side {
            loss: 0.1,
            ..side.clone()
        };
        let both = lost(&side, 7, 10_000)
            .into_iter()
            .zip(lost(&more, 7, 10_000));
        assert!(both.into_iter().all(|(less, more)| more || !less));
    }

    #[test]
    fn shares_are_what_was_asked_for() {
        // Five standard deviations of a binomial distribution of a million draws.
        for asked in [0.001, 0.01, 0.1, 0.5] {
            let side = Side {
                loss: asked,
                ..Side::default()
            };
            let deviation = (asked * (1.0 - asked) / 1e6_f64).sqrt();
            let found = share(&lost(&side, 3, 1_000_000));
            assert!((found - asked).abs() < 5.0 * deviation, "{asked}: {found}");
        }
    }

    #[test]
    fn bursts_have_the_mean_length_and_the_share_that_were_asked_for() {
        let side = Side {
            loss: 0.02,
            burst: 8.0,
            ..Side::default()
        };
        let lost = lost(&side, 5, 2_000_000);
        assert!((share(&lost) / 0.02 - 1.0).abs() < 0.1, "{}", share(&lost));
        let bursts = lost.windows(2).filter(|pair| pair[1] && !pair[0]).count();
        let mean = share(&lost) * 2e6 / bursts as f64;
        assert!((mean / 8.0 - 1.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn a_bad_spell_may_lose_a_part_only() {
        let side = Side {
            loss: 0.02,
            burst: 50.0,
            burst_loss: 0.25,
            ..Side::default()
        };
        let found = share(&lost(&side, 5, 4_000_000));
        assert!((found / 0.02 - 1.0).abs() < 0.1, "{found}");
    }
}
