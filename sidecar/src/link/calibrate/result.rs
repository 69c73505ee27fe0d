//! The results of a calibration.

use serde::Serialize;

/// The largest accepted error of a delay, ms.
pub const DELAY_WITHIN_MS: f64 = 0.2;

/// A measured value with its expected value.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
pub struct Figure {
    pub asked: f64,
    pub measured: f64,
    /// The largest accepted difference between the two values.
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

/// Losses among packets that were sent through the link with its requested settings.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
pub struct Loss {
    pub sent: u64,
    /// Packets that did not arrive intact, by the receiver, and by the link's own counts of lost and corrupted packets. If the two numbers
    /// differ, something other than the link loses packets.
    pub missed: u64,
    pub counted: u64,
    /// Lost packets per 1,000, by the link's own count. Chance may make it differ from the requested loss.
    pub per_1000: Figure,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Direction {
    /// The median one-way delay, including the time that the line takes for a small packet, ms.
    pub delay_ms: Figure,
    /// The least and the largest delay with jitter, ms.
    pub least_ms: f64,
    pub most_ms: f64,
    /// Rate of IP packets; null without a rate setting, and if this machine cannot fill the line.
    pub rate_mbit_s: Option<Figure>,
    /// The delay that a full queue adds, ms; null in the same cases.
    pub queue_ms: Option<Figure>,
    pub loss: Loss,
    /// Packets that the link lost although no setting asked for it.
    pub own_lost: u64,
}

/// The capacity from near to far of a link without delay, rate and loss, while this machine is otherwise idle.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
pub struct Carries {
    /// Capacity with packets of the link's MTU.
    pub mbit_s: f64,
    /// Capacity with the smallest packets.
    pub packets_s: f64,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Calibration {
    pub text: String,
    pub seed: u64,
    /// Whether all figures are as expected.
    pub ok: bool,
    /// Deviations, one per line.
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
