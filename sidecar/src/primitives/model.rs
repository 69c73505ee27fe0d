//! What a worker reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one measurement is of.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Key {
    /// An algorithm or a structure, such as `aes-256-gcm`
    pub subject: String,
    /// Such as `encrypt`
    pub operation: String,
    /// Whose code, such as `ring`
    pub implementation: String,
    /// Payload of one operation
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Size of the rule set
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u64>,
}

/// Nanoseconds of CPU time of one operation: a median with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Time {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// One of the measurements of a case, which take turns with those of other cases.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Round {
    #[serde(flatten)]
    pub time: Time,
    pub samples: u64,
    /// Operations in all samples
    pub iterations: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Measurement {
    #[serde(flatten)]
    pub key: Key,
    #[serde(default)]
    pub build_s: Option<f64>,
    pub rounds: Vec<Round>,
}

impl Measurement {
    /// The median of the rounds, from the least lower bound of them to the greatest upper one.
    pub fn time(&self) -> Time {
        let mut medians: Vec<f64> = self.rounds.iter().map(|round| round.time.median).collect();
        medians.sort_by(f64::total_cmp);
        let bounds =
            |pick: fn(&Time) -> f64| self.rounds.iter().map(move |round| pick(&round.time));
        Time {
            median: median(&medians),
            low: bounds(|time| time.low).fold(f64::INFINITY, f64::min),
            high: bounds(|time| time.high).fold(0.0, f64::max),
        }
    }
}

/// Of sorted values; 0 of none.
pub fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

/// What is not measured, and why.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Skipped {
    #[serde(flatten)]
    pub key: Key,
    pub reason: String,
}

/// A worker's `report.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    pub rustc: String,
    pub cpu_features: Vec<String>,
    pub versions: BTreeMap<String, String>,
    pub checked: u64,
    /// None where the kernel does not tell
    pub run_ns: Option<u64>,
    pub wait_ns: Option<u64>,
    pub measurements: Vec<Measurement>,
    pub skipped: Vec<Skipped>,
}

impl Answer {
    /// The share of its time that the worker waited for its CPU.
    pub fn waited(&self) -> Option<f64> {
        let (run, wait) = (self.run_ns? as f64, self.wait_ns? as f64);
        Some(wait / (run + wait).max(1.0))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A measurement whose rounds have these medians, and bounds 1 % beside them.
    pub fn measured(
        subject: &str,
        operation: &str,
        implementation: &str,
        medians: &[f64],
    ) -> Measurement {
        Measurement {
            key: Key {
                subject: subject.to_owned(),
                operation: operation.to_owned(),
                implementation: implementation.to_owned(),
                bytes: None,
                rules: None,
            },
            build_s: None,
            rounds: medians
                .iter()
                .map(|median| Round {
                    time: Time {
                        median: *median,
                        low: median * 0.99,
                        high: median * 1.01,
                    },
                    samples: 10,
                    iterations: 1000.0,
                })
                .collect(),
        }
    }

    /// The same with a payload.
    pub fn of_bytes(
        subject: &str,
        operation: &str,
        implementation: &str,
        bytes: u64,
        medians: &[f64],
    ) -> Measurement {
        let mut measurement = measured(subject, operation, implementation, medians);
        measurement.key.bytes = Some(bytes);
        measurement
    }

    #[test]
    fn a_time_is_the_median_of_the_rounds_within_the_bounds_of_all() {
        let time = measured("a", "b", "c", &[100.0, 300.0, 200.0]).time();
        assert_eq!((time.median, time.low, time.high), (200.0, 99.0, 303.0));
        let time = measured("a", "b", "c", &[100.0, 200.0]).time();
        assert_eq!(time.median, 150.0);
    }
}
