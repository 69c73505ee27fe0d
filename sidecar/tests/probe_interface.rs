//! The probes' HTTP interface: what it refuses, follows, pages and ends.

use std::time::{Duration, Instant};

use crate::common::network::*;
use crate::common::{Root, timely, undisturbed};
use serde_json::{Value, json};

#[test]
fn without_the_token_nothing_but_health_is_answered() {
    let root = Root::new();
    let server = root.serve();
    assert_eq!(server.get_as(None, "/health").0, 200);
    let right = format!("Bearer {}", server.token);
    for authorization in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("Bearer wrong"),
        Some("Basic wrong"),
        Some(server.token.as_str()),
        Some(&right[..right.len() - 1]),
    ] {
        for path in ["/host", "/probes", "/testbeds", "/nothing"] {
            let (status, answer) = server.get_as(authorization, path);
            assert_eq!(status, 401, "{authorization:?}: {answer}");
            assert!(answer["mend"].as_str().unwrap().contains("Bearer"));
        }
    }
    assert_eq!(server.get_as(Some(&right), "/probes"), (200, json!([])));
}

#[test]
fn requests_that_are_wrong_are_refused_by_name() {
    let root = Root::new();
    let server = root.serve();
    let good = json!({"kind": "tcp", "target": "127.0.0.1:9"});
    let with = |field: &str, value: Value| {
        let mut spec = good.clone();
        spec[field] = value;
        spec.to_string()
    };
    for (status, body, part) in [
        (400, "{".to_owned(), "request"),
        (400, "[]".to_owned(), "request"),
        (400, String::new(), "kind"),
        (400, with("kind", json!("icmp")), "icmp"),
        (400, with("colour", json!("blue")), "colour"),
        (400, with("count", json!("many")), "count"),
        (400, with("count", json!(-1)), "-1"),
        (400, with("loop", json!({"open": {"rate": 1}})), "rate"),
        (
            400,
            with("proxy", json!({"address": "127.0.0.1:1", "port": 1})),
            "port",
        ),
        (422, with("count", json!(0)), "count"),
        (
            422,
            with("payload_bytes", json!(2_000_000)),
            "payload_bytes",
        ),
        (422, with("cpus", json!([4_000])), "4000"),
        (422, with("target", json!("192.0.2.1:80")), "192.0.2.1"),
        (422, with("target", json!("example.org:80")), "example.org"),
        (
            422,
            with("proxy", json!({"address": "192.0.2.1:80"})),
            "proxy.address",
        ),
        (404, with("instance", json!("i99")), "i99"),
        (
            413,
            format!("{{\"kind\": \"{}\"}}", "x".repeat(17 << 20)),
            "16 MiB for a probe",
        ),
    ] {
        let (given, answer) = server.post("/probes", &body);
        assert_eq!(given, status, "{answer}");
        assert!(
            answer["error"].as_str().unwrap().contains(part),
            "{part}: {answer}"
        );
        assert!(!answer["mend"].as_str().unwrap().is_empty());
    }
    for path in ["/probes/p1", "/probes/x", "/probes/p1/series/round_trip"] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
    assert_eq!(server.delete("/probes/p1").0, 404);
}

#[test]
fn a_probe_is_followed_and_its_samples_are_paged() {
    let root = Root::new();
    let server = root.serve();
    let echo = tcp_echo(Duration::ZERO).to_string();
    let id = server
        .probe(&json!({"kind": "tcp", "target": echo, "count": 500, "warmup": 10, "keep": 300}));
    let probe = server.follow(&id);
    assert_eq!(
        (&probe["state"], &probe["done"], &probe["planned"]),
        (&json!("done"), &json!(500), &json!(500))
    );
    let summary = &probe["outcome"]["series"][0];
    assert_eq!(
        (&summary["count"], &summary["kept"]),
        (&json!(500), &json!(300))
    );
    let page = |query: &str| server.get(&format!("/probes/{id}/series/round_trip{query}"));
    let (_, all) = page("");
    assert_eq!(
        (&all["total"], &all["unit"], &all["from"]),
        (&json!(300), &json!("ns"), &json!(0))
    );
    let all = all["values"].as_array().unwrap().clone();
    assert_eq!(all.len(), 300);
    let mut paged = Vec::new();
    for from in [0, 128, 256] {
        let (status, chunk) = page(&format!("?from={from}&limit=128"));
        assert_eq!(status, 200);
        paged.extend(chunk["values"].as_array().unwrap().clone());
    }
    assert_eq!(paged, all);
    assert_eq!(page("?from=1000").1["values"], json!([]));
    assert_eq!(page("?limit=200001").0, 422);
    assert_eq!(page("?limit=0").0, 422);
    assert_eq!(page("?from=-1").0, 400);
    assert_eq!(server.get(&format!("/probes/{id}/series/nothing")).0, 404);
    assert_eq!(server.get(&format!("/probes/{id}?wait_s=21")).0, 422);
    assert_eq!(server.get(&format!("/probes/{id}?wait_s=x")).0, 400);
    let (_, list) = server.get("/probes");
    assert_eq!(list[0]["id"], json!(id));
    assert!(list[0].get("outcome").is_none());
    assert_eq!(
        server.delete(&format!("/probes/{id}")),
        (200, json!({"state": "done"}))
    );
    assert_eq!(server.get(&format!("/probes/{id}")).0, 404);
}

#[test]
fn twelve_run_at_once_and_each_can_be_cancelled() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let mute = tcp_server(silent).to_string();
        let mute_udp = udp_server([127, 0, 0, 1].into(), |_, _, _, _| {}).to_string();
        let mute_proxy = json!({"address": mute});
        let long = |kind: &str, target: &str| json!({"kind": kind, "target": target, "timeout_ms": 60_000, "stall_ms": 60_000, "handshake_timeout_ms": 60_000});
        let mut in_handshake = long("handshake", "127.0.0.1:9");
        in_handshake["proxy"] = mute_proxy.clone();
        let mut in_pause = long("tcp", &tcp_echo(Duration::ZERO).to_string());
        in_pause["loop"] = json!({"open": {"rate_per_s": 0.02}});
        let ids: Vec<String> = [
            long("tcp", &mute),
            long("udp", &mute_udp),
            in_handshake,
            in_pause,
        ]
        .iter()
        .cycle()
        .take(12)
        .map(|spec| server.probe(spec))
        .collect();
        let (status, answer) = server.post("/probes", &long("tcp", &mute).to_string());
        assert_eq!(status, 409, "{answer}");
        std::thread::sleep(Duration::from_millis(300));
        for id in ids {
            let (_, probe) = server.get(&format!("/probes/{id}"));
            assert_eq!(probe["state"], "running");
            assert!(probe.get("outcome").is_none() || probe["outcome"].is_null());
            let began = Instant::now();
            assert_eq!(
                server.delete(&format!("/probes/{id}")),
                (200, json!({"state": "cancelled"}))
            );
            // Wide: 200 ms is what it takes on a machine that is not crowded.
            let took = began.elapsed();
            timely(took < Duration::from_secs(3), format!("{took:?}"));
        }
        let (_, list) = server.get("/probes");
        assert_eq!(list, json!([]));
    });
}

#[test]
fn the_limit_ends_a_probe_and_keeps_what_was_measured() {
    let root = Root::new();
    let server = root.serve();
    let echo = tcp_echo(Duration::from_millis(20)).to_string();
    let probe =
        server.measure(&json!({"kind": "tcp", "target": echo, "count": 100_000, "limit_s": 1}));
    assert_eq!(probe["state"], "done");
    let outcome = &probe["outcome"];
    assert_eq!(outcome["stopped"], "limit");
    assert_eq!(outcome["attempted"], outcome["succeeded"]);
    assert!(outcome["succeeded"].as_u64().unwrap() > 0);
}

#[test]
fn only_the_last_probes_are_kept() {
    let root = Root::new();
    let server = root.serve();
    let spec = json!({"kind": "tcp", "target": nobody().to_string()});
    let ids: Vec<String> = (0..40)
        .map(|_| {
            let id = server.probe(&spec);
            server.follow(&id);
            id
        })
        .collect();
    let (_, list) = server.get("/probes");
    assert!(list.as_array().unwrap().len() <= 33, "{list}");
    assert_eq!(server.get(&format!("/probes/{}", ids[0])).0, 404);
    assert_eq!(server.get(&format!("/probes/{}", ids[39])).0, 200);
}

#[test]
fn an_instance_is_measured_over_the_measured_part_only() {
    undisturbed(|| {
        let root = Root::new();
        root.python("busy", "while True: pass", "");
        let server = root.serve();
        let started = server.start("busy", "{}");
        let echo = tcp_echo(Duration::from_millis(50)).to_string();
        // As long a warm-up as a measured part.
        let probe = server.measure(&json!({"kind": "tcp", "target": echo, "count": 20, "warmup": 20, "instance": started["id"]}));
        let (outcome, usage) = (&probe["outcome"], &probe["outcome"]["usage"]);
        assert_eq!(usage["closed"], true, "{probe}");
        let (measured, window) = (
            outcome["duration_s"].as_f64().unwrap(),
            usage["duration_s"].as_f64().unwrap(),
        );
        let what = format!("{window} is not {measured}");
        assert!(window >= measured, "{what}");
        timely(window < measured * 1.5, what);
        assert!(usage["total"]["cpu_s"].as_f64().unwrap() > 0.0);
        assert!(outcome["probe_cpu_s"].as_f64().unwrap() < measured);
    });
}

#[test]
fn a_paused_window_adds_up_what_probes_measure_and_nothing_between() {
    undisturbed(|| {
        let root = Root::new();
        root.python("busy", "while True: pass", "");
        let server = root.serve();
        let started = server.start("busy", "{}");
        let echo = tcp_echo(Duration::from_millis(50)).to_string();
        let open = json!({"instance": started["id"], "paused": true, "sidecar": true});
        let (status, window) = server.post("/windows", &open.to_string());
        assert_eq!(status, 201, "{window}");
        let path = format!("/windows/{}", window["id"].as_str().unwrap());
        let mut measured = 0.0;
        for _ in 0..2 {
            std::thread::sleep(Duration::from_secs(1));
            let paused = server.get(&path).1["duration_s"].as_f64().unwrap();
            let what = format!("{paused} is not {measured}");
            timely((paused - measured).abs() < 0.4, what);
            let probe = server.measure(
                &json!({"kind": "tcp", "target": echo, "count": 20, "usage_window": window["id"]}),
            );
            measured += probe["outcome"]["duration_s"].as_f64().unwrap();
        }
        let (_, usage) = server.post(&format!("{path}/close"), "");
        let duration = usage["duration_s"].as_f64().unwrap();
        let what = format!("{duration} is not {measured}: {usage}");
        assert!(duration >= measured, "{what}");
        timely(duration < measured * 1.3, what);
        let processes = usage["processes"].as_array().unwrap();
        let of = |name: &str| processes.iter().find(|one| one["name"] == name).unwrap();
        let cpu = of("sidecar")["cpu_s"].as_f64().unwrap();
        assert!(
            cpu < duration,
            "the child's time is not the sidecar's: {cpu}"
        );
        let busy = usage["total"]["cpu_s"].as_f64().unwrap();
        timely(busy > duration * 0.2, format!("{busy} of {duration}"));
        assert!(busy < duration * 1.1, "{busy}");
        let late = json!({"kind": "tcp", "target": echo, "usage_window": window["id"]});
        let (status, answer) = server.post("/probes", &late.to_string());
        assert_eq!(status, 422, "a closed window measures nothing: {answer}");
    });
}

#[test]
fn the_whole_has_what_is_between_probes_and_no_part_that_was_dropped() {
    undisturbed(|| {
        let root = Root::new();
        root.python("busy", "while True: pass", "");
        let server = root.serve();
        let started = server.start("busy", "{}");
        let echo = tcp_echo(Duration::from_millis(20)).to_string();
        let open = json!({"instance": started["id"], "paused": true});
        let path_of = || {
            let (_, window) = server.post("/windows", &open.to_string());
            format!("/windows/{}", window["id"].as_str().unwrap())
        };
        let quiet = |path: &str| {
            server.post(&format!("{path}/close"), "");
            server.post(&format!("{path}/quiet"), r#"{"seconds": 0.5}"#)
        };
        let (status, usage) = quiet(&path_of());
        assert_eq!((status, usage.get("whole")), (200, None), "nothing ran");
        let path = path_of();
        let part = format!("{path}/part");
        let begin = |name: &str| server.post(&part, &json!({"name": name}).to_string());
        let measure = || {
            let window = path.strip_prefix("/windows/").unwrap();
            let spec = json!({"kind": "tcp", "target": echo, "count": 10, "warmup": 0, "usage_window": window});
            server.measure(&spec);
        };
        let from = std::time::Instant::now();
        begin("one");
        measure();
        std::thread::sleep(Duration::from_secs(1));
        begin("two");
        measure();
        let dropped = std::time::Instant::now();
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(server.delete(&part).0, 200);
        std::thread::sleep(Duration::from_secs(1));
        let left_out = dropped.elapsed().as_secs_f64();
        begin("two");
        measure();
        let (_, usage) = quiet(&path);
        let all = from.elapsed().as_secs_f64();
        let of = |field: &str| usage["whole"][field].as_f64().unwrap();
        let measured = usage["duration_s"].as_f64().unwrap();
        assert!(of("window_s") >= measured + 1.0 + 0.5, "{usage}");
        assert!(of("window_s") <= all - left_out, "{usage}, of {all}");
        let between =
            of("system_s") - of("quiet_system_s") - usage["total"]["cpu_s"].as_f64().unwrap();
        let what = format!("it burned for a second between: {usage}");
        timely(between > 0.1, what);
        timely(of("quiet_system_s") > 0.05, usage.to_string());
        assert!(
            of("system_s") <= of("window_s") * 1.1,
            "one thread: {usage}"
        );
    });
}

#[test]
fn a_part_of_a_window_is_told_and_dropped_and_a_control_is_watched() {
    let root = Root::new();
    root.python("idle", "time.sleep(600)", "");
    let server = root.serve();
    let started = server.start("idle", "{}");
    let echo = tcp_echo(Duration::from_millis(20)).to_string();
    let open = json!({"instance": started["id"], "paused": true, "by_cpu": true});
    let (_, window) = server.post("/windows", &open.to_string());
    let path = format!("/windows/{}", window["id"].as_str().unwrap());
    let part = format!("{path}/part");
    let (status, answer) = server.delete(&part);
    assert_eq!(status, 409, "no part was begun: {answer}");
    let measure = |field: &str| {
        let spec =
            json!({"kind": "tcp", "target": echo, "count": 10, "warmup": 0, field: window["id"]});
        server.measure(&spec)["outcome"]["duration_s"]
            .as_f64()
            .unwrap()
    };
    let span = |usage: &serde_json::Value| usage["by_cpu"][0]["span_s"].as_f64().unwrap();
    let (status, answer) = server.post(&part, r#"{"name": "tcp, round 1"}"#);
    assert_eq!(status, 201, "{answer}");
    let kept = measure("usage_window");
    let controlled = measure("watched_by");
    let (_, first) = server.get(&path);
    assert!(first["duration_s"].as_f64().unwrap() >= kept);
    assert!(span(&first["host"]) >= kept + controlled);
    assert_eq!(first["repeated"], json!([]));
    server.post(&part, r#"{"name": "tcp, round 2"}"#);
    let dropped = measure("usage_window");
    let (_, told) = server.get(&part);
    assert!(
        told["duration_s"].as_f64().unwrap() >= dropped && span(&told) >= dropped,
        "{told}"
    );
    let (status, gone) = server.delete(&part);
    assert_eq!((status, &gone["dropped"]), (200, &json!(true)));
    let (_, after) = server.get(&path);
    assert_eq!(after["duration_s"], first["duration_s"]);
    assert_eq!(after["host"], first["host"]);
    assert_eq!(after["repeated"], json!([gone]));
    let (status, answer) = server.post(&part, &json!({"name": "x".repeat(201)}).to_string());
    assert_eq!(status, 422, "{answer}");
    server.post(&format!("{path}/close"), "");
    let (status, answer) = server.post(&part, r#"{"name": "late"}"#);
    assert_eq!(status, 409, "{answer}");
}
