//! Runs cases through Criterion, round by round, and reads Criterion's files.
//!
//! Each round measures all cases once, and neighbours in the list directly after one another. So two neighbours can be compared round by
//! round, because the machine was in the same state for both.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use criterion::Criterion;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::clock::ThreadTime;
use crate::{features, versions};

/// Duration and number of measurements.
#[derive(Clone, Debug, Deserialize)]
pub struct Plan {
    /// Measurements of each case, in turn
    pub rounds: usize,
    /// Warm-up of each measurement
    pub warm_up_ms: u64,
    /// Time of each measurement
    pub measure_ms: u64,
    /// Samples of each measurement, 10 at least
    pub samples: usize,
    /// Bootstrap resamples of each measurement
    pub resamples: usize,
    /// Sizes of the rule sets
    pub rules: Vec<usize>,
    /// Most regular expressions in a rule set
    pub most_regexes: usize,
    /// Size of the block whose copy shows the memory's bandwidth
    pub block_bytes: usize,
}

impl FromStr for Plan {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

/// Identifies one row of a table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Key {
    /// An algorithm or a structure, such as `aes-256-gcm`
    pub subject: &'static str,
    /// The operation, such as `encrypt`
    pub operation: &'static str,
    /// The library, such as `ring`
    pub implementation: &'static str,
    /// Payload of one operation
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Size of the rule set
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<usize>,
}

impl Key {
    pub const fn new(
        subject: &'static str,
        operation: &'static str,
        implementation: &'static str,
    ) -> Self {
        Self {
            subject,
            operation,
            implementation,
            bytes: None,
            rules: None,
        }
    }

    /// With the payload of one operation.
    pub const fn of_bytes(mut self, bytes: usize) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// With the size of the rule set.
    pub const fn of_rules(mut self, rules: usize) -> Self {
        self.rules = Some(rules);
        self
    }
}

/// Criterion's bencher on our clock.
pub type Bencher<'a> = criterion::Bencher<'a, ThreadTime>;

type Routine = Box<dyn FnMut(&mut Bencher<'_>)>;

/// One case to measure.
pub struct Case {
    key: Key,
    /// Seconds of one build of the rule set.
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

    /// A case that is the same operation again and again.
    #[allow(
        clippy::redundant_closure,
        reason = "a reference to the operation costs up to 7 ns more"
    )]
    pub fn each<O: 'static>(key: Key, mut operation: impl FnMut() -> O + 'static) -> Self {
        Self::new(key, move |bencher| bencher.iter(|| operation()))
    }

    pub fn built_in(mut self, time: Duration) -> Self {
        self.build_s = Some(time.as_secs_f64());
        self
    }
}

/// A row of the tables without a measurement, and the reason.
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
    /// The number of known answers that were checked before.
    pub checked: usize,
}

/// Nanoseconds of CPU time per operation in one round: Criterion's median with its 95% bootstrap interval.
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

/// The content of `report.json`.
#[derive(Debug, Serialize)]
pub struct Report {
    portable: bool,
    rustc: &'static str,
    /// Extensions of this CPU that the libraries use.
    cpu_features: Vec<&'static str>,
    /// Versions of the measured libraries.
    versions: BTreeMap<&'static str, &'static str>,
    /// The number of known answers that were checked before the measurement.
    checked: usize,
    /// Nanoseconds for which this process ran during the measurement, and for which it waited for a CPU; `None` if the kernel does not
    /// report it.
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

/// The list forwards or backwards. Each round picks the direction at random, so that each of two neighbours is first equally often, and
/// disturbances affect both alike.
fn order(count: usize, backwards: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if backwards {
        order.reverse();
    }
    order
}

/// Nanoseconds for which the main thread ran, and for which it waited for a CPU (proc_pid_schedstat(5)); `None` without CONFIG_SCHED_INFO.
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
