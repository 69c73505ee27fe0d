//! Echo servers: start, show, stop.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::json;

use super::all::All;
use super::answer::{Answer, Created, answer, blocking, created, read};
use crate::echo::{self, Request};

#[derive(Serialize)]
pub struct Body {
    id: String,
    #[serde(flatten)]
    state: echo::State,
}

pub async fn start(State(all): State<All>, body: Bytes) -> Created {
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
    created(answer)
}

pub async fn show(State(all): State<All>, Path(id): Path<String>) -> Answer<Body> {
    let state = all.echoes.get(&id)?.state();
    Ok(Json(Body { id, state }))
}

/// Stops a server, and answers with its last counts.
pub async fn stop(State(all): State<All>, Path(id): Path<String>) -> Answer<Body> {
    answer(move || {
        let state = all.echoes.stop(&id)?.state();
        Ok(Body { id, state })
    })
    .await
}
