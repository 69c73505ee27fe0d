//! The HTTP interface: JSON, on loopback only.

mod all;
mod answer;
mod captures;
mod echoes;
mod instances;
mod links;
mod origin;
mod probes;
mod taps;
pub mod token;
mod windows;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{delete, get, post};

use crate::probe::registry::Registry;
use crate::testbed::supervisor::Supervisor;
use all::All;
use answer::{MAX_BODY_BYTES, MAX_PROBE_BYTES, method_not_allowed, no_route, read_whole};
use token::Token;
pub use windows::QuietRequest;

pub fn router(supervisor: Arc<Supervisor>, probes: Arc<Registry>, token: Token) -> Router {
    let probe = post(probes::start).layer(DefaultBodyLimit::max(MAX_PROBE_BYTES));
    Router::new()
        .route("/health", get(answer::health))
        .route("/host", get(answer::host))
        .route("/limits", get(answer::limits))
        .route("/testbeds", get(instances::testbeds))
        .route("/testbeds/{name}/start", post(instances::start))
        .route("/instances", get(instances::list))
        .route(
            "/instances/{id}",
            get(instances::show).delete(instances::stop),
        )
        .route("/instances/{id}/programs", get(instances::programs))
        .route("/instances/{id}/held", post(instances::held))
        .route("/instances/{id}/rest", post(instances::rest))
        .route("/instances/{id}/tun", get(instances::tun))
        .route("/instances/{id}/link", get(links::show).post(links::change))
        .route("/instances/{id}/link/samples", get(links::samples))
        .route("/instances/{id}/link/calibrate", post(links::calibrate))
        .route("/links/calibrate", post(links::calibrate_fresh))
        .route("/windows", post(windows::open).get(windows::list))
        .route("/windows/{id}", get(windows::show))
        .route("/windows/{id}/cpus", get(windows::cpus))
        .route("/windows/{id}/holding", get(windows::holding))
        .route(
            "/windows/{id}/part",
            post(windows::begin_part)
                .get(windows::part)
                .delete(windows::drop_part),
        )
        .route("/windows/{id}/close", post(windows::close))
        .route("/windows/{id}/quiet", post(windows::quiet))
        .route("/probes", probe.get(probes::list))
        .route("/probes/{id}", get(probes::show).delete(probes::forget))
        .route("/probes/{id}/series/{name}", get(probes::series))
        .route("/echoes", post(echoes::start))
        .route("/echoes/{id}", get(echoes::show).delete(echoes::stop))
        .route("/taps", post(taps::start))
        .route(
            "/taps/{id}",
            post(taps::pass_to).get(taps::show).delete(taps::stop),
        )
        .route("/captures", post(captures::start))
        .route("/captures/{id}", delete(captures::end))
        .with_state(All::new(supervisor, probes))
        .fallback(no_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn(read_whole))
        .layer(middleware::from_fn_with_state(
            token,
            token::only_with_token,
        ))
        .layer(middleware::from_fn(origin::only_local))
}
