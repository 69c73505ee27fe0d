//! Taps: start, get the address, stop.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde::Serialize;

use super::answer::read;
use crate::failure::Result;
use crate::running::Running;
use crate::tap::{self, Tap};

type Shared = State<Arc<Running<Arc<Tap>>>>;

#[derive(Serialize)]
struct Body {
    id: String,
    #[serde(flatten)]
    state: tap::State,
}

pub fn router() -> Router {
    let taps = Arc::new(Running::<Arc<Tap>>::new("tap", "/taps", 't', 64));
    Router::new()
        .route("/taps", post(start))
        .route("/taps/{id}", post(pass_to).get(show).delete(stop))
        .with_state(taps)
}

async fn start(State(taps): Shared, body: Bytes) -> Result<(StatusCode, Json<Body>)> {
    let tap = Tap::start(&read(&body)?).await?;
    let state = tap.state();
    let id = taps.start(|| Ok(Arc::new(tap)))?;
    Ok((StatusCode::CREATED, Json(Body { id, state })))
}

async fn pass_to(State(taps): Shared, Path(id): Path<String>, body: Bytes) -> Result<Json<Body>> {
    let tap = taps.get(&id)?;
    tap.pass_to(&read(&body)?)?;
    let state = tap.state();
    Ok(Json(Body { id, state }))
}

async fn show(State(taps): Shared, Path(id): Path<String>) -> Result<Json<Body>> {
    let state = taps.get(&id)?.state();
    Ok(Json(Body { id, state }))
}

/// Stops a tap, and answers with its findings.
async fn stop(State(taps): Shared, Path(id): Path<String>) -> Result<Json<Body>> {
    let state = taps.take(&id)?.state();
    Ok(Json(Body { id, state }))
}
