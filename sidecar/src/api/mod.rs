//! The HTTP interface: JSON, on loopback only.

mod answer;
mod instances;
mod origin;
mod windows;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};

use crate::testbed::supervisor::Supervisor;
use answer::{method_not_allowed, no_route};

/// The largest request that is read, bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub fn router(supervisor: Arc<Supervisor>) -> Router {
    Router::new()
        .route("/health", get(answer::health))
        .route("/host", get(answer::host))
        .route("/testbeds", get(instances::testbeds))
        .route("/testbeds/{name}/start", post(instances::start))
        .route("/instances", get(instances::list))
        .route(
            "/instances/{id}",
            get(instances::show).delete(instances::stop),
        )
        .route("/windows", post(windows::open))
        .route("/windows/{id}", get(windows::show))
        .route("/windows/{id}/close", post(windows::close))
        .fallback(no_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn(origin::only_local))
        .with_state(supervisor)
}
