//! Echo servers over HTTP and from the command line, and what probes report of their faults.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::common::{Root, Server, patient_ms, pid, signal, timely, undisturbed};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn echo(server: &Server, request: Value) -> Value {
    let (status, answer) = server.post("/echoes", &request.to_string());
    assert_eq!(status, 201, "{answer}");
    answer
}

fn state(server: &Server, echo: &Value) -> Value {
    let id = echo["id"].as_str().unwrap();
    server.get(&format!("/echoes/{id}")).1
}

/// Measures over an echo server with these faults; the target is filled in.
fn measure(server: &Server, faults: Value, mut spec: Value) -> (Value, Value) {
    let echo = echo(server, json!({"faults": faults}));
    spec["target"] = match spec["kind"] == "udp" {
        true => echo["udp"].clone(),
        false => echo["tcp"].clone(),
    };
    let probe = server.measure(&spec);
    let id = echo["id"].as_str().unwrap();
    let (status, counted) = server.delete(&format!("/echoes/{id}"));
    assert_eq!(status, 200);
    (probe, counted)
}

fn ms(value: &Value) -> f64 {
    value.as_f64().unwrap() / 1e6
}

#[test]
fn echo_servers_start_count_and_end() {
    let root = Root::new();
    let server = root.serve();
    let first = echo(&server, json!({}));
    let address = first["tcp"].as_str().unwrap();
    assert!(first["udp"].as_str().unwrap().starts_with("127.0.0.1:"));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"request").unwrap();
    stream.read_exact(&mut [0; 7]).unwrap();
    let counted = state(&server, &first);
    assert_eq!(counted["tcp_connections"], 1);
    assert_eq!(counted["tcp_bytes"], 7);
    for _ in 1..16 {
        echo(&server, json!({"host": "::1", "engine": "events"}));
    }
    assert_eq!(server.post("/echoes", "{}").0, 409);
    let id = first["id"].as_str().unwrap();
    assert_eq!(server.delete(&format!("/echoes/{id}")).1["tcp_bytes"], 7);
    assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0);
    assert_eq!(server.get(&format!("/echoes/{id}")).0, 404);
    assert_eq!(server.delete(&format!("/echoes/{id}")).0, 404);
    for (body, status) in [
        ("[", 400),
        (r#"{"hosts": "127.0.0.1"}"#, 400),
        (r#"{"host": "192.0.2.1"}"#, 422),
        (r#"{"cpus": [99999]}"#, 422),
        (r#"{"faults": {"loss": 1.1}}"#, 422),
    ] {
        let (got, answer) = server.post("/echoes", body);
        assert_eq!(got, status, "{body}: {answer}");
        assert!(!answer["mend"].as_str().unwrap().is_empty());
    }
}

#[test]
fn the_command_line_echoes_until_it_is_interrupted() {
    let root = Root::new();
    let mut child = root
        .sidecar(&["echo", "--delay-ms", "1", "--host", "::1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let mut stream = TcpStream::connect(first["tcp"].as_str().unwrap()).unwrap();
    stream.write_all(b"request").unwrap();
    stream.read_exact(&mut [0; 7]).unwrap();
    signal(pid(&child), Signal::SIGINT);
    let last: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(
        (&last["tcp_bytes"], &last["delayed"]),
        (&json!(7), &json!(1))
    );
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_probe_without_a_target_brings_its_own() {
    let root = Root::new();
    for kind in [
        "tcp",
        "udp",
        "handshake",
        "throughput",
        "concurrency",
        "fetch",
    ] {
        let mut command = root.sidecar(&["probe", kind, "--direct", "--count", "100", "--json"]);
        if kind == "concurrency" {
            command.args(["--connections", "100", "--rate", "1000"]);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let probe: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = if kind == "throughput" { 1 } else { 100 };
        assert_eq!(probe["outcome"]["succeeded"], expected, "{kind}");
    }
}

#[test]
fn delay_and_jitter_come_back_as_they_are() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        for spec in [
            json!({"kind": "tcp", "count": 10}),
            json!({"kind": "tcp", "count": 200, "connections": 20}),
            json!({"kind": "udp", "count": 40, "window": 4, "timeout_ms": 2000}),
            json!({"kind": "tcp", "count": 50, "connections": 12, "loop": {"open": {"rate_per_s": 30}}}),
        ] {
            let (probe, _) = measure(&server, json!({"delay_ms": 100}), spec.clone());
            let series = &probe["outcome"]["series"][0];
            assert_eq!(series["name"], "round_trip");
            assert_eq!(probe["outcome"]["succeeded"], spec["count"], "{probe}");
            let (min, p50) = (ms(&series["min_ns"]), ms(&series["p50_ns"]));
            assert!(min >= 100.0, "{spec}: {min} ms");
            timely(p50 < 110.0, format!("{spec}: {p50} ms"));
            let faults = json!({"delay_ms": 100, "jitter_ms": 200});
            let (probe, _) = measure(&server, faults, spec.clone());
            let series = &probe["outcome"]["series"][0];
            let (min, p50, max) = (
                ms(&series["min_ns"]),
                ms(&series["p50_ns"]),
                ms(&series["max_ns"]),
            );
            assert!(min >= 100.0 && p50 > 130.0, "{spec}: {min} {p50}");
            let what = format!("{spec}: {p50} and {max} ms");
            timely(max < 400.0 && p50 < 300.0, what);
        }
    });
}

#[test]
fn loss_duplication_and_reordering_come_back_exactly() {
    let root = Root::new();
    let server = root.serve();
    let spec = json!({"kind": "udp", "count": 1000, "window": 16, "payload_bytes": 512});
    for (share, count) in [(0.01, 10), (0.1, 100)] {
        let (probe, counted) = measure(&server, json!({"loss": share}), spec.clone());
        let outcome = &probe["outcome"];
        assert_eq!(outcome["errors"], json!({"lost": count}), "{probe}");
        assert_eq!(
            (outcome["attempted"].as_u64(), outcome["succeeded"].as_u64()),
            (Some(1000), Some(1000 - count))
        );
        assert_eq!(counted["dropped"], count);
        let (probe, counted) = measure(&server, json!({"duplicate": share}), spec.clone());
        assert_eq!(probe["outcome"]["succeeded"], 1000);
        assert_eq!(counted["duplicated"], count);
        // The second answer to the very last datagram may come after the end.
        let seen = probe["outcome"]["anomalies"]["duplicated"]
            .as_u64()
            .unwrap();
        assert!(seen == count || seen + 1 == count, "{seen} of {count}");
    }
    let (probe, counted) = measure(&server, json!({"reorder": 0.02}), spec.clone());
    assert_eq!(probe["outcome"]["succeeded"], 1000, "{probe}");
    assert_eq!(counted["reordered"], 20);
    let seen = &probe["outcome"]["anomalies"]["out_of_order"];
    assert!((18..=20).contains(&seen.as_u64().unwrap()), "{seen}");
}

#[test]
fn a_stall_counts_for_all_that_it_held_up() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let faults = json!({"stall": {"after": 100, "ms": 500}});
        let slow = |probe: &Value| {
            let id = probe["id"].as_str().unwrap();
            let (_, series) = server.get(&format!("/probes/{id}/series/round_trip"));
            let values = series["values"].as_array().unwrap();
            values.iter().filter(|value| ms(value) > 150.0).count()
        };
        for connections in [1, 8] {
            let open = json!({"kind": "tcp", "count": 400, "connections": connections, "loop": {"open": {"rate_per_s": 200}}});
            let (probe, _) = measure(&server, faults.clone(), open);
            let series = &probe["outcome"]["series"][0];
            let (p99, max) = (ms(&series["p99_ns"]), ms(&series["max_ns"]));
            assert!(p99 > 400.0 && max >= 490.0, "{probe}");
            // 350 ms at 200 a second.
            let held = slow(&probe);
            assert!(held >= 60, "{held}");
            timely(held <= 200, format!("{held} were held up"));
            let closed = json!({"kind": "tcp", "count": 400, "connections": connections});
            let (probe, _) = measure(&server, faults.clone(), closed);
            assert!(ms(&probe["outcome"]["series"][0]["max_ns"]) >= 490.0);
            // One per connection, and a margin for stalls of the machine.
            assert!(slow(&probe) >= 1, "{probe}");
            timely(slow(&probe) <= connections + 4, probe.to_string());
        }
    });
}

#[test]
fn what_a_connection_dies_of_has_a_name() {
    let root = Root::new();
    let server = root.serve();
    for (faults, name) in [
        (json!({"tcp": {"reset_after": 5}}), "connection_reset"),
        (json!({"tcp": {"close_after": 5}}), "closed"),
        (json!({"tcp": {"silent": true}}), "timeout"),
        (json!({"corrupt": 1}), "corrupted"),
    ] {
        for connections in [1, 4] {
            let spec = json!({"kind": "tcp", "count": 60, "connections": connections, "timeout_ms": patient_ms(100)});
            let (probe, _) = measure(&server, faults.clone(), spec);
            let outcome = &probe["outcome"];
            let errors = outcome["errors"].as_object().unwrap();
            assert_eq!(errors.keys().collect::<Vec<_>>(), [name], "{probe}");
            let failed = errors[name].as_u64().unwrap();
            let succeeded = outcome["succeeded"].as_u64().unwrap();
            assert_eq!(outcome["attempted"], failed + succeeded);
            if name == "timeout" || name == "corrupted" {
                assert_eq!(outcome["stopped"], "failures");
            } else {
                // Each connection ends after five; the last ones may not get that far.
                assert!((10 - connections..=10).contains(&failed), "{probe}");
            }
        }
    }
    let spec = json!({"kind": "udp", "count": 20, "payload_bytes": 64});
    for (faults, name) in [
        (json!({"truncate": 20}), "truncated"),
        (json!({"corrupt": 1}), "corrupted"),
    ] {
        let (probe, _) = measure(&server, faults, spec.clone());
        assert_eq!(probe["outcome"]["errors"], json!({name: 20}), "{probe}");
    }
}
