//! Delays of the datagrams that arrived.

use super::flow::Arrival;

/// The largest accepted error of a delay, ms.
pub const DELAY_WITHIN_MS: f64 = 0.2;
/// Nanoseconds of a millisecond.
pub const MS: f64 = 1e6;

/// Delays of the arrivals, the shortest first, ms.
pub fn delays(arrivals: &[Arrival]) -> Vec<f64> {
    let mut delays: Vec<f64> = arrivals
        .iter()
        .map(|one| (one.arrived_ns as f64 - one.sent_ns as f64) / MS)
        .collect();
    delays.sort_by(f64::total_cmp);
    delays
}

/// The value below which this share of `sorted` lies.
pub fn at_share(sorted: &[f64], share: f64) -> f64 {
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}
