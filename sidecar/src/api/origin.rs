//! Accepts only requests from programs on this machine: no browser page, and no name that resolves to loopback.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;

/// Refuses Host headers other than loopback, and all requests of browser pages.
pub async fn only_local(request: Request, next: Next) -> Response {
    if request.headers().contains_key(ORIGIN) {
        return Failure::forbidden(
            "requests of web pages (Origin header) are refused",
            "ask from a program",
        )
        .into_response();
    }
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    match host {
        Some(host) if is_loopback(host) => next.run(request).await,
        _ => Failure::forbidden(
            format!("Host header {:?} is not loopback", host.unwrap_or_default()),
            "use the address that the sidecar printed",
        )
        .into_response(),
    }
}

/// Whether a Host header names this machine's loopback, with a port or without.
fn is_loopback(host: &str) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    if name.eq_ignore_ascii_case("localhost") {
        return port.parse::<u16>().is_ok();
    }
    let inner = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some(inner) => inner.parse().is_ok_and(|ip: Ipv6Addr| ip.is_loopback()),
        None => host.parse().is_ok_and(|ip: Ipv4Addr| ip.is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn loopback_in_its_forms_and_nothing_else() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:80",
            "127.3.2.1:80",
            "localhost:9",
            "LOCALHOST",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "10.0.0.1:80",
            "[::2]",
            "[::1",
            "127.0.0.1:x",
            "[::1]x",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
