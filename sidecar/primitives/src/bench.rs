//! Runs cases through Criterion, round by round, and reads back what Criterion wrote.
//!
//! All cases are measured once in each round, neighbours in the list one right after the other. So two neighbours can be
//! compared by their rounds, in each of which the machine was the same for both.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use criterion::Criterion;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::clock::ThreadTime;
use crate::{features, versions};

/// How long and how often.
#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// Measurements of each case, in turn
    #[arg(long, default_value_t = 1)]
    pub rounds: usize,
    /// Warm-up of each measurement
    #[arg(long, value_name = "MS", default_value_t = 50)]
    pub warm_up_ms: u64,
    /// Time of each measurement
    #[arg(long, value_name = "MS", default_value_t = 200)]
    pub measure_ms: u64,
    /// Samples of each measurement, 10 at least
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub samples: usize,
    /// Bootstrap resamples of each measurement
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub resamples: usize,
    /// Sizes of the rule sets
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub rules: Vec<usize>,
    /// Most regular expressions in a rule set
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub most_regexes: usize,
    /// Size of the block whose copy shows the memory's bandwidth
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub block_bytes: usize,
}

/// What one row of a table is about.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Key {
    /// An algorithm or a structure, such as `aes-256-gcm`
    pub subject: &'static str,
    /// Such as `encrypt`
    pub operation: &'static str,
    /// Whose code, such as `ring`
    pub implementation: &'static str,
    /// Payload of one operation
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Size of the rule set
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<usize>,
}

/// Criterion's, on our clock.
pub type Bencher<'a> = criterion::Bencher<'a, ThreadTime>;

type Routine = Box<dyn FnMut(&mut Bencher<'_>)>;

/// One thing to measure.
pub struct Case {
    key: Key,
    /// Seconds that building the rule set took, once.
    build_s: Option<f64>,
    routine: Routine,
}

impl Case {
    pub fn new(key: Key, routine: impl FnMut(&mut Bencher<'_>) + 'static) -> Self {
        Self {
            key,
            build_s: None,
            routine: Box::new(routine),
        }
    }

    pub fn built_in(mut self, time: Duration) -> Self {
        self.build_s = Some(time.as_secs_f64());
        self
    }
}

/// What belongs into the tables and is not measured, and why.
#[derive(Debug, Serialize)]
pub struct Skipped {
    #[serde(flatten)]
    pub key: Key,
    pub reason: String,
}

/// The cases of a section.
#[derive(Default)]
pub struct Suite {
    pub cases: Vec<Case>,
    pub skipped: Vec<Skipped>,
    /// Known answers that were checked before.
    pub checked: usize,
}

/// Nanoseconds of CPU time of one operation, in one round: Criterion's median with its 95 % bootstrap interval.
#[derive(Debug, Serialize)]
struct Round {
    median: f64,
    low: f64,
    high: f64,
    samples: usize,
    iterations: f64,
}

#[derive(Debug, Serialize)]
struct Measurement {
    #[serde(flatten)]
    key: Key,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_s: Option<f64>,
    rounds: Vec<Round>,
}

/// What `report.json` holds.
#[derive(Debug, Serialize)]
pub struct Report {
    portable: bool,
    rustc: &'static str,
    /// Extensions of this CPU that the libraries know to use.
    cpu_features: Vec<&'static str>,
    /// Of the libraries that are measured.
    versions: BTreeMap<&'static str, &'static str>,
    /// Known answers that were checked before the measurement.
    checked: usize,
    /// Nanoseconds that this process ran while it measured, and that it was ready to run and had to wait; None where the
    /// kernel does not tell.
    run_ns: Option<u64>,
    wait_ns: Option<u64>,
    measurements: Vec<Measurement>,
    skipped: Vec<Skipped>,
}

/// Measures all cases.
pub fn measure(suite: Suite, plan: &Plan, work: &Path) -> Result<Report, Error> {
    let mut criterion = Criterion::default()
        .with_measurement(ThreadTime)
        .output_directory(work)
        .without_plots()
        .confidence_level(0.95)
        .sample_size(plan.samples.max(10))
        .nresamples(plan.resamples.max(1001))
        .warm_up_time(Duration::from_millis(plan.warm_up_ms.max(1)))
        .measurement_time(Duration::from_millis(plan.measure_ms.max(1)));
    let Suite {
        mut cases,
        skipped,
        checked,
    } = suite;
    let mut measurements: Vec<Measurement> = cases
        .iter()
        .map(|case| Measurement {
            key: case.key,
            build_s: case.build_s,
            rounds: Vec::new(),
        })
        .collect();
    let before = scheduled();
    for round in 0..plan.rounds.max(1) {
        let name = format!("round-{round}");
        let mut group = criterion.benchmark_group(&name);
        for index in order(cases.len(), fastrand::bool()) {
            let case = &mut cases[index];
            group.bench_function(index.to_string(), |bencher| (case.routine)(bencher));
        }
        group.finish();
        for (index, measurement) in measurements.iter_mut().enumerate() {
            let folder = work.join(&name).join(index.to_string()).join("new");
            measurement.rounds.push(round_of(&folder)?);
        }
    }
    let used = before.zip(scheduled());
    Ok(Report {
        portable: crate::PORTABLE,
        rustc: env!("RUSTC_VERSION"),
        cpu_features: features::detected(),
        versions: versions::measured(),
        checked,
        run_ns: used.map(|(before, after)| after.0 - before.0),
        wait_ns: used.map(|(before, after)| after.1 - before.1),
        measurements,
        skipped,
    })
}

/// The list, or the list backwards: which it is, is by lot in each round, so that of two neighbours either is as often the
/// first, and what comes and goes meets both alike.
fn order(count: usize, backwards: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if backwards {
        order.reverse();
    }
    order
}

/// Nanoseconds that the main thread ran, and that it waited for a CPU (proc_pid_schedstat(5)). None without
/// CONFIG_SCHED_INFO.
fn scheduled() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    confidence_interval: Interval,
    point_estimate: f64,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
}

fn round_of(folder: &Path) -> Result<Round, Error> {
    let Estimates { median } = read(&folder.join("estimates.json"))?;
    let Sample { iters } = read(&folder.join("sample.json"))?;
    Ok(Round {
        median: median.point_estimate,
        low: median.confidence_interval.lower_bound,
        high: median.confidence_interval.upper_bound,
        samples: iters.len(),
        iterations: iters.iter().sum(),
    })
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read(path).map_err(|error| Error::new(path.display(), error))?;
    serde_json::from_slice(&text).map_err(|error| Error::new(path.display(), error))
}
