//! Echo servers: start, show, stop.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use serde_json::json;

use super::answer::{blocking, read};
use crate::echo::registry::Echoes;
use crate::echo::{self, Request};
use crate::failure::Result;
use crate::testbed::supervisor::Supervisor;

type Shared = State<Arc<Echoes>>;

#[derive(Clone)]
struct Start {
    supervisor: Arc<Supervisor>,
    echoes: Arc<Echoes>,
}

#[derive(Serialize)]
struct Body {
    id: String,
    #[serde(flatten)]
    state: echo::State,
}

pub fn router(supervisor: Arc<Supervisor>, echoes: Arc<Echoes>) -> Router {
    let both = Start {
        supervisor,
        echoes: Arc::clone(&echoes),
    };
    Router::new()
        .route("/echoes", post(start).with_state(both))
        .route("/echoes/{id}", get(show).delete(stop))
        .with_state(echoes)
}

async fn start(
    State(both): State<Start>,
    body: Bytes,
) -> Result<(StatusCode, Json<serde_json::Value>)> {
    let request: Request = read(&body)?;
    let (id, echo) = blocking(move || {
        let Start { supervisor, echoes } = &both;
        let of = request.namespace.clone();
        let namespace = of.as_ref().map(|of| supervisor.namespace(of)).transpose()?;
        let started = echoes.start(request, namespace.as_deref())?;
        if let Some(of) = of {
            // The instance may have stopped in the meantime.
            supervisor
                .instance(&of.instance)
                .inspect_err(|_| echoes.stop_of(&of.instance))?;
        }
        Ok(started)
    })
    .await?;
    let answer = json!({"id": id, "tcp": echo.tcp, "udp": echo.udp});
    Ok((StatusCode::CREATED, Json(answer)))
}

async fn show(State(echoes): Shared, Path(id): Path<String>) -> Result<Json<Body>> {
    let state = echoes.get(&id)?.state();
    Ok(Json(Body { id, state }))
}

/// Stops a server, and answers with its last counts.
async fn stop(State(echoes): Shared, Path(id): Path<String>) -> Result<Json<Body>> {
    blocking(move || {
        let state = echoes.stop(&id)?.state();
        Ok(Json(Body { id, state }))
    })
    .await
}
