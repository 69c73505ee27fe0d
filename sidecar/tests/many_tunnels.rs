//! Many connections at once, and bulk transfers.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::network::{
    any_address, echo, echo_proxy, nobody, proxy, read, reply, tcp_server, write,
};
use crate::common::{Root, Server, patient_ms, timely, undisturbed};
use serde_json::{Value, json};

fn echo_server(server: &Server, request: Value) -> (String, Value) {
    let (status, answer) = server.post("/echoes", &request.to_string());
    assert_eq!(status, 201, "{answer}");
    (
        answer["id"].as_str().unwrap().to_owned(),
        answer["tcp"].clone(),
    )
}

fn via(address: SocketAddr) -> Value {
    json!({"address": address.to_string()})
}

/// A correct proxy for TCP.
fn relay_proxy() -> SocketAddr {
    proxy(|mut stream, _, address| {
        let mut target = TcpStream::connect(address).unwrap();
        write(&mut stream, &reply(0, any_address()));
        let (mut back, mut forth) = (target.try_clone().unwrap(), stream.try_clone().unwrap());
        thread::spawn(move || {
            let _ = std::io::copy(&mut back, &mut forth);
            let _ = forth.shutdown(std::net::Shutdown::Both);
        });
        let _ = std::io::copy(&mut stream, &mut target);
        let _ = target.shutdown(std::net::Shutdown::Both);
    })
}

fn series<'a>(probe: &'a Value, name: &str) -> &'a Value {
    let all = probe["outcome"]["series"].as_array().unwrap();
    all.iter().find(|series| series["name"] == name).unwrap()
}

#[test]
fn two_hundred_tunnels_open_and_answer() {
    let root = Root::new();
    let server = root.serve();
    let (_, target) = echo_server(&server, json!({"engine": "events"}));
    let direct = json!({"kind": "concurrency", "target": target, "connections": 200,
        "count": 1000, "warmup": 200, "payload_bytes": 3000});
    let mut proxied = direct.clone();
    proxied["proxy"] = via(relay_proxy());
    for spec in [direct, proxied] {
        let probe = server.measure(&spec);
        let outcome = &probe["outcome"];
        assert_eq!(
            (&probe["state"], &outcome["succeeded"]),
            (&json!("done"), &json!(1000)),
            "{probe}"
        );
        assert_eq!(outcome["bytes"], 3_000_000);
        let tunnels = &outcome["tunnels"];
        assert_eq!(
            (&tunnels["asked"], &tunnels["open"]),
            (&json!(200), &json!(200))
        );
        assert!(tunnels["open_all_s"].as_f64().unwrap() > 0.0);
        assert_eq!(series(&probe, "open")["count"], 200);
        assert_eq!(series(&probe, "round_trip")["count"], 1000);
    }
}

#[test]
fn large_answers_that_come_in_pieces_are_whole() {
    let root = Root::new();
    let server = root.serve();
    let (_, target) = echo_server(&server, json!({"engine": "events"}));
    let probe = server.measure(&json!({"kind": "tcp", "target": target, "connections": 8,
        "count": 40, "payload_bytes": 1 << 20, "proxy": via(relay_proxy())}));
    assert_eq!(probe["outcome"]["succeeded"], 40, "{probe}");
}

#[test]
fn an_open_loop_keeps_its_timetable_whatever_the_connections() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let (_, target) = echo_server(&server, json!({"engine": "events"}));
        let probe = server.measure(
            &json!({"kind": "concurrency", "target": target, "connections": 50,
        "count": 501, "loop": {"open": {"rate_per_s": 500}}}),
        );
        let took = probe["outcome"]["duration_s"].as_f64().unwrap();
        assert!(took >= 1.0, "{took}");
        timely(took < 1.3, format!("{took} s"));
        assert_eq!(series(&probe, "lateness")["count"], 501);
        let p50 = series(&probe, "lateness")["p50_ns"].as_u64().unwrap();
        timely(p50 < 5_000_000, format!("{p50} ns"));
        // A slow far end makes nothing later than it is: 4 connections, 100 ms each, 20 a second.
        let (_, target) = echo_server(&server, json!({"faults": {"delay_ms": 100}}));
        let probe = server.measure(&json!({"kind": "tcp", "target": target, "connections": 4,
        "count": 20, "loop": {"open": {"rate_per_s": 20}}}));
        let p50 = series(&probe, "round_trip")["p50_ns"].as_u64().unwrap();
        assert!(p50 >= 100_000_000, "{p50}");
        timely(p50 < 110_000_000, format!("{p50} ns"));
        // One that is too slow shows in the latency, and not as a late generator: 2 connections, 20 a second at most.
        let probe = server.measure(&json!({"kind": "tcp", "target": target, "connections": 2,
        "count": 40, "loop": {"open": {"rate_per_s": 40}}}));
        let max = series(&probe, "round_trip")["max_ns"].as_u64().unwrap();
        let late = series(&probe, "lateness")["max_ns"].as_u64().unwrap();
        assert!(max >= 900_000_000, "{max}");
        timely(max < 1_500_000_000, format!("{max} ns"));
        timely(late < 300_000_000, format!("{late} ns"));
    });
}

#[test]
fn tunnels_that_are_refused_are_counted_by_kind() {
    let root = Root::new();
    let server = root.serve();
    let number = AtomicUsize::new(0);
    let some = proxy(move |mut stream, _, _| {
        let code = u8::from(number.fetch_add(1, Ordering::SeqCst) % 4 == 3) * 5;
        write(&mut stream, &reply(code, any_address()));
        if code == 0 {
            echo(stream, Duration::ZERO);
        }
    });
    let spec = |proxy| {
        json!({"kind": "concurrency", "target": "127.0.0.1:9", "connections": 100,
            "count": 500, "proxy": via(proxy)})
    };
    let probe = server.measure(&spec(some));
    let outcome = &probe["outcome"];
    assert_eq!(outcome["tunnels"]["open"], 75, "{probe}");
    assert_eq!(outcome["errors"], json!({"socks_connection_refused": 25}));
    assert_eq!(
        (&outcome["succeeded"], &outcome["attempted"]),
        (&json!(500), &json!(525))
    );
    let none = proxy(|mut stream, _, _| write(&mut stream, &reply(2, any_address())));
    let probe = server.measure(&spec(none));
    assert_eq!(
        (&probe["state"], &probe["error"]["kind"]),
        (&json!("failed"), &json!("socks_not_allowed"))
    );
    let probe = server.measure(&spec(nobody()));
    assert_eq!(probe["error"]["kind"], "connection_refused");
    let mut late = spec(crate::common::network::tcp_server(
        crate::common::network::silent,
    ));
    late["handshake_timeout_ms"] = json!(200);
    let probe = server.measure(&late);
    assert_eq!(probe["error"]["kind"], "timeout", "{probe}");
}

#[test]
fn a_cancel_ends_many_connections_and_transfers_at_once() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let (_, target) = echo_server(&server, json!({"faults": {"rate_bytes_per_s": 100_000}}));
        for spec in [
            json!({"kind": "concurrency", "target": target, "connections": 20, "count": 1_000_000}),
            json!({"kind": "throughput", "target": target, "connections": 2, "transfer": {"bytes": 1 << 30, "direction": "both"}}),
        ] {
            let id = server.probe(&spec);
            thread::sleep(Duration::from_millis(300));
            let began = Instant::now();
            let (status, answer) = server.delete(&format!("/probes/{id}"));
            assert_eq!(
                (status, &answer["state"]),
                (200, &json!("cancelled")),
                "{answer}"
            );
            let took = began.elapsed();
            timely(took < Duration::from_secs(1), format!("{took:?}"));
        }
        let probe = server.measure(&json!({"kind": "concurrency", "target": target,
        "connections": 20, "count": 1_000_000, "limit_s": 0.5}));
        assert_eq!(probe["outcome"]["stopped"], "limit", "{probe}");
    });
}

#[test]
fn transfers_are_exact_in_each_direction() {
    let root = Root::new();
    let server = root.serve();
    for engine in ["blocking", "events"] {
        for (write_bytes, connections) in [(1024, 1), (65_536, 8), (1 << 20, 3)] {
            for direction in ["up", "down", "both"] {
                let (id, target) = echo_server(&server, json!({"engine": engine}));
                let bytes = 3_000_001;
                let mut spec = json!({"kind": "throughput", "target": target, "connections": connections,
                    "transfer": {"bytes": bytes, "write_bytes": write_bytes, "direction": direction}});
                let mut warm_up = 0;
                if write_bytes == 65_536 {
                    warm_up = 100_000;
                    spec["proxy"] = via(relay_proxy());
                    spec["warmup"] = json!(1);
                    spec["transfer"]["warmup_bytes"] = json!(warm_up);
                }
                let probe = server.measure(&spec);
                let outcome = &probe["outcome"];
                let operations = connections * if direction == "both" { 2 } else { 1 };
                assert_eq!(outcome["succeeded"], operations, "{spec}: {probe}");
                assert_eq!(probe["planned"], operations);
                assert_eq!(outcome["bytes"], bytes * operations);
                assert_eq!(series(&probe, "transfer")["count"], operations);
                let counted = server.delete(&format!("/echoes/{id}")).1;
                assert_eq!(counted["tcp_bytes"], (bytes + warm_up) * operations);
            }
        }
    }
}

#[test]
fn transfers_keep_a_rate_and_failures_have_names() {
    let root = Root::new();
    let server = root.serve();
    let measure = |faults: Value, direction: &str, timeout_ms: u64| {
        let (_, target) = echo_server(&server, json!({"faults": faults}));
        server.measure(
            &json!({"kind": "throughput", "target": target, "timeout_ms": timeout_ms,
            "transfer": {"bytes": 2_000_000, "direction": direction}}),
        )
    };
    for direction in ["up", "down"] {
        let probe = measure(json!({"rate_bytes_per_s": 2_000_000}), direction, 5000);
        let took = probe["outcome"]["duration_s"].as_f64().unwrap();
        // A busy machine makes the opening slower, which is no fault of the rate.
        assert!(took >= 0.95, "{direction}: {took}");
    }
    for (faults, direction, name) in [
        (json!({"tcp": {"silent": true}}), "up", "timeout"),
        (json!({"tcp": {"silent": true}}), "both", "timeout"),
        (
            json!({"tcp": {"reset_after": 3}}),
            "down",
            "connection_reset",
        ),
        (json!({"corrupt": 0.5}), "down", "corrupted"),
    ] {
        let probe = measure(faults, direction, patient_ms(300));
        let failed = if direction == "both" { 2 } else { 1 };
        assert_eq!(probe["outcome"]["errors"], json!({name: failed}), "{probe}");
    }
    // The far end is no echo server of this sidecar: it echoes the request.
    let probe = server.measure(
        &json!({"kind": "throughput", "target": "127.0.0.1:9", "timeout_ms": patient_ms(300),
        "proxy": via(echo_proxy(Duration::ZERO)), "transfer": {"bytes": 8, "write_bytes": 64}}),
    );
    assert_eq!(
        probe["outcome"]["errors"],
        json!({"corrupted": 1}),
        "{probe}"
    );
}

#[test]
fn a_warm_up_in_which_nothing_succeeds_says_why() {
    let root = Root::new();
    let server = root.serve();
    let faults = json!({"faults": {"tcp": {"reset_after": 0}}});
    let (_, target) = echo_server(&server, faults);
    for spec in [
        json!({"kind": "concurrency", "target": target, "connections": 10, "warmup": 100}),
        json!({"kind": "throughput", "target": target, "warmup": 1, "transfer": {"direction": "down"}}),
    ] {
        let probe = server.measure(&spec);
        assert_eq!(probe["state"], "failed", "{probe}");
        assert_eq!(probe["error"]["kind"], "connection_reset", "{probe}");
    }
}

/// A proxy for TCP that ends each tunnel at an age.
fn ending_proxy(age: Duration) -> SocketAddr {
    proxy(move |mut stream, _, address| {
        let mut target = TcpStream::connect(address).unwrap();
        write(&mut stream, &reply(0, any_address()));
        let (mut back, mut forth) = (target.try_clone().unwrap(), stream.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut back, &mut forth));
        let (near, far) = (stream.try_clone().unwrap(), target.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut stream, &mut target));
        thread::sleep(age);
        let _ = near.shutdown(std::net::Shutdown::Both);
        let _ = far.shutdown(std::net::Shutdown::Both);
    })
}

#[test]
fn idle_tunnels_stay_open_and_stray_packets_are_counted() {
    let root = Root::new();
    let server = root.serve();
    let (_, target) = echo_server(&server, json!({"engine": "events"}));
    let spec = json!({"kind": "concurrency", "target": target, "connections": 20, "count": 20,
        "proxy": via(relay_proxy()), "idle": {"seconds": 1.5, "settle_s": 0.5}});
    let at: SocketAddr = target.as_str().unwrap().parse().unwrap();
    // The port of the far end takes no datagrams.
    let strays = thread::spawn(move || {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        thread::sleep(Duration::from_millis(1_200));
        for _ in 0..7 {
            socket.send_to(&[0; 32], at).unwrap();
        }
    });
    let probe = server.measure(&spec);
    strays.join().unwrap();
    let idle = &probe["outcome"]["idle"];
    assert_eq!(
        (
            &idle["open"],
            &idle["answered"],
            &idle["ended_s"],
            &idle["unasked"]
        ),
        (&json!(20), &json!(20), &json!([]), &json!(0)),
        "{probe}"
    );
    assert_eq!(probe["outcome"]["far_end"]["connections"]["found"], 20);
    let seconds = idle["seconds"].as_f64().unwrap();
    timely((1.5..1.6).contains(&seconds), format!("{seconds} s"));
    // Each has 28 bytes of headers. Null: this user may not capture packets.
    if !idle["wire"].is_null() {
        let right = idle["wire"] == json!({"packets": 7, "bytes": 7 * 60});
        timely(right, idle["wire"].to_string());
    }
}

#[test]
fn a_tunnel_that_ended_before_the_idle_time_did_not_end_in_it() {
    let root = Root::new();
    let server = root.serve();
    let number = AtomicUsize::new(0);
    // The first tunnel ends with its answer, while the other one still waits for its own.
    let target = tcp_server(move |mut stream| {
        if number.fetch_add(1, Ordering::Relaxed) > 0 {
            return echo(stream, Duration::from_millis(300));
        }
        let request = read::<64>(&mut stream);
        write(&mut stream, &request);
    });
    let probe = server.measure(
        &json!({"kind": "concurrency", "target": target, "connections": 2, "count": 2,
        "payload_bytes": 64, "warmup": 0, "idle": {"seconds": 0.2, "settle_s": 0.1}}),
    );
    let idle = &probe["outcome"]["idle"];
    assert_eq!(
        (&idle["open"], &idle["answered"], &idle["ended_s"]),
        (&json!(1), &json!(1), &json!([])),
        "{probe}"
    );
}

#[test]
fn tunnels_that_end_while_idle_have_their_moment() {
    let root = Root::new();
    let server = root.serve();
    let (_, target) = echo_server(&server, json!({"engine": "events"}));
    let spec = json!({"kind": "concurrency", "target": target, "connections": 5, "count": 5,
        "proxy": via(ending_proxy(Duration::from_millis(1_000))), "idle": {"seconds": 1.5, "settle_s": 0.2}});
    let probe = server.measure(&spec);
    let outcome = &probe["outcome"];
    let idle = &outcome["idle"];
    assert_eq!(
        (&outcome["succeeded"], &idle["open"], &idle["answered"]),
        (&json!(5), &json!(5), &json!(0)),
        "{probe}"
    );
    let ended = idle["ended_s"].as_array().unwrap();
    assert_eq!(ended.len(), 5, "{probe}");
    let right = |one: &Value| (0.6..1.0).contains(&one.as_f64().unwrap());
    timely(ended.iter().all(right), idle.to_string());
}
