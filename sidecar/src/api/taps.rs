//! Taps: start, get the address, stop.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;

use super::all::All;
use super::answer::read;
use crate::failure::Result;
use crate::tap::{self, Tap};

#[derive(Serialize)]
pub struct Body {
    id: String,
    #[serde(flatten)]
    state: tap::State,
}

pub async fn start(State(all): State<All>, body: Bytes) -> Result<(StatusCode, Json<Body>)> {
    let tap = Tap::start(&read(&body)?).await?;
    let state = tap.state();
    let id = all.taps.start(|| Ok(Arc::new(tap)))?;
    Ok((StatusCode::CREATED, Json(Body { id, state })))
}

pub async fn pass_to(
    State(all): State<All>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Body>> {
    let tap = all.taps.get(&id)?;
    tap.pass_to(&read(&body)?)?;
    let state = tap.state();
    Ok(Json(Body { id, state }))
}

pub async fn show(State(all): State<All>, Path(id): Path<String>) -> Result<Json<Body>> {
    let state = all.taps.get(&id)?.state();
    Ok(Json(Body { id, state }))
}

/// Stops a tap, and answers with its findings.
pub async fn stop(State(all): State<All>, Path(id): Path<String>) -> Result<Json<Body>> {
    let state = all.taps.take(&id)?.state();
    Ok(Json(Body { id, state }))
}
