//! Measuring windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, Created, answer, blocking, created, read};
use super::instances::rest_time;
use crate::failure::refuse;
use crate::process::interference::Sample;
use crate::process::part::Part;
use crate::process::role::Role;
use crate::process::usage::Source;
use crate::process::window::Usage;
use crate::process::windows::{Calm, Manner};
use crate::testbed::supervisor::Supervisor;

type Shared = State<Arc<Supervisor>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenRequest {
    instance: Option<String>,
    #[serde(default)]
    pids: BTreeMap<String, i32>,
    /// The window runs only while a probe that names it measures.
    #[serde(default)]
    paused: bool,
    /// Also measures the sidecar itself, without its child processes: this shows the threads of its probes and far ends.
    #[serde(default)]
    sidecar: bool,
    /// Whether to measure peak memory, for which the sidecar samples processes continuously.
    #[serde(default = "yes")]
    peaks: bool,
    /// Whether to record which programs use each CPU. With peaks, it does so at each sample of the processes.
    #[serde(default)]
    by_cpu: bool,
}

fn yes() -> bool {
    true
}

pub async fn open(State(supervisor): Shared, body: Bytes) -> Created {
    let request: OpenRequest = read(&body)?;
    let mut sources = match &request.instance {
        Some(id) => supervisor.instance(id)?.sources(),
        None => Vec::new(),
    };
    for (name, pid) in request.pids {
        let source = Source::pid(&format!("pids.{name}"), pid)?;
        sources.push((name, Role::Generator, source));
    }
    if request.sidecar {
        sources.push(("sidecar".to_owned(), Role::Generator, Source::Own));
    }
    refuse(
        sources.is_empty(),
        "there is nothing to measure",
        "give an instance, pids or both",
    )?;
    let manner = Manner {
        paused: request.paused,
        peaks: request.peaks,
        by_cpu: request.by_cpu,
    };
    let open = move || supervisor.windows.open(sources, manner);
    let id = blocking(open).await?;
    created(json!({"id": id}))
}

pub async fn show(State(supervisor): Shared, Path(id): Path<String>) -> Answer<Usage> {
    answer(move || supervisor.windows.usage(&id)).await
}

/// The use of each CPU by programs, over time.
pub async fn cpus(State(supervisor): Shared, Path(id): Path<String>) -> Answer<Vec<Sample>> {
    answer(move || supervisor.windows.samples(&id)).await
}

/// Memory, descriptors by kind and threads of the measured processes now.
pub async fn holding(State(supervisor): Shared, Path(id): Path<String>) -> Answer {
    let held = blocking(move || supervisor.windows.holding(&id)).await?;
    Ok(Json(json!({"processes": held})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartRequest {
    name: String,
}

/// All windows that measure now.
pub async fn list(State(supervisor): Shared) -> Json<serde_json::Value> {
    Json(json!({"parts": supervisor.windows.parts_now()}))
}

/// The longest accepted name of a part, characters.
const NAME_MOST: usize = 200;

/// Begins a part of the measurement. A part can be dropped later.
pub async fn begin_part(State(supervisor): Shared, Path(id): Path<String>, body: Bytes) -> Created {
    let PartRequest { name } = read(&body)?;
    refuse(
        name.chars().count() > NAME_MOST,
        "name: it is too long",
        &format!("give at most {NAME_MOST} characters"),
    )?;
    blocking(move || supervisor.windows.begin_part(&id, name)).await?;
    created(json!({}))
}

/// The use of each CPU by programs in the last part.
pub async fn part(State(supervisor): Shared, Path(id): Path<String>) -> Answer<Part> {
    answer(move || supervisor.windows.part(&id)).await
}

/// Discards the measurements of the last part.
pub async fn drop_part(State(supervisor): Shared, Path(id): Path<String>) -> Answer<Part> {
    answer(move || supervisor.windows.drop_part(&id)).await
}

pub async fn close(State(supervisor): Shared, Path(id): Path<String>) -> Answer<Usage> {
    answer(move || supervisor.windows.close(&id)).await
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Calm")]
pub struct QuietRequest {
    seconds: f64,
    /// The least time for which the system's idle processes are sampled, seconds; 0 skips the sampling.
    #[serde(default)]
    rest_s: f64,
    /// The longest time after the load for which descriptors are read until the system has closed them, seconds; 0 skips the reading.
    #[serde(default)]
    settle_s: f64,
    /// Whether the system must close its files too; if not, files do not prolong the reading.
    #[serde(default)]
    closes_all: bool,
}

/// Waits for a quiet period after the load. The caller must send no load meanwhile.
pub async fn quiet(
    State(supervisor): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer<Usage> {
    let request: QuietRequest = read(&body)?;
    let calm = Calm {
        quiet: rest_time("seconds", request.seconds)?,
        rest: rest_time("rest_s", request.rest_s)?,
        settle: rest_time("settle_s", request.settle_s)?,
        closes_all: request.closes_all,
    };
    answer(move || supervisor.windows.quiet(&id, calm)).await
}
