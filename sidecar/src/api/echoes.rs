//! Echo servers: start, show, stop.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::json;

use super::all::All;
use super::answer::{blocking, read};
use crate::echo::{self, Request};
use crate::failure::Result;

#[derive(Serialize)]
pub struct Body {
    id: String,
    #[serde(flatten)]
    state: echo::State,
}

pub async fn start(
    State(all): State<All>,
    body: Bytes,
) -> Result<(StatusCode, Json<serde_json::Value>)> {
    let request: Request = read(&body)?;
    let (id, echo) = blocking(move || {
        let All {
            supervisor, echoes, ..
        } = &all;
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

pub async fn show(State(all): State<All>, Path(id): Path<String>) -> Result<Json<Body>> {
    let state = all.echoes.get(&id)?.state();
    Ok(Json(Body { id, state }))
}

/// Stops a server, and answers with its last counts.
pub async fn stop(State(all): State<All>, Path(id): Path<String>) -> Result<Json<Body>> {
    blocking(move || {
        let state = all.echoes.stop(&id)?.state();
        Ok(Json(Body { id, state }))
    })
    .await
}
