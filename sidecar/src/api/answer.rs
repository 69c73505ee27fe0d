//! Answers that all endpoints share: errors, and endpoints without a testbed.

use std::sync::Arc;

use axum::Json;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use crate::failure::{Failure, Kind, Result};
use crate::testbed::supervisor::Supervisor;

/// The largest accepted request, bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
/// A probe may have a list of 100,000 users.
pub const MAX_PROBE_BYTES: usize = 16 << 20;
/// The largest request that is read to its end. A larger one may find the connection closed before it has the answer.
const MAX_READ_BYTES: usize = 4 * MAX_PROBE_BYTES;

/// An answer in JSON.
pub type Answer<T = Value> = Result<Json<T>>;
/// The answer to a request that made something.
pub type Created<T = Value> = Result<(StatusCode, Json<T>)>;

pub fn created<T>(what: T) -> Created<T> {
    Ok((StatusCode::CREATED, Json(what)))
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self.kind {
            Kind::BadRequest => StatusCode::BAD_REQUEST,
            Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::Unauthorized => StatusCode::UNAUTHORIZED,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Conflict | Kind::GivenUp => StatusCode::CONFLICT,
            Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Kind::Setup => StatusCode::BAD_GATEWAY,
            Kind::Unsupported => StatusCode::NOT_IMPLEMENTED,
        };
        (status, Json(self)).into_response()
    }
}

pub async fn health() -> Json<Value> {
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
}

pub async fn host() -> Json<crate::host::Host> {
    Json(crate::host::host())
}

pub async fn limits(State(supervisor): State<Arc<Supervisor>>) -> Json<Value> {
    Json(json!({"open_files": crate::process::files::limit(), "killed": supervisor.killed()}))
}

pub async fn no_route(uri: Uri) -> Failure {
    Failure::not_found(
        format!("there is no {}", uri.path()),
        "see sidecar/README.md for the addresses",
    )
}

pub async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let failure = Failure::bad_request(
        format!("{} does not take {method}", uri.path()),
        "see sidecar/README.md for the addresses",
    );
    (StatusCode::METHOD_NOT_ALLOWED, Json(failure)).into_response()
}

/// Reads a request whole before it is answered: an answer to half a request, and the end of the connection, would break the client's write.
pub async fn read_whole(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    in_our_words(match to_bytes(body, MAX_READ_BYTES).await {
        Ok(bytes) => next.run(Request::from_parts(parts, bytes.into())).await,
        Err(_) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
    })
}

/// Replaces axum's own answer to a body that is too large.
fn in_our_words(response: Response) -> Response {
    if response.status() != StatusCode::PAYLOAD_TOO_LARGE {
        return response;
    }
    Failure::new(
        Kind::TooLarge,
        format!(
            "the request has more than {} KiB, or {} MiB for a probe",
            MAX_BODY_BYTES / 1024,
            MAX_PROBE_BYTES >> 20
        ),
        "send a smaller one",
    )
    .into_response()
}

/// Reads a request's JSON. An empty body is an empty object.
pub fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T> {
    let body: &[u8] = if body.is_empty() { b"{}" } else { body };
    let mut json = serde_json::Deserializer::from_slice(body);
    let malformed = |error: String| {
        Failure::bad_request(
            format!("request: {error}"),
            "send one JSON object as documented",
        )
    };
    // The error names the path of the wrong field.
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        malformed(if may_quote_a_secret(&error) {
            format!("{}: wrong type", error.path())
        } else {
            error.to_string()
        })
    })?;
    json.end().map_err(|error| malformed(error.to_string()))?;
    Ok(value)
}

/// Serde quotes the wrong value. Below `proxy` that value may be a password.
fn may_quote_a_secret(error: &serde_path_to_error::Error<serde_json::Error>) -> bool {
    let first = error.path().iter().next();
    error.inner().is_data()
        && matches!(first, Some(Segment::Map { key }) if key.as_str() == "proxy")
}

/// Runs slow work on a thread where it blocks no other request.
pub async fn blocking<T: Send + 'static>(
    what: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(what)
        .await
        .unwrap_or_else(|error| {
            Err(Failure::setup(
                format!("the sidecar failed: {error}"),
                "report it",
            ))
        })
}

/// Answers with the result of slow work.
pub async fn answer<T: Send + 'static>(
    what: impl FnOnce() -> Result<T> + Send + 'static,
) -> Answer<T> {
    blocking(what).await.map(Json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::spec::Spec;

    #[test]
    fn no_error_quotes_a_value_below_proxy() {
        for proxy in [
            r#""anna:secret@127.0.0.1:9""#,
            r#"{"address": "127.0.0.1:9", "password": ["secret"]}"#,
            r#"{"address": "127.0.0.1:9", "secret": 1}"#,
        ] {
            let body = format!(r#"{{"kind": "tcp", "target": "127.0.0.1:9", "proxy": {proxy}}}"#);
            let failure = read::<Spec>(&Bytes::from(body)).err().unwrap().to_string();
            assert!(failure.contains("proxy"), "{failure}");
            assert!(!failure.contains(r#""secret"#), "{failure}");
            assert!(!failure.contains("anna"), "{failure}");
        }
        let body = Bytes::from(r#"{"kind": "tcp", "target": 7}"#);
        let failure = read::<Spec>(&body).err().unwrap().to_string();
        assert!(
            failure.contains("target") && failure.contains("integer `7`"),
            "{failure}"
        );
    }
}
