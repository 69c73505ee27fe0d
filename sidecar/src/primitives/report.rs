//! The result: `windtunnel.primitives/1`, which k6/schemas/primitives.schema.json describes. Which cipher wins is told by
//! `k6 x primitives`, from the rounds, with the engine of all comparisons.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::judge::{self, Check};
use super::model::{Answer, Key, Measurement, Round, Skipped, Time};
use super::plan::{Mode, Plan, Section};
use crate::failure::{Failure, Result};
use crate::host::{Host, host};

const SCHEMA: &str = "windtunnel.primitives/1";

/// A measurement and what is thought of it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub section: Section,
    #[serde(flatten)]
    pub key: Key,
    /// Seconds that building the rule set took, once
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_s: Option<f64>,
    pub time_ns: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// Why it cannot be true
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implausible: Option<String>,
    pub rounds: Vec<Round>,
}

/// A row that has a place in the tables and is not measured.
#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    pub section: Section,
    #[serde(flatten)]
    pub skipped: Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    Inconclusive,
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
    /// The CPU that it ran on
    pub cpu: usize,
    /// Load averages at the start and at the end
    pub load: [f64; 2],
    pub rustc: String,
    pub cpu_features: Vec<String>,
    pub versions: BTreeMap<String, String>,
    /// Known answers that were checked before the measurements
    pub known_answers: u64,
    pub measurements: Vec<Row>,
    pub skipped: Vec<Gap>,
    pub validity: Vec<Check>,
    pub verdict: Verdict,
}

/// What was asked for and what came of it.
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
    pub fn new(outcome: Outcome) -> Result<Self> {
        let find = |operation: &str| {
            let all = outcome
                .answers
                .iter()
                .flat_map(|(_, answer)| &answer.measurements);
            all.into_iter()
                .find(|one| one.key.subject == "control" && one.key.operation == operation)
                .ok_or_else(|| {
                    Failure::setup(
                        format!("primitives: the worker did not measure the control {operation:?}"),
                        "run make bin/primitives",
                    )
                })
        };
        let (work, again) = (find("work")?, find("work again")?);
        let rows = rows(&outcome.answers, find("empty")?);
        let implausible = rows.iter().filter(|row| row.implausible.is_some()).count();
        let answers = || outcome.answers.iter().map(|(_, answer)| answer);
        let waited = answers().filter_map(Answer::waited).reduce(f64::max);
        let validity = judge::checks(work, find("work twice")?, again, waited, implausible);
        let sound = validity.iter().all(|check| check.ok != Some(false));
        // The portable build lists no features.
        let (_, first) = &outcome.answers[0];
        Ok(Self {
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
            measurements: rows,
            validity,
            verdict: if sound {
                Verdict::Pass
            } else {
                Verdict::Inconclusive
            },
        })
    }

    /// 0, or 3 where the numbers cannot be trusted.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Pass => 0,
            Verdict::Inconclusive => 3,
        }
    }
}

fn rows(answers: &[(Section, Answer)], empty: &Measurement) -> Vec<Row> {
    let copy_of = |section: Section, bytes: Option<u64>| {
        let of_section = answers.iter().filter(move |(other, _)| *other == section);
        of_section
            .flat_map(|(_, answer)| &answer.measurements)
            .find(|one| one.key.operation == "copy" && one.key.bytes == bytes)
    };
    let cached = answers
        .iter()
        .filter(|(section, _)| *section != Section::Memory)
        .flat_map(|(_, answer)| &answer.measurements)
        .filter(|one| one.key.operation == "copy")
        .filter_map(|one| Some(one.key.bytes? as f64 / one.time().median));
    let fastest = cached.reduce(f64::max).unwrap_or(f64::INFINITY);
    let mut rows = Vec::new();
    for (section, answer) in answers {
        for measurement in &answer.measurements {
            let key = &measurement.key;
            let time = measurement.time();
            rows.push(Row {
                section: *section,
                key: key.clone(),
                build_s: measurement.build_s,
                time_ns: time,
                bytes_per_s: key.bytes.map(|bytes| bytes as f64 / time.median * 1e9),
                implausible: judge::implausible(
                    measurement,
                    copy_of(*section, key.bytes),
                    Some(empty),
                )
                .or_else(|| {
                    let is_block = *section == Section::Memory;
                    is_block.then(|| judge::implausible_block(measurement, fastest))?
                }),
                rounds: measurement.rounds.clone(),
            });
        }
    }
    rows
}
