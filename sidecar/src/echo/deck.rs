//! Exact random draws: of each thousand draws, exactly the given fraction is a hit.

use fastrand::Rng;

const CARDS: usize = 1_000;

/// A shuffled deck of [`CARDS`] cards, shuffled again after the last card. If the fraction is no whole number of cards, decks alternate
/// between the two nearest numbers, and the sum stays exact.
pub struct Deck {
    fraction: f64,
    rng: Rng,
    cards: Vec<bool>,
    decks: u64,
}

impl Deck {
    /// `kind` separates the decks of one seed.
    pub fn new(seed: u64, kind: u64, fraction: f64) -> Self {
        Self {
            fraction,
            rng: Rng::with_seed(seed.rotate_left(32) ^ kind),
            cards: Vec::new(),
            decks: 0,
        }
    }

    pub fn draw(&mut self) -> bool {
        if self.fraction <= 0.0 {
            return false;
        }
        self.cards.pop().unwrap_or_else(|| {
            self.shuffle();
            self.cards.pop().unwrap_or_default()
        })
    }

    fn shuffle(&mut self) {
        // The small addend corrects rounding: 0.29 × 1,000 must be 290.
        let until = |decks: u64| (self.fraction * (decks * CARDS as u64) as f64 + 1e-6) as usize;
        let hits = (until(self.decks + 1) - until(self.decks)).min(CARDS);
        self.decks += 1;
        self.cards.extend((0..CARDS).map(|card| card < hits));
        self.rng.shuffle(&mut self.cards);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(deck: &mut Deck, draws: usize) -> usize {
        (0..draws).filter(|_| deck.draw()).count()
    }

    #[test]
    fn each_thousand_has_its_exact_share() {
        for fraction in [0.0, 0.001, 0.01, 0.1, 0.29, 1.0] {
            let mut deck = Deck::new(1, 0, fraction);
            for _ in 0..5 {
                assert_eq!(
                    hits(&mut deck, 1_000),
                    (fraction * 1_000.0_f64).round() as usize
                );
            }
        }
        assert_eq!(hits(&mut Deck::new(1, 0, 0.0005), 10_000), 5);
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draws = |seed, kind| {
            let mut deck = Deck::new(seed, kind, 0.1);
            (0..1_000).map(|_| deck.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draws(1, 0), draws(1, 0));
        assert_ne!(draws(1, 0), draws(2, 0));
        assert_ne!(draws(1, 0), draws(1, 1));
    }
}
