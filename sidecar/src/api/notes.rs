//! Notes: JSON by name, which a scenario leaves for its own summary. k6 hands a summary numbers only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;

use super::answer::read;
use crate::failure::{Failure, Kind, Result};

/// More are not kept.
const MAX_NOTES: usize = 256;

type Notes = Mutex<BTreeMap<String, Value>>;
type Shared = State<Arc<Notes>>;

pub fn router(notes: Arc<Notes>) -> Router {
    Router::new()
        .route("/notes", get(all).delete(forget))
        .route("/notes/{name}", post(keep))
        .with_state(notes)
}

async fn all(State(notes): Shared) -> Json<BTreeMap<String, Value>> {
    Json(notes.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

async fn keep(State(notes): Shared, Path(name): Path<String>, body: Bytes) -> Result<Json<Value>> {
    let value: Value = read(&body)?;
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    if notes.len() >= MAX_NOTES && !notes.contains_key(&name) {
        return Err(Failure::new(
            Kind::Conflict,
            format!("{MAX_NOTES} notes are kept, and more are not"),
            "forget them with DELETE /notes",
        ));
    }
    notes.insert(name, value);
    Ok(Json(Value::Object(serde_json::Map::new())))
}

async fn forget(State(notes): Shared) -> Json<Value> {
    notes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    Json(Value::Object(serde_json::Map::new()))
}
