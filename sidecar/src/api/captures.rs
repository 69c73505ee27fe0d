//! Captures of a hop's wire: start, end.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, post};
use axum::{Json, Router};
use serde_json::json;

use super::answer::{blocking, read};
use crate::failure::Result;
use crate::running::Running;
use crate::testbed::supervisor::Supervisor;
use crate::wire::{Capture, Found, Request};

#[derive(Clone)]
struct Start {
    supervisor: Arc<Supervisor>,
    captures: Arc<Running<Capture>>,
}

pub fn router(supervisor: Arc<Supervisor>) -> Router {
    let captures = Arc::new(Running::new("capture", "/captures", 'w', 64));
    let both = Start {
        supervisor,
        captures: Arc::clone(&captures),
    };
    Router::new()
        .route("/captures", post(start).with_state(both))
        .route("/captures/{id}", delete(end))
        .with_state(captures)
}

async fn start(
    State(both): State<Start>,
    body: Bytes,
) -> Result<(StatusCode, Json<serde_json::Value>)> {
    let request: Request = read(&body)?;
    let id = blocking(move || {
        let of = request.namespace.as_ref();
        let namespace = of.map(|of| both.supervisor.namespace(of)).transpose()?;
        let capture = Capture::start(&request, namespace.as_deref())?;
        both.captures.start(|| Ok(capture))
    })
    .await?;
    Ok((StatusCode::CREATED, Json(json!({"id": id}))))
}

/// Stops a capture, and answers with its findings.
async fn end(
    State(captures): State<Arc<Running<Capture>>>,
    Path(id): Path<String>,
) -> Result<Json<Found>> {
    blocking(move || captures.take(&id)?.end()).await.map(Json)
}
