//! What a calibration found.

use serde::Serialize;

/// A figure beside what it should be.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Figure {
    pub asked: f64,
    pub measured: f64,
    /// How far the two may be apart.
    pub within: f64,
    pub ok: bool,
}

impl Figure {
    pub fn new(asked: f64, measured: f64, within: f64) -> Self {
        Self {
            asked,
            measured,
            within,
            ok: (measured - asked).abs() <= within,
        }
    }
}

/// Of packets that were sent through the link as it was asked for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Loss {
    pub sent: u64,
    /// Which did not arrive whole, by the receiver, and by the link's own counts of packets lost and of packets with a wrong
    /// bit: the two are the same, or something else loses packets.
    pub missed: u64,
    pub counted: u64,
    /// Lost, of 1,000, by the link's own count; it may differ by chance from what was asked for.
    pub per_1000: Figure,
}

#[derive(Debug, Clone, Serialize)]
pub struct Direction {
    /// The median of one way, with the time that the line takes for a small packet; ms.
    pub delay_ms: Figure,
    /// Of the delays with jitter: the least and the most, ms.
    pub least_ms: f64,
    pub most_ms: f64,
    /// Of IP packets; null without a rate, and where nothing here can fill it.
    pub rate_mbit_s: Option<Figure>,
    /// The delay that a full queue adds; null as before.
    pub queue_ms: Option<Figure>,
    pub loss: Loss,
    /// Packets that the link lost though nobody asked for it.
    pub own_lost: u64,
}

/// What a link without delay, rate and loss carries from near to far, with nothing else at work on this machine.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Carries {
    /// Packets of the link's MTU.
    pub mbit_s: f64,
    /// The smallest packets.
    pub packets_s: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Calibration {
    pub text: String,
    pub seed: u64,
    /// Nothing is wrong.
    pub ok: bool,
    /// What is wrong, a line each.
    pub wrong: Vec<String>,
    pub up: Direction,
    pub down: Direction,
    pub carries: Carries,
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_good_within_its_bound_only() {
        assert!(Figure::new(50.0, 50.2, 0.2001).ok && Figure::new(50.0, 49.8, 0.2001).ok);
        assert!(!Figure::new(50.0, 50.3, 0.2).ok && !Figure::new(50.0, f64::NAN, 0.2).ok);
    }
}
