//! Taps: start, get the address, stop.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Serialize;

use super::all::All;
use super::answer::{Answer, Created, created, read};
use crate::tap::{self, Tap};

#[derive(Serialize)]
pub struct Body {
    id: String,
    #[serde(flatten)]
    state: tap::State,
}

pub async fn start(State(all): State<All>, body: Bytes) -> Created<Body> {
    let tap = Tap::start(&read(&body)?).await?;
    let state = tap.state();
    let id = all.taps.start(|| Ok(Arc::new(tap)))?;
    created(Body { id, state })
}

pub async fn pass_to(State(all): State<All>, Path(id): Path<String>, body: Bytes) -> Answer<Body> {
    let tap = all.taps.get(&id)?;
    tap.pass_to(&read(&body)?)?;
    let state = tap.state();
    Ok(Json(Body { id, state }))
}

pub async fn show(State(all): State<All>, Path(id): Path<String>) -> Answer<Body> {
    let state = all.taps.get(&id)?.state();
    Ok(Json(Body { id, state }))
}

/// Stops a tap, and answers with its findings.
pub async fn stop(State(all): State<All>, Path(id): Path<String>) -> Answer<Body> {
    let state = all.taps.take(&id)?.state();
    Ok(Json(Body { id, state }))
}
