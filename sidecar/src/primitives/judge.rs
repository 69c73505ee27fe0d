//! Can it be? Was the machine quiet?

use super::model::{Measurement, median};

/// Bytes a nanosecond that no core moves: two loads of 64 bytes in each of 8 cycles.
const MOST_BYTES_PER_NS: f64 = 1024.0;
/// What is not above an empty loop by more than this does nothing.
const EMPTY_MARGIN: f64 = 1.2;
/// Twice the work takes so many times as long.
const TWICE: std::ops::RangeInclusive<f64> = 1.8..=2.2;
/// The same work, measured again, may differ by so much.
const AGAIN: f64 = 0.05;
/// The measuring thread may have waited for its CPU for so much of the time, in any part.
const WAITED: f64 = 0.25;

/// An operation that does work on each byte is not faster than so many copies of them; taking a buffer and filling it is
/// a copy itself, which may find its bytes in a nearer cache. None for what is not compared with a copy.
fn copies_at_least(operation: &str) -> Option<f64> {
    match operation {
        "encrypt" | "decrypt" | "hash" => Some(0.9),
        "take and fill" => Some(0.4),
        _ => None,
    }
}

/// Operations that move their payload.
fn moves(operation: &str) -> bool {
    copies_at_least(operation).is_some() || matches!(operation, "copy" | "read" | "write")
}

/// Why a measurement cannot be true; none where it can. `copy` is that of the same bytes, `empty` that of nothing.
pub fn implausible(
    measurement: &Measurement,
    copy: Option<&Measurement>,
    empty: Option<&Measurement>,
) -> Option<String> {
    let time = measurement.time();
    let key = &measurement.key;
    if key.operation == "empty" {
        return None;
    }
    if !(time.median.is_finite() && time.median > 0.0) {
        return Some("it is no time".to_owned());
    }
    if moves(&key.operation)
        && let Some(bytes) = key.bytes
        && bytes as f64 / time.median > MOST_BYTES_PER_NS
    {
        return Some(format!(
            "{:.0} GB/s: no core moves more than {MOST_BYTES_PER_NS:.0}",
            bytes as f64 / time.median
        ));
    }
    if let Some(empty) = empty
        && time.median < empty.time().median * EMPTY_MARGIN
    {
        return Some("it takes no longer than an empty loop".to_owned());
    }
    if let Some(copies) = copies_at_least(&key.operation)
        && let Some(copy) = copy
        && time.high < copy.time().low
        && time.median < copy.time().median * copies
    {
        return Some("it is faster than a copy of the same bytes".to_owned());
    }
    None
}

/// Why a measurement of a block that no cache holds cannot be true: `fastest` are the bytes a nanosecond of the fastest
/// copy within the caches.
pub fn implausible_block(measurement: &Measurement, fastest: f64) -> Option<String> {
    let speed = measurement.key.bytes? as f64 / measurement.time().median;
    (speed > fastest).then(|| {
        format!("{speed:.0} GB/s: faster than any copy within the caches, {fastest:.0} GB/s")
    })
}

/// How often the medians of `second` are those of `first`, by round.
fn ratios(first: &Measurement, second: &Measurement) -> Vec<f64> {
    let rounds = first.rounds.iter().zip(&second.rounds);
    rounds
        .map(|(first, second)| second.time.median / first.time.median)
        .collect()
}

/// One thing that has to hold for the figures to be trusted.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Check {
    pub check: &'static str,
    /// None where it cannot be told
    pub ok: Option<bool>,
    pub detail: String,
}

/// The measurement's own known answers, and what the machine did meanwhile: `waited` is the greatest share of a part's time
/// that it waited for its CPU.
pub fn checks(
    work: &Measurement,
    twice: &Measurement,
    again: &Measurement,
    waited: Option<f64>,
    implausible: usize,
) -> Vec<Check> {
    let mut twice = ratios(work, twice);
    twice.sort_by(f64::total_cmp);
    let twice = median(&twice);
    let mut again: Vec<f64> = ratios(work, again);
    again.sort_by(f64::total_cmp);
    let again = (median(&again) - 1.0).abs();
    vec![
        Check {
            check: "twice the work",
            ok: Some(TWICE.contains(&twice)),
            detail: format!("took {twice:.2} times as long; 1.8 to 2.2 is accepted"),
        },
        Check {
            check: "the same work again",
            ok: Some(again <= AGAIN),
            detail: format!("differed by {:.1} %; 5 % is accepted", again * 100.0),
        },
        Check {
            check: "waiting for the CPU",
            ok: waited.map(|share| share <= WAITED),
            detail: waited.map_or_else(
                || "the kernel does not tell: it has no CONFIG_SCHED_INFO".to_owned(),
                |share| {
                    format!(
                        "{:.0} % of the time of a part at most, while others had it; 25 % is accepted, as the times are CPU times",
                        share * 100.0
                    )
                },
            ),
        },
        Check {
            check: "plausible",
            ok: Some(implausible == 0),
            detail: match implausible {
                0 => "nothing is faster than the machine allows".to_owned(),
                1 => "1 measurement cannot be true".to_owned(),
                more => format!("{more} measurements cannot be true"),
            },
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::{measured, of_bytes};
    use super::*;

    const KIB_64: u64 = 64 << 10;

    #[test]
    fn the_reference_documents_copy_and_header_cannot_be() {
        let copy = of_bytes("memory", "copy", "memcpy", KIB_64, &[10.0]);
        let reason = implausible(&copy, None, None).unwrap();
        assert!(reason.contains("6554 GB/s"), "{reason}");
        let header = of_bytes("header", "take", "borrowed", 10, &[0.322]);
        let empty = measured("control", "empty", "loop", &[0.32]);
        let reason = implausible(&header, None, Some(&empty)).unwrap();
        assert!(reason.contains("empty loop"), "{reason}");
    }

    #[test]
    fn encryption_that_beats_the_copy_cannot_be() {
        let copy = of_bytes("memory", "copy", "memcpy", KIB_64, &[1000.0, 1010.0]);
        let empty = measured("control", "empty", "loop", &[0.3]);
        let judged = |operation, medians: &[f64]| {
            let measurement = of_bytes("aes-256-gcm", operation, "ring", KIB_64, medians);
            implausible(&measurement, Some(&copy), Some(&empty))
        };
        let reason = judged("encrypt", &[500.0, 505.0]).unwrap();
        assert!(reason.contains("copy of the same bytes"), "{reason}");
        assert!(judged("hash", &[500.0, 505.0]).is_some());
        assert_eq!(judged("encrypt", &[8000.0, 8100.0]), None);
        assert_eq!(
            judged("encrypt", &[980.0, 990.0]),
            None,
            "within the margin"
        );
        assert_eq!(judged("take", &[20.0, 20.0]), None, "moves nothing");
        assert_eq!(judged("take and fill", &[800.0, 810.0]), None, "a copy");
        assert!(judged("take and fill", &[100.0, 101.0]).is_some());
        assert!(judged("encrypt", &[0.0]).is_some());
    }

    #[test]
    fn memory_that_beats_the_caches_cannot_be() {
        let block = of_bytes("memory", "read", "std", 256 << 20, &[1e7]);
        assert_eq!(implausible_block(&block, 100.0), None);
        let reason = implausible_block(&block, 20.0).unwrap();
        assert!(reason.starts_with("27 GB/s"), "{reason}");
    }

    #[test]
    fn a_clock_that_errs_and_a_busy_machine_are_told() {
        let work = measured("control", "work", "sha2", &[100.0]);
        let bad = |twice: f64, again: f64, waited: Option<f64>, implausible: usize| {
            checks(
                &work,
                &measured("control", "work twice", "sha2", &[twice]),
                &measured("control", "work again", "sha2", &[again]),
                waited,
                implausible,
            )
            .into_iter()
            .filter(|check| check.ok == Some(false))
            .map(|check| check.check)
            .collect::<Vec<_>>()
        };
        assert!(bad(201.0, 99.0, Some(0.03), 0).is_empty());
        assert_eq!(bad(120.0, 99.0, Some(0.03), 0), ["twice the work"]);
        assert_eq!(bad(201.0, 120.0, Some(0.03), 0), ["the same work again"]);
        assert_eq!(bad(201.0, 99.0, Some(0.4), 0), ["waiting for the CPU"]);
        assert_eq!(bad(201.0, 99.0, None, 2), ["plausible"]);
    }
}
