//! Operations that are under way, or due, at the end of a probe's time: all of them are counted.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::network::{
    any_address, echo, proxy, reply, silent, tcp_echo, tcp_server, write,
};
use crate::common::{Root, Server};
use serde_json::{Value, json};

/// Answers before the far end falls silent.
const ANSWERED: u64 = 20;
/// The open loops plan ten seconds, and the limit ends them after one.
const PLANNED_S: f64 = 10.0;

/// A far end that gives [`ANSWERED`] answers, and then falls silent while a probe waits.
fn falls_silent(server: &Server, udp: bool) -> Value {
    let request = json!({"faults": {"stall": {"after": ANSWERED, "ms": 60_000}}});
    let (status, answer) = server.post("/echoes", &request.to_string());
    assert_eq!(status, 201, "{answer}");
    answer[if udp { "udp" } else { "tcp" }].clone()
}

fn count(outcome: &Value, kind: &str) -> u64 {
    outcome["errors"][kind].as_u64().unwrap_or(0)
}

#[test]
fn an_open_loop_counts_all_that_was_due_at_its_limit_and_its_time_is_the_planned_one() {
    let root = Root::new();
    let server = root.serve();
    let patience = json!({"timeout_ms": 2_000, "handshake_timeout_ms": 2_000, "stall_ms": 60_000});
    for (kind, connections, under_way, ends_as) in [
        ("tcp", 1, 1, "timeout"),
        ("tcp", 4, 4, "timeout"),
        ("concurrency", 4, 4, "timeout"),
        ("handshake", 1, 1, "timeout"),
        ("udp", 1, 1, "lost"),
    ] {
        let mut spec = json!({"kind": kind, "connections": connections, "count": 1_000, "limit_s": 1,
            "loop": {"open": {"rate_per_s": 100}}, "target": falls_silent(&server, kind == "udp")});
        spec.as_object_mut()
            .unwrap()
            .extend(patience.as_object().unwrap().clone());
        if kind == "handshake" {
            spec["first_reply"] = json!(true);
        }
        let probe = server.measure(&spec);
        let outcome = &probe["outcome"];
        let what = format!("{kind} over {connections}: {probe}");
        assert_eq!(outcome["stopped"], "limit", "{what}");
        assert_eq!(outcome["succeeded"], ANSWERED, "{what}");
        assert_eq!(count(outcome, ends_as), under_way, "{what}");
        let cut = count(outcome, "cut");
        // A hundred were due after a second. The probe may have begun late.
        assert!(
            (1..=101 - ANSWERED - under_way).contains(&cut),
            "{cut}: {what}"
        );
        assert_eq!(outcome["attempted"], ANSWERED + under_way + cut, "{what}");
        assert!(
            outcome["duration_s"].as_f64().unwrap() >= PLANNED_S,
            "{what}"
        );
    }
}

#[test]
fn what_is_under_way_at_the_limit_has_its_own_time() {
    let root = Root::new();
    let server = root.serve();
    let slow = tcp_echo(Duration::from_millis(600)).to_string();
    let mute = tcp_server(silent).to_string();
    for (kind, connections) in [("tcp", 1), ("tcp", 3)] {
        let spec = json!({"kind": kind, "connections": connections, "count": 100, "limit_s": 0.3});
        let with = |target: &str, timeout_ms: u64| {
            let mut spec = spec.clone();
            spec["target"] = json!(target);
            spec["timeout_ms"] = json!(timeout_ms);
            server.measure(&spec)["outcome"].clone()
        };
        let answered = with(&slow, 5_000);
        assert_eq!(answered["stopped"], "limit", "{answered}");
        assert_eq!(answered["succeeded"], connections, "{answered}");
        assert_eq!(answered["errors"], json!({}), "{answered}");
        let unanswered = with(&mute, 600);
        assert_eq!(
            unanswered["errors"],
            json!({"timeout": connections}),
            "{unanswered}"
        );
    }
    let fetch =
        json!({"kind": "fetch", "target": mute, "count": 9, "limit_s": 0.3, "timeout_ms": 600});
    let probe = server.measure(&fetch);
    assert_eq!(probe["error"]["kind"], "timeout", "{probe}");
}

#[test]
fn a_udp_probe_that_has_sent_all_is_whole() {
    let root = Root::new();
    let server = root.serve();
    let echo =
        crate::common::network::udp_server(Ipv4Addr::LOCALHOST.into(), |socket, _, bytes, peer| {
            std::thread::sleep(Duration::from_millis(600));
            let _ = socket.send_to(bytes, peer);
        });
    for (count, stopped) in [(1, json!(null)), (5, json!("limit"))] {
        let outcome = server.measure(
            &json!({"kind": "udp", "target": echo.to_string(), "count": count,
            "timeout_ms": 5_000, "limit_s": 0.3}),
        )["outcome"]
            .clone();
        assert_eq!(outcome["stopped"], stopped, "{outcome}");
        assert_eq!(
            (&outcome["succeeded"], &outcome["attempted"]),
            (&json!(1), &json!(1)),
            "{outcome}"
        );
    }
}

#[test]
fn a_transfer_that_the_limit_meets_is_cut() {
    let root = Root::new();
    let server = root.serve();
    let mute = tcp_server(silent).to_string();
    for (direction, transfers) in [("up", 2), ("down", 2), ("both", 4)] {
        let probe = server.measure(
            &json!({"kind": "throughput", "target": mute, "connections": 2,
            "limit_s": 0.3, "transfer": {"bytes": 1 << 20, "direction": direction}}),
        );
        let outcome = &probe["outcome"];
        assert_eq!(outcome["stopped"], "limit", "{probe}");
        assert_eq!(outcome["errors"], json!({"cut": transfers}), "{probe}");
        assert_eq!(outcome["attempted"], transfers, "{probe}");
    }
}

#[test]
fn a_tunnel_that_is_not_open_at_the_limit_is_cut() {
    let root = Root::new();
    let server = root.serve();
    let opened = AtomicUsize::new(0);
    let half = proxy(move |mut stream, _, _| {
        if opened.fetch_add(1, Ordering::SeqCst) < 4 {
            write(&mut stream, &reply(0, any_address()));
            echo(stream, Duration::ZERO);
        } else {
            silent(stream);
        }
    });
    let probe = server.measure(
        &json!({"kind": "concurrency", "target": "127.0.0.1:9", "connections": 10,
        "count": 10, "limit_s": 0.5, "proxy": {"address": half.to_string()}}),
    );
    assert_eq!(probe["outcome"]["stopped"], "limit", "{probe}");
    assert_eq!(probe["outcome"]["errors"], json!({"cut": 6}), "{probe}");
}
