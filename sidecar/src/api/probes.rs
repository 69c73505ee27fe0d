//! Probes: start, follow, fetch samples, stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::all::All;
use super::answer::{Answer, Created, answer, blocking, created, read};
use crate::echo::registry::Echoes;
use crate::failure::{Failure, Result, refuse};
use crate::probe::far_end::FarEnd;
use crate::probe::observer::Observer;
use crate::probe::plan::Plan;
use crate::probe::registry::Probe;
use crate::probe::spec::Spec;
use crate::process::windows::Windows;
use crate::testbed::supervisor::Supervisor;

/// The longest wait for a probe's end, seconds.
const MAX_WAIT_S: f64 = 20.0;
/// Samples per answer, both the default and the maximum.
const LIMIT: u64 = 100_000;
const MAX_LIMIT: u64 = 200_000;

pub async fn start(State(all): State<All>, body: Bytes) -> Created {
    let spec: Spec = read(&body)?;
    let id = blocking(move || {
        let All {
            supervisor,
            probes,
            echoes,
            ..
        } = &all;
        let of = spec.namespace.clone();
        let namespace = of.as_ref().map(|of| supervisor.namespace(of)).transpose()?;
        let allowed = namespace.is_none().then_some(&probes.allowed);
        let plan = Plan::check(spec, allowed)?;
        let observer = observer(supervisor, &plan.spec)?;
        let far_end = far_end(supervisor, echoes, &plan)?;
        let id = probes.start(plan, namespace, observer, far_end)?;
        if let Some(of) = of {
            // The instance may have stopped in the meantime.
            supervisor
                .instance(&of.instance)
                .inspect_err(|_| probes.cancel_of(&of.instance))?;
        }
        Ok(id)
    })
    .await?;
    created(json!({"id": id}))
}

/// The echo server that the spec names, or else the one at the probe's target; `None` if the target is not one of ours.
fn far_end(supervisor: &Supervisor, echoes: &Echoes, plan: &Plan) -> Result<Option<FarEnd>> {
    let spec = &plan.spec;
    let instance = spec.namespace.as_ref().map(|of| of.instance.as_str());
    let udp = spec.over_udp();
    let echo = match &spec.far_end {
        Some(id) => Some(echoes.get(id)?),
        None => echoes.at(plan.target_at.address, udp, instance),
    };
    let over_link = match instance {
        Some(id) => supervisor.instance(id)?.link().is_ok(),
        None => false,
    };
    Ok(echo.map(|echo| FarEnd::new(&echo, over_link)))
}

fn observer(supervisor: &Supervisor, spec: &Spec) -> Result<Observer> {
    let windows = Arc::clone(&supervisor.windows);
    let resumed = open_window(&windows, "usage_window", spec.usage_window.as_ref())?;
    let watcher = open_window(&windows, "watched_by", spec.watched_by.as_ref())?;
    let sources = match &spec.instance {
        Some(id) => supervisor.instance(id)?.sources(),
        None => Vec::new(),
    };
    Observer::new(windows, sources, resumed, watcher)
}

fn open_window(windows: &Windows, field: &str, id: Option<&String>) -> Result<Option<String>> {
    if let Some(id) = id {
        let none = format!("{field}: there is no open window {id:?}");
        refuse(!windows.is_open(id), &none, "open one with POST /windows")?;
    }
    Ok(id.cloned())
}

pub async fn list(State(all): State<All>) -> Json<Vec<Probe>> {
    Json(all.probes.list())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    #[serde(default)]
    wait_s: f64,
}

pub async fn show(
    State(all): State<All>,
    Path(id): Path<String>,
    query: std::result::Result<Query<Follow>, QueryRejection>,
) -> Answer<Probe> {
    let wait_s = asked(query)?.wait_s;
    refuse(
        !(0.0..=MAX_WAIT_S).contains(&wait_s),
        &format!("wait_s: {wait_s} is out of bounds"),
        &format!("give 0 to {MAX_WAIT_S}"),
    )?;
    let patience = Duration::from_secs_f64(wait_s);
    answer(move || all.probes.probe(&id, patience)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    #[serde(default)]
    from: u64,
    #[serde(default = "default_limit")]
    limit: u64,
}

fn default_limit() -> u64 {
    LIMIT
}

#[derive(Serialize)]
pub struct Samples {
    name: &'static str,
    unit: &'static str,
    from: u64,
    /// Number of kept samples.
    total: u64,
    values: Vec<u64>,
    /// When each operation ended, µs since 1970.
    ends_unix_us: Vec<u64>,
}

pub async fn series(
    State(all): State<All>,
    Path((id, name)): Path<(String, String)>,
    query: std::result::Result<Query<Chunk>, QueryRejection>,
) -> Answer<Samples> {
    let chunk = asked(query)?;
    refuse(
        !(1..=MAX_LIMIT).contains(&chunk.limit),
        &format!("limit: {} is out of bounds", chunk.limit),
        &format!("give 1 to {MAX_LIMIT}"),
    )?;
    let outcome = all.probes.outcome(&id)?;
    let found = outcome
        .as_ref()
        .and_then(|outcome| outcome.series.iter().find(|series| series.name == name));
    let Some(found) = found else {
        return Err(Failure::not_found(
            format!("probe {id} has no series {name:?}"),
            "wait for its end and see outcome.series of GET /probes/ID",
        ));
    };
    let chunk_of = |all: &[u64]| -> Vec<u64> {
        let rest = all.iter().skip(chunk.from as usize);
        rest.take(chunk.limit as usize).copied().collect()
    };
    Ok(Json(Samples {
        name: found.name,
        unit: "ns",
        from: chunk.from,
        total: found.kept,
        values: chunk_of(&found.values),
        ends_unix_us: chunk_of(&found.ends_unix_us),
    }))
}

pub async fn forget(State(all): State<All>, Path(id): Path<String>) -> Answer {
    let state = blocking(move || all.probes.forget(&id)).await?;
    Ok(Json(json!({"state": state})))
}

fn asked<T>(query: std::result::Result<Query<T>, QueryRejection>) -> Result<T> {
    query.map(|Query(asked)| asked).map_err(|error| {
        Failure::bad_request(
            format!("query: {}", error.body_text()),
            "see sidecar/README.md for the parameters",
        )
    })
}
