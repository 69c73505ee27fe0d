//! The result file: `windtunnel.primitives/2`, which k6/schemas/primitives.schema.json describes. `k6 x primitives` checks whether it is
//! plausible, and which cipher is fastest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan::{Mode, Plan, Section};
use crate::host::Host;

pub const SCHEMA: &str = "windtunnel.primitives/2";

/// A row of the tables as a worker wrote it, with the fields of the schema.
type Fields = Map<String, Value>;

/// A row with its part.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    section: Section,
    #[serde(flatten)]
    fields: Fields,
}

/// The program that measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Build {
    rustc: String,
    cpu_features: Vec<String>,
    versions: BTreeMap<String, String>,
}

/// A worker's `report.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    #[serde(flatten)]
    build: Build,
    checked: u64,
    /// `None` if the kernel does not report it
    run_ns: Option<u64>,
    wait_ns: Option<u64>,
    measurements: Vec<Fields>,
    skipped: Vec<Fields>,
}

impl Answer {
    /// The share of its time in which the worker waited for its CPU.
    fn waited(&self) -> Option<f64> {
        let (run, wait) = (self.run_ns? as f64, self.wait_ns? as f64);
        Some(wait / (run + wait).max(1.0))
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub schema: &'static str,
    /// Seconds since 1970
    pub start_unix_s: u64,
    pub duration_s: f64,
    pub mode: Mode,
    pub parameters: Plan,
    pub host: Host,
    /// The CPU that ran the workers
    pub cpu: usize,
    /// Load averages at the start and at the end
    pub load: [f64; 2],
    /// The first worker's. The portable build lists no features.
    #[serde(flatten)]
    pub build: Option<Build>,
    /// Known answers that were checked before the measurements
    pub known_answers: u64,
    /// The largest share of a part's time in which its worker waited for the CPU; `None` if the kernel does not report it
    pub waited: Option<f64>,
    pub measurements: Vec<Row>,
    /// Rows of the tables without a measurement
    pub skipped: Vec<Row>,
}

impl Report {
    pub fn add(&mut self, section: Section, answer: Answer) {
        let waited = self.waited.into_iter().chain(answer.waited());
        self.waited = waited.reduce(f64::max);
        self.build.get_or_insert(answer.build);
        self.known_answers += answer.checked;
        let row = |fields| Row { section, fields };
        self.measurements
            .extend(answer.measurements.into_iter().map(row));
        self.skipped.extend(answer.skipped.into_iter().map(row));
    }
}
