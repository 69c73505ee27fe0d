//! The result file: `windtunnel.primitives/2`, which k6/schemas/primitives.schema.json describes. `k6 x primitives` checks whether it is
//! plausible, and which cipher is fastest.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::model::{Answer, Key, Round, Skipped};
use super::plan::{Mode, Plan, Section};
use crate::host::{Host, host};

const SCHEMA: &str = "windtunnel.primitives/2";

/// A measurement with its part.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub section: Section,
    #[serde(flatten)]
    pub key: Key,
    /// Seconds of one build of the rule set
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_s: Option<f64>,
    pub rounds: Vec<Round>,
}

/// A row of the tables without a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    pub section: Section,
    #[serde(flatten)]
    pub skipped: Skipped,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    schema: &'static str,
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
    pub rustc: String,
    pub cpu_features: Vec<String>,
    pub versions: BTreeMap<String, String>,
    /// Known answers that were checked before the measurements
    pub known_answers: u64,
    /// The largest share of a part's time in which its worker waited for the CPU; `None` if the kernel does not report it
    pub waited: Option<f64>,
    pub measurements: Vec<Row>,
    pub skipped: Vec<Gap>,
}

/// The requested plan with its results.
pub struct Outcome {
    pub mode: Mode,
    pub plan: Plan,
    pub cpu: usize,
    pub began: SystemTime,
    pub duration: Duration,
    pub load: [f64; 2],
    pub answers: Vec<(Section, Answer)>,
}

impl Report {
    pub fn new(outcome: Outcome) -> Self {
        let answers = || outcome.answers.iter().map(|(_, answer)| answer);
        // The portable build lists no features.
        let (_, first) = &outcome.answers[0];
        Self {
            schema: SCHEMA,
            start_unix_s: outcome
                .began
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_secs()),
            duration_s: outcome.duration.as_secs_f64(),
            mode: outcome.mode,
            parameters: outcome.plan,
            host: host(),
            cpu: outcome.cpu,
            load: outcome.load,
            rustc: first.rustc.clone(),
            cpu_features: first.cpu_features.clone(),
            versions: first.versions.clone(),
            known_answers: answers().map(|answer| answer.checked).sum(),
            waited: answers().filter_map(Answer::waited).reduce(f64::max),
            skipped: outcome
                .answers
                .iter()
                .flat_map(|(section, answer)| {
                    answer.skipped.iter().map(|skipped| Gap {
                        section: *section,
                        skipped: skipped.clone(),
                    })
                })
                .collect(),
            measurements: rows(&outcome.answers),
        }
    }
}

fn rows(answers: &[(Section, Answer)]) -> Vec<Row> {
    let of_part = |(section, answer): &(Section, Answer)| {
        let section = *section;
        let all = answer.measurements.clone().into_iter();
        all.map(move |one| Row {
            section,
            key: one.key,
            build_s: one.build_s,
            rounds: one.rounds,
        })
        .collect::<Vec<_>>()
    };
    answers.iter().flat_map(of_part).collect()
}
