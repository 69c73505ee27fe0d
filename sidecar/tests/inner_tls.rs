//! TLS inside a tunnel: what its session negotiated, the far end's counts, and faults on the way.

use std::net::SocketAddr;
use std::time::Duration;

use crate::common::network::*;
use crate::common::{Root, Server};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn tls_echo(server: &Server) -> Value {
    let (status, answer) = server.post("/echoes", r#"{"tls": true}"#);
    assert_eq!(status, 201, "{answer}");
    answer
}

fn transfer(target: &Value, proxy: Option<SocketAddr>, direction: &str) -> Value {
    json!({
        "kind": "throughput",
        "target": target["tcp"],
        "proxy": proxy.map(|address| json!({"address": address.to_string()})),
        "inner_tls": true,
        "warmup": 1,
        "count": 1,
        "transfer": {"bytes": MIB, "direction": direction, "every_byte": true},
    })
}

#[test]
fn a_transfer_in_tls_says_what_its_session_negotiated() {
    let root = Root::new();
    let server = root.serve();
    let echo = tls_echo(&server);
    let sessions = json!([{"version": "TLSv1_3", "cipher": "TLS13_AES_256_GCM_SHA384"}]);
    for (proxy, direction) in [
        (None, "down"),
        (Some(relay(Duration::ZERO, None)), "down"),
        (Some(relay(Duration::ZERO, None)), "up"),
    ] {
        let probe = server.measure(&transfer(&echo, proxy, direction));
        let outcome = &probe["outcome"];
        assert_eq!(outcome["succeeded"], 1, "{probe}");
        assert_eq!(outcome["inner_tls"], sessions, "{probe}");
        // Payload alone, the warm-up and two headers included.
        let bytes = &outcome["far_end"][format!("bytes_{direction}")];
        assert!(bytes["found"].as_u64().unwrap() >= 2 * MIB, "{probe}");
        assert!(bytes["found"].as_u64().unwrap() <= 2 * MIB + 32, "{probe}");
    }
    let mut handshake = transfer(&echo, Some(relay(Duration::ZERO, None)), "down");
    handshake["kind"] = json!("handshake");
    handshake["first_reply"] = json!(true);
    handshake.as_object_mut().unwrap().remove("transfer");
    let probe = server.measure(&handshake);
    assert_eq!(probe["outcome"]["succeeded"], 1, "{probe}");
    assert_eq!(probe["outcome"]["inner_tls"], sessions, "{probe}");
}

#[test]
fn bytes_that_a_proxy_changes_inside_tls_fail_the_transfer() {
    let root = Root::new();
    let server = root.serve();
    let echo = tls_echo(&server);
    // In the measured transfer: the warm-up is before it.
    let changed = relay(Duration::ZERO, Some((MIB + MIB / 2) as usize));
    let probe = server.measure(&transfer(&echo, Some(changed), "down"));
    assert_eq!(probe["outcome"]["errors"], json!({"tls": 1}), "{probe}");
    let probe = server.measure(&transfer(
        &echo,
        Some(relay(Duration::ZERO, Some(100))),
        "down",
    ));
    assert_eq!(probe["error"]["kind"], "tls", "{probe}");
}

#[test]
fn a_far_end_without_tls_is_no_session() {
    let root = Root::new();
    let server = root.serve();
    let (_, plain) = server.post("/echoes", "{}");
    let probe = server.measure(&transfer(&plain, None, "down"));
    assert_eq!(probe["state"], "failed", "{probe}");
    let (status, refused) = server.post("/echoes", r#"{"tls": true, "engine": "events"}"#);
    assert_eq!(status, 422, "{refused}");
    let mut both = transfer(&plain, None, "both");
    let (status, refused) = server.post("/probes", &both.to_string());
    assert_eq!(status, 422, "{refused}");
    both["kind"] = json!("tcp");
    both.as_object_mut().unwrap().remove("transfer");
    let (status, refused) = server.post("/probes", &both.to_string());
    assert_eq!(status, 422, "{refused}");
}
