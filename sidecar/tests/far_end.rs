//! Compares counts of the far end with counts of a probe.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use crate::common::network::*;
use crate::common::{Root, Server, patient_ms};
use serde_json::{Value, json};

fn start(server: &Server, spec: &Value) -> Value {
    let (status, echo) = server.post("/echoes", &spec.to_string());
    assert_eq!(status, 201, "{echo}");
    echo
}

fn outcome(server: &Server, spec: &Value) -> Value {
    let probe = server.measure(spec);
    assert_eq!(probe["state"], "done", "{probe}");
    probe["outcome"].clone()
}

/// Whether the probe and its far end have the same counts, greater than 0.
fn is_exact(counts: &Value, name: &str, number: u64) {
    let wanted = json!({"least": number, "most": number, "found": number});
    assert_eq!(counts[name], wanted, "{name}: {counts}");
}

/// A SOCKS5 proxy that dials the target of each tunnel.
fn dialling() -> SocketAddr {
    proxy(|mut stream, _, target| {
        let far = TcpStream::connect(target.as_str()).unwrap();
        write(&mut stream, &reply(0, any_address()));
        let (mut up, mut down) = (stream.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || copy(&mut up, &mut down));
        copy(&mut { far }, &mut stream);
    })
}

fn copy(from: &mut TcpStream, to: &mut TcpStream) {
    let mut buffer = [0; 65_536];
    while let Ok(count) = from.read(&mut buffer)
        && count > 0
        && to.write_all(&buffer[..count]).is_ok()
    {}
    let _ = to.shutdown(std::net::Shutdown::Write);
}

#[test]
fn all_that_a_probe_sends_is_counted_once_by_each_engine() {
    let root = Root::new();
    let server = root.serve();
    for engine in ["blocking", "events"] {
        let echo = start(&server, &json!({"engine": engine}));
        let target = echo["tcp"].clone();
        for via in [json!(null), json!({"address": dialling().to_string()})] {
            let trips = json!({"kind": "tcp", "target": target, "proxy": via, "warmup": 7, "count": 40, "payload_bytes": 500});
            let counts = &outcome(&server, &trips)["far_end"];
            is_exact(counts, "connections", 1);
            is_exact(counts, "bytes_up", 47 * 500);
            is_exact(counts, "bytes_down", 47 * 500);
            let many = json!({"kind": "concurrency", "target": target, "proxy": via, "connections": 9, "warmup": 9, "count": 45, "payload_bytes": 64});
            let counts = &outcome(&server, &many)["far_end"];
            is_exact(counts, "connections", 9);
            is_exact(counts, "bytes_up", 54 * 64);
            is_exact(counts, "bytes_down", 54 * 64);
            let replies = json!({"kind": "handshake", "first_reply": true, "target": target, "proxy": via, "count": 12, "payload_bytes": 32});
            let counts = &outcome(&server, &replies)["far_end"];
            is_exact(counts, "connections", 12);
            is_exact(counts, "bytes_down", 12 * 32);
            let opened = json!({"kind": "handshake", "target": target, "proxy": via, "warmup": 3, "count": 12});
            let counts = outcome(&server, &opened)["far_end"].clone();
            assert_eq!(
                counts,
                json!({"connections": {"least": 15, "most": null, "found": 15}})
            );
            for (direction, up, down) in [
                ("up", 16 + 9_000, 8),
                ("down", 16, 9_000),
                ("both", 16 + 9_000, 9_008),
            ] {
                let bulk = json!({"kind": "throughput", "target": target, "proxy": via, "connections": 3, "warmup": 1,
                    "transfer": {"bytes": 9_000, "write_bytes": 700, "direction": direction}});
                let counts = &outcome(&server, &bulk)["far_end"];
                is_exact(counts, "connections", 3);
                is_exact(counts, "bytes_up", 2 * 3 * up);
                is_exact(counts, "bytes_down", 2 * 3 * down);
            }
        }
        let fetched = json!({"kind": "fetch", "target": target, "warmup": 1, "count": 3,
            "fetch": {"bytes": 3_000, "objects": 4, "tunnels": 2, "fresh": true}});
        let counts = &outcome(&server, &fetched)["far_end"];
        is_exact(counts, "connections", 8);
        is_exact(counts, "bytes_up", 4 * 4 * 16);
        is_exact(counts, "bytes_down", 4 * 4 * 3_000);
        let datagrams = json!({"kind": "udp", "target": echo["udp"], "warmup": 5, "count": 200, "window": 16,
            "payload_bytes": 100, "timeout_ms": 20_000});
        let counts = &outcome(&server, &datagrams)["far_end"];
        for (name, number) in [
            ("datagrams_up", 205),
            ("datagrams_down", 205),
            ("bytes_up", 20_500),
            ("bytes_down", 20_500),
        ] {
            is_exact(counts, name, number);
        }
    }
}

#[test]
fn a_flow_is_bounded_by_what_was_confirmed_and_sent() {
    let root = Root::new();
    let server = root.serve();
    let echo = start(&server, &json!({}));
    for direction in ["up", "down", "neither"] {
        let spec = json!({"kind": "flow", "target": echo["tcp"], "flow": {"direction": direction, "seconds": 0.3}});
        let counts = outcome(&server, &spec)["far_end"].clone();
        is_exact(&counts, "connections", 1);
        let of = |name: &str, bound: &str| counts[name][bound].as_u64().unwrap();
        for name in ["bytes_up", "bytes_down"] {
            assert!(
                of(name, "least") > 0 && of(name, "least") <= of(name, "found"),
                "{counts}"
            );
        }
        assert!(
            of("bytes_up", "found") <= of("bytes_up", "most"),
            "{counts}"
        );
        assert_eq!(counts["bytes_down"]["most"], json!(null));
    }
}

#[test]
fn a_proxy_that_answers_by_itself_is_told_by_the_far_end() {
    let root = Root::new();
    let server = root.serve();
    let echo = start(&server, &json!({}));
    let alone = json!({"address": echo_proxy(Duration::ZERO).to_string()});
    let trips = json!({"kind": "tcp", "target": echo["tcp"], "proxy": alone, "count": 20, "payload_bytes": 50});
    let counts = outcome(&server, &trips)["far_end"].clone();
    assert_eq!(
        counts["connections"],
        json!({"least": 1, "most": 1, "found": 0})
    );
    assert_eq!(
        counts["bytes_up"],
        json!({"least": 1_000, "most": 1_000, "found": 0})
    );
    let opened = json!({"kind": "handshake", "target": echo["tcp"], "proxy": alone, "count": 20});
    let counts = outcome(&server, &opened)["far_end"].clone();
    assert_eq!(
        counts["connections"],
        json!({"least": 20, "most": null, "found": 0})
    );
    let relay = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let bound = relay.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut datagram = [0; 2_000];
        while let Ok((count, from)) = relay.recv_from(&mut datagram) {
            let _ = relay.send_to(&datagram[..count], from);
        }
    });
    let datagrams = json!({"kind": "udp", "target": echo["udp"], "count": 20, "timeout_ms": 20_000,
        "proxy": {"address": udp_proxy(bound).to_string()}});
    let counts = outcome(&server, &datagrams)["far_end"].clone();
    assert_eq!(
        counts["datagrams_up"],
        json!({"least": 20, "most": 20, "found": 0})
    );
}

#[test]
fn what_is_lost_is_between_the_bounds_and_injected_duplicates_are_in_no_count() {
    let root = Root::new();
    let server = root.serve();
    let faults = json!({"loss": 0.1, "duplicate": 0.2, "reorder": 0.1, "corrupt": 0.1});
    let echo = start(&server, &json!({"faults": faults}));
    let spec = json!({"kind": "udp", "target": echo["udp"], "count": 500, "window": 8, "timeout_ms": patient_ms(500), "payload_bytes": 64});
    let counts = outcome(&server, &spec)["far_end"].clone();
    // The far end drops them after it has received them.
    let answered = counts["datagrams_down"]["found"].as_u64().unwrap();
    assert!((430..=470).contains(&answered), "{counts}");
    for (name, found) in [("datagrams_up", 500), ("datagrams_down", answered)] {
        let wanted = json!({"least": answered, "most": 500, "found": found});
        assert_eq!(counts[name], wanted);
    }
}

#[test]
fn two_probes_at_a_time_are_told_apart_and_a_stranger_is_in_neither() {
    let root = Root::new();
    let server = root.serve();
    let echo = start(&server, &json!({}));
    let stranger = TcpStream::connect(echo["tcp"].as_str().unwrap()).unwrap();
    let spec = |count: u64| {
        json!({"kind": "tcp", "target": echo["tcp"], "count": count, "payload_bytes": 100,
            "loop": {"open": {"rate_per_s": 200}}})
        .to_string()
    };
    let ids = [60, 100].map(|count| {
        let (_, probe) = server.post("/probes", &spec(count));
        probe["id"].as_str().unwrap().to_owned()
    });
    (&stranger).write_all(&[200; 3_000]).unwrap();
    for (id, count) in ids.iter().zip([60, 100]) {
        let counts = server.follow(id)["outcome"]["far_end"].clone();
        is_exact(&counts, "connections", 1);
        is_exact(&counts, "bytes_up", count * 100);
    }
}

#[test]
fn a_far_end_may_be_named_and_one_that_is_not_ours_has_no_counts() {
    let root = Root::new();
    let server = root.serve();
    let echo = start(&server, &json!({}));
    let far: SocketAddr = echo["tcp"].as_str().unwrap().parse().unwrap();
    // Like a client that accepts traffic for one target alone.
    let entry = tcp_server(move |mut stream| {
        let mut far = TcpStream::connect(far).unwrap();
        let (mut up, mut down) = (stream.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || copy(&mut up, &mut down));
        copy(&mut far, &mut stream);
    });
    let mut spec =
        json!({"kind": "tcp", "target": entry.to_string(), "count": 5, "payload_bytes": 100});
    assert_eq!(outcome(&server, &spec)["far_end"], json!(null));
    spec["far_end"] = echo["id"].clone();
    is_exact(&outcome(&server, &spec)["far_end"], "bytes_up", 500);
    spec["far_end"] = json!("e99");
    assert_eq!(server.post("/probes", &spec.to_string()).0, 404);
    let by_name = json!({"kind": "tcp", "target": format!("localhost:{}", far.port()), "count": 5, "payload_bytes": 100});
    is_exact(&outcome(&server, &by_name)["far_end"], "bytes_up", 500);
}
