//! Captures of a hop's wire: start, end.

use axum::body::Bytes;
use axum::extract::{Path, State};
use serde_json::json;

use super::all::All;
use super::answer::{Answer, Created, answer, blocking, created, read};
use crate::wire::{Capture, Found, Request};

pub async fn start(State(all): State<All>, body: Bytes) -> Created {
    let request: Request = read(&body)?;
    let id = blocking(move || {
        let of = request.namespace.as_ref();
        let namespace = of.map(|of| all.supervisor.namespace(of)).transpose()?;
        let capture = Capture::start(&request, namespace.as_deref())?;
        all.captures.start(|| Ok(capture))
    })
    .await?;
    created(json!({"id": id}))
}

/// Stops a capture, and answers with its findings.
pub async fn end(State(all): State<All>, Path(id): Path<String>) -> Answer<Found> {
    answer(move || all.captures.take(&id)?.end()).await
}
