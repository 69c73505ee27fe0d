//! The report of a worker.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Identifies one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Key {
    /// An algorithm or a structure, such as `aes-256-gcm`
    pub subject: String,
    /// The operation, such as `encrypt`
    pub operation: String,
    /// The library, such as `ring`
    pub implementation: String,
    /// Payload of one operation
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Size of the rule set
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<u64>,
}

/// Nanoseconds of CPU time per operation: a median with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Time {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// One of several measurements of a case. They alternate with measurements of other cases.
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
    pub build_s: Option<f64>,
    pub rounds: Vec<Round>,
}

/// A case without a measurement, and the reason.
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
    /// `None` if the kernel does not report it
    pub run_ns: Option<u64>,
    pub wait_ns: Option<u64>,
    pub measurements: Vec<Measurement>,
    pub skipped: Vec<Skipped>,
}

impl Answer {
    /// The share of its time in which the worker waited for its CPU.
    pub fn waited(&self) -> Option<f64> {
        let (run, wait) = (self.run_ns? as f64, self.wait_ns? as f64);
        Some(wait / (run + wait).max(1.0))
    }
}
