//! Fetches: the bytes that arrive, their time if it is known, and faults on the way.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::common::network::*;
use crate::common::{Root, Server, patient, patient_ms, timely, undisturbed};
use serde_json::{Value, json};

const DELAY: Duration = Duration::from_millis(120);

fn start_echo(server: &Server, request: Value) -> Value {
    let (status, answer) = server.post("/echoes", &request.to_string());
    assert_eq!(status, 201, "{answer}");
    answer
}

/// Ends the echo server, and returns its counts.
fn end_echo(server: &Server, echo: &Value) -> Value {
    let (status, counted) = server.delete(&format!("/echoes/{}", echo["id"].as_str().unwrap()));
    assert_eq!(status, 200, "{counted}");
    counted
}

/// An echo server that passes 1 MB/s. On each connection it sends 10,000 bytes at once, ahead of their time. It may make up for 5 ms
/// without work.
fn slow_echo(server: &Server) -> Value {
    let faults = json!({"rate_bytes_per_s": 1_000_000});
    start_echo(server, json!({"engine": "events", "faults": faults}))
}

fn outcome(server: &Server, spec: &Value) -> Value {
    let probe = server.measure(spec);
    assert_eq!(probe["state"], "done", "{probe}");
    probe["outcome"].clone()
}

fn names(outcome: &Value) -> Vec<&str> {
    let series = outcome["series"].as_array().unwrap();
    series
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect()
}

fn series<'a>(outcome: &'a Value, name: &str) -> &'a Value {
    let at = names(outcome).iter().position(|one| *one == name);
    &outcome["series"][at.unwrap_or_else(|| panic!("no {name}: {outcome}"))]
}

fn ms(value: &Value) -> f64 {
    value.as_f64().unwrap() / 1e6
}

#[test]
fn objects_arrive_whole_over_as_many_tunnels_as_were_asked_for() {
    let root = Root::new();
    let server = root.serve();
    let (bytes, objects, tunnels, count, connections) = (70_001, 7, 3, 6, 2);
    for engine in ["events", "blocking"] {
        for fresh in [false, true] {
            for (proxy, wait) in [
                (None, "block"),
                (None, "yield"),
                (Some(relay(Duration::ZERO, None)), "block"),
            ] {
                let echo = start_echo(&server, json!({"engine": engine}));
                let mut spec = json!({"kind": "fetch", "target": echo["tcp"], "count": count, "connections": connections,
                    "wait": wait, "fetch": {"bytes": bytes, "objects": objects, "tunnels": tunnels, "fresh": fresh}});
                if let Some(proxy) = proxy {
                    spec["proxy"] = json!({"address": proxy.to_string()});
                }
                let fetched = outcome(&server, &spec);
                assert_eq!(fetched["succeeded"], count, "{spec}: {fetched}");
                assert_eq!(fetched["errors"], json!({}));
                assert_eq!(fetched["bytes"], count * objects * bytes);
                assert_eq!(names(&fetched), ["total", "first_object"]);
                assert_eq!(series(&fetched, "first_object")["count"], count);
                let counted = end_echo(&server, &echo);
                assert_eq!(counted["tcp_bytes"], count * objects * bytes, "{spec}");
                let each = if fresh { count } else { connections };
                assert_eq!(counted["tcp_connections"], each * tunnels, "{spec}");
            }
        }
    }
}

#[test]
fn a_slow_far_end_comes_back_as_the_truth() {
    let root = Root::new();
    let server = root.serve();
    let echo = slow_echo(&server);
    let spec = json!({"kind": "fetch", "target": echo["tcp"], "count": 5,
        "fetch": {"bytes": 20_000, "objects": 16, "tunnels": 6, "fresh": true}});
    let fetched = outcome(&server, &spec);
    assert_eq!(fetched["succeeded"], 5, "{fetched}");
    // One object takes 20 ms: 10 ms are sent ahead, and 5 ms are made up for. The others take 300 ms: 60 ms ahead, and 5 ms made up for.
    let (total, first) = (series(&fetched, "total"), series(&fetched, "first_object"));
    for least in ["min_ns", "max_ns"] {
        assert!(ms(&first[least]) >= 4.9, "{fetched}");
        assert!(ms(&total[least]) - ms(&first[least]) >= 234.0, "{fetched}");
    }
    assert!(fetched["duration_s"].as_f64().unwrap() >= 5.0 * 0.254);
}

#[test]
fn an_open_loop_counts_from_the_intended_start() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let echo = slow_echo(&server);
        // Each takes 100 ms, and a request is due every 50 ms.
        let spec = json!({"kind": "fetch", "target": echo["tcp"], "count": 10,
        "fetch": {"bytes": 100_000}, "loop": {"open": {"rate_per_s": 20}}});
        let id = server.probe(&spec);
        let fetched = &server.follow(&id)["outcome"];
        assert_eq!(fetched["succeeded"], 10, "{fetched}");
        assert_eq!(names(fetched), ["total", "lateness"]);
        let (_, values) = server.get(&format!("/probes/{id}/series/total"));
        for (before, value) in values["values"].as_array().unwrap().iter().enumerate() {
            let least = 84.0 + 50.0 * before as f64;
            assert!(ms(value) >= least, "{before}: {values}");
        }
        // The wait for the previous operation is no lateness; the last operation is due 435 ms before
        // its turn.
        let late = ms(&series(fetched, "lateness")["max_ns"]);
        timely(late < 400.0, fetched.to_string());
    });
}

#[test]
fn opening_is_part_of_what_opens_anew_and_of_nothing_else() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let echo = start_echo(&server, json!({"engine": "events"}));
        let slow = relay(DELAY, None).to_string();
        let fetch = |fresh| {
            outcome(
                &server,
                &json!({"kind": "fetch", "target": echo["tcp"], "count": 4, "proxy": {"address": slow},
                "fetch": {"bytes": 1_000, "objects": 8, "tunnels": 4, "fresh": fresh}}),
            )
        };
        let (fresh, kept) = (fetch(true), fetch(false));
        let delay = DELAY.as_secs_f64() * 1e3;
        // The first tunnel opens alone, and then the others at once.
        assert!(
            ms(&series(&fresh, "first_object")["min_ns"]) >= delay,
            "{fresh}"
        );
        assert!(
            ms(&series(&fresh, "total")["min_ns"]) >= 2.0 * delay,
            "{fresh}"
        );
        let least = ms(&series(&kept, "total")["min_ns"]);
        timely(least < delay, kept.to_string());
    });
}

#[test]
fn one_wrong_byte_is_found_and_the_next_operation_opens_another_tunnel() {
    let root = Root::new();
    let server = root.serve();
    let echo = start_echo(&server, json!({"engine": "events"}));
    // The byte is in the third object, outside a block's number. In this block, throughput checks the number alone.
    let wrong = relay(Duration::ZERO, Some(2 * 10_000 + 5 * 1_024 + 380));
    let spec = json!({"kind": "fetch", "target": echo["tcp"], "count": 9, "fetch": {"bytes": 10_000},
        "proxy": {"address": wrong.to_string()}});
    let fetched = outcome(&server, &spec);
    assert_eq!(fetched["errors"], json!({"corrupted": 3}), "{fetched}");
    assert_eq!(
        (&fetched["succeeded"], &fetched["bytes"]),
        (&json!(6), &json!(60_000))
    );
    assert_eq!(fetched["stopped"], json!(null));
    assert_eq!(end_echo(&server, &echo)["tcp_connections"], 3);
}

/// A far end that takes a request, answers a part of it, and then runs `then`.
fn begins(then: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    tcp_server(move |mut stream| {
        let header: [u8; 16] = read(&mut stream);
        assert_eq!(&header[1..7], b"wt-blk");
        // The number of the first block.
        write(&mut stream, &[0; 8]);
        then(stream);
    })
}

#[test]
fn what_a_fetch_dies_of_has_a_name_and_three_in_a_row_end_it() {
    let root = Root::new();
    let server = root.serve();
    let wrong = |mut stream: TcpStream| {
        write(&mut stream, &[0xAA; 992]);
        silent(stream);
    };
    for (far, kind) in [
        (begins(reset), "connection_reset"),
        (begins(drop), "closed"),
        (begins(silent), "timeout"),
        (begins(wrong), "corrupted"),
        (nobody(), "connection_refused"),
    ] {
        for fetch in [
            json!({"bytes": 1_000}),
            json!({"bytes": 1_000, "objects": 4, "tunnels": 2, "fresh": true}),
        ] {
            let began = Instant::now();
            let probe = server.measure(
                &json!({"kind": "fetch", "target": far.to_string(), "count": 1_000,
                    "connections": 2, "warmup": 500, "timeout_ms": patient_ms(200), "fetch": fetch}),
            );
            assert_eq!(probe["state"], "failed", "{kind}: {probe}");
            assert_eq!(probe["error"]["kind"], kind, "{probe}");
            assert!(
                began.elapsed() < patient(Duration::from_secs(20)),
                "{kind} took {:?}",
                began.elapsed()
            );
        }
    }
}

#[test]
fn one_that_is_under_way_can_be_cancelled() {
    let root = Root::new();
    let server = root.serve();
    let spec = json!({"kind": "fetch", "target": begins(silent).to_string(), "timeout_ms": 60_000});
    let id = server.probe(&spec);
    let began = Instant::now();
    assert_eq!(
        server.delete(&format!("/probes/{id}")).1["state"],
        "cancelled"
    );
    assert!(began.elapsed() < patient(Duration::from_secs(5)));
}

#[test]
fn the_command_line_fetches_too() {
    let root = Root::new();
    let arguments = "probe fetch --direct --count 5 --bytes 2000 --objects 3 --tunnels 2 --fresh";
    let output = root
        .sidecar(&arguments.split(' ').collect::<Vec<_>>())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("5 of 5 succeeded") && text.contains("first_object"),
        "{text}"
    );
    let refused = root
        .sidecar(&["probe", "fetch", "--direct", "--tunnels", "2"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    crate::common::one_line(&refused.stderr, &["fetch.tunnels"]);
}
