//! Measurements of probes, against servers with known answers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::common::network::*;
use crate::common::{Root, Server, patient_ms, timely, undisturbed};
use serde_json::{Value, json};

const DELAY: Duration = Duration::from_millis(120);

fn outcome(server: &Server, spec: Value) -> Value {
    let probe = server.measure(&spec);
    assert_eq!(probe["state"], "done", "{probe}");
    let outcome = probe["outcome"].clone();
    let failed: u64 = outcome["errors"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    let succeeded = outcome["succeeded"].as_u64().unwrap();
    assert_eq!(outcome["attempted"], succeeded + failed, "{outcome}");
    outcome
}

fn series<'a>(outcome: &'a Value, name: &str) -> &'a Value {
    outcome["series"]
        .as_array()
        .unwrap()
        .iter()
        .find(|series| series["name"] == name)
        .unwrap_or_else(|| panic!("no {name}: {outcome}"))
}

fn within_a_tenth(ns: &Value, truth: Duration) {
    let ratio = ns.as_f64().unwrap() / truth.as_nanos() as f64;
    timely(
        (0.9..1.1).contains(&ratio),
        format!("{ns} ns is not {truth:?}"),
    );
}

#[test]
fn an_injected_delay_comes_back_as_the_truth() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let tcp = tcp_echo(DELAY);
        let direct = json!({"kind": "tcp", "target": tcp.to_string(), "count": 10});
        let tunnel = json!({"kind": "tcp", "target": "127.0.0.1:9", "count": 10,
        "proxy": {"address": echo_proxy(DELAY).to_string()}});
        let udp = udp_echo(DELAY);
        let datagrams = json!({"kind": "udp", "target": udp.to_string(), "count": 40, "window": 4, "timeout_ms": 5_000});
        let relayed = json!({"kind": "udp", "target": "127.0.0.1:9", "count": 10, "timeout_ms": 5_000,
        "proxy": {"address": udp_proxy(udp).to_string()}});
        for spec in [direct, tunnel, datagrams, relayed] {
            for wait in ["block", "yield"] {
                let mut spec = spec.clone();
                spec["wait"] = json!(wait);
                let outcome = outcome(&server, spec.clone());
                assert_eq!(outcome["succeeded"], spec["count"], "{outcome}");
                assert_eq!(outcome["bytes"], spec["count"].as_u64().unwrap() * 1_024);
                let round_trip = series(&outcome, "round_trip");
                assert_eq!(round_trip["kept"], spec["count"]);
                within_a_tenth(&round_trip["p50_ns"], DELAY);
            }
        }
    });
}

#[test]
fn an_open_loop_counts_from_the_intended_time() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        // One answer takes 120 ms, and a request is due every 60 ms: the last of ten is nearly 10 × 60 ms late.
        let spec = json!({"kind": "tcp", "target": tcp_echo(DELAY).to_string(), "count": 10,
        "loop": {"open": {"rate_per_s": 1_000.0 / 60.0}}});
        let outcome_tcp = outcome(&server, spec);
        let round_trip = series(&outcome_tcp, "round_trip");
        within_a_tenth(&round_trip["max_ns"], DELAY * 10 - DELAY / 2 * 9);
        // The wait for the previous answer is no lateness: each request went out as soon as it could.
        let lateness = &series(&outcome_tcp, "lateness")["max_ns"];
        timely(
            lateness.as_f64().unwrap() < DELAY.as_nanos() as f64,
            outcome_tcp.to_string(),
        );
        // With a window datagrams do not wait for each other: 24 are on their way, from the start.
        let spec = json!({"kind": "udp", "target": udp_echo(DELAY).to_string(), "count": 40, "window": 64,
        "timeout_ms": 5_000, "loop": {"open": {"rate_per_s": 200}}});
        let outcome_udp = outcome(&server, spec);
        within_a_tenth(&series(&outcome_udp, "round_trip")["p50_ns"], DELAY);
        // With a window of one they do, and this wait is no lateness either.
        let spec = json!({"kind": "udp", "target": udp_echo(DELAY).to_string(), "count": 10,
        "timeout_ms": 5_000, "loop": {"open": {"rate_per_s": 1_000.0 / 60.0}}});
        let narrow = outcome(&server, spec);
        let lateness = &series(&narrow, "lateness")["max_ns"];
        timely(
            lateness.as_f64().unwrap() < DELAY.as_nanos() as f64,
            narrow.to_string(),
        );
        let duration = outcome_udp["duration_s"].as_f64().unwrap();
        assert!(
            duration >= 39.0 / 200.0 + DELAY.as_secs_f64() * 0.99,
            "{duration}"
        );
        let handshake = json!({"kind": "handshake", "target": "127.0.0.1:9", "count": 20, "connections": 4,
        "loop": {"open": {"rate_per_s": 40}}, "proxy": {"address": echo_proxy(DELAY).to_string()}});
        let handshakes = outcome(&server, handshake);
        assert_eq!(handshakes["succeeded"], 20);
        assert!(handshakes["duration_s"].as_f64().unwrap() >= 19.0 / 40.0);
        assert_eq!(series(&handshakes, "lateness")["count"], 20);
    });
}

#[test]
fn a_handshake_is_split_into_its_stages() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let slow = tcp_server(|mut stream| {
            greeting(&mut stream);
            std::thread::sleep(DELAY);
            write(&mut stream, &[5, 2]);
            login(&mut stream);
            std::thread::sleep(2 * DELAY);
            write(&mut stream, &[1, 0]);
            request(&mut stream);
            std::thread::sleep(3 * DELAY);
            write(&mut stream, &reply(0, any_address()));
            silent(stream);
        });
        let spec = json!({"kind": "handshake", "target": "localhost:9", "count": 8, "connections": 8, "warmup": 1,
        "proxy": {"address": slow.to_string(), "username": "u", "password": "p"}});
        let split = outcome(&server, spec);
        within_a_tenth(&series(&split, "greeting")["p50_ns"], DELAY);
        within_a_tenth(&series(&split, "auth")["p50_ns"], 2 * DELAY);
        within_a_tenth(&series(&split, "connect")["p50_ns"], 3 * DELAY);
        within_a_tenth(&series(&split, "total")["p50_ns"], 6 * DELAY);
        assert_eq!(
            (&split["succeeded"], &split["threads"]),
            (&json!(8), &json!(8))
        );
        let spec = json!({"kind": "handshake", "target": tcp_echo(DELAY).to_string(), "count": 5});
        let direct = outcome(&server, spec);
        let names: Vec<_> = direct["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|series| &series["name"])
            .collect();
        assert_eq!(names, ["total", "dial"]);
    });
}

#[test]
fn a_handshake_does_not_hold_the_teardown_of_the_tunnel_before() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        // One connection at a time: the next one waits until this one is closed, as on a busy proxy.
        let turn = std::sync::Mutex::new(());
        let slow_to_close = tcp_server(move |mut stream| {
            let _turn = turn.lock().unwrap();
            greeting(&mut stream);
            write(&mut stream, &[5, 0]);
            request(&mut stream);
            write(&mut stream, &reply(0, any_address()));
            silent(stream.try_clone().unwrap());
            std::thread::sleep(DELAY / 2);
        });
        let spec = |proxy: SocketAddr| json!({"kind": "handshake", "target": "localhost:9", "count": 8, "proxy": {"address": proxy.to_string()}});
        let split = outcome(&server, spec(slow_to_close));
        assert_eq!(split["succeeded"], 8);
        for name in ["greeting", "total"] {
            let p50 = series(&split, name)["p50_ns"].as_u64().unwrap();
            let most = DELAY.as_nanos() as u64 / 4;
            timely(p50 < most, format!("{name}: {p50} ns"));
        }
        // A connection that never closes delays the probe only briefly, and is no failure.
        let never = tcp_server(|mut stream| {
            greeting(&mut stream);
            write(&mut stream, &[5, 0]);
            request(&mut stream);
            write(&mut stream, &reply(0, any_address()));
            std::thread::sleep(Duration::from_secs(20));
        });
        let began = Instant::now();
        assert_eq!(outcome(&server, spec(never))["succeeded"], 8);
        let took = began.elapsed();
        timely(took < Duration::from_secs(10), format!("{took:?}"));
    });
}

#[test]
fn a_handshake_may_last_until_the_first_reply() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let echo = tcp_echo(DELAY).to_string();
        let spec = json!({"kind": "handshake", "target": echo, "count": 5, "first_reply": true});
        let replied = outcome(&server, spec);
        within_a_tenth(&series(&replied, "first_reply")["p50_ns"], DELAY);
        within_a_tenth(&series(&replied, "total")["p50_ns"], DELAY);
        let spec = json!({"kind": "tcp", "target": echo, "first_reply": true}).to_string();
        let (status, answer) = server.post("/probes", &spec);
        assert_eq!(
            (
                status,
                answer["error"].as_str().unwrap().contains("first_reply")
            ),
            (422, true)
        );
    });
}

/// Ways in which a proxy treats the client's end.
#[derive(Clone, Copy, PartialEq)]
enum AtTheEnd {
    PassesIt,
    ClosesBothWays,
    NeverPassesIt,
}

/// A proxy to a far end, which treats the client's end in one way.
fn half_closing(far: String, way: AtTheEnd) -> SocketAddr {
    proxy(move |mut stream, _, _| {
        let mut target = TcpStream::connect(&far).unwrap();
        write(&mut stream, &reply(0, any_address()));
        let (mut back, mut client) = (target.try_clone().unwrap(), stream.try_clone().unwrap());
        let answers = std::thread::spawn(move || std::io::copy(&mut back, &mut client));
        let _ = std::io::copy(&mut stream, &mut target);
        match way {
            AtTheEnd::PassesIt => target.shutdown(Shutdown::Write).unwrap(),
            AtTheEnd::ClosesBothWays => {
                let _ = stream.shutdown(Shutdown::Both);
                let _ = target.shutdown(Shutdown::Both);
            }
            // In the end it closes, as proxies with a time limit do.
            AtTheEnd::NeverPassesIt => {
                std::thread::sleep(Duration::from_secs(1));
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        let _ = answers.join();
    })
}

#[test]
fn the_end_of_a_client_is_passed_on_or_not() {
    let root = Root::new();
    let server = root.serve();
    let echo = json!({"engine": "events", "faults": {"delay_ms": 150, "tcp": {"farewell": true}}});
    let (status, far) = server.post("/echoes", &echo.to_string());
    assert!(status < 300, "{far}");
    let target = far["tcp"].as_str().unwrap().to_owned();
    let spec = json!({"kind": "handshake", "half_close": true, "target": target, "count": 1, "payload_bytes": 64});
    assert_eq!(outcome(&server, spec.clone())["succeeded"], 1);
    for (way, kind) in [
        (AtTheEnd::PassesIt, None),
        (AtTheEnd::ClosesBothWays, Some("closed")),
        (AtTheEnd::NeverPassesIt, Some("stalled")),
    ] {
        let proxy = half_closing(target.clone(), way);
        let mut spec = spec.clone();
        spec["proxy"] = json!({"address": proxy.to_string()});
        let probe = server.measure(&spec);
        assert_eq!(probe["error"]["kind"], json!(kind), "{probe}");
    }
}

#[test]
fn targets_are_asked_for_as_they_were_written() {
    let root = Root::new();
    let server = root.serve();
    for target in ["127.0.0.1:9", "[::1]:9", "localhost:9"] {
        let strict = proxy(move |mut stream, command, address| {
            let right = command == 1 && address == target;
            write(&mut stream, &reply(u8::from(!right), any_address()));
            echo(stream, Duration::ZERO);
        });
        let spec = json!({"kind": "tcp", "target": target, "count": 3, "proxy": {"address": strict.to_string()}});
        assert_eq!(outcome(&server, spec)["succeeded"], 3);
    }
}

#[test]
fn a_payload_that_fills_every_buffer_comes_back_whole() {
    let root = Root::new();
    let server = root.serve();
    for wait in ["block", "spin"] {
        let spec = json!({"kind": "tcp", "target": tcp_echo(Duration::ZERO).to_string(), "count": 5, "warmup": 2,
            "payload_bytes": 1 << 20, "wait": wait});
        let large = outcome(&server, spec);
        assert_eq!(
            (&large["succeeded"], &large["bytes"]),
            (&json!(5), &json!(5 << 20))
        );
    }
}

#[test]
fn relays_with_other_addresses_are_found() {
    let root = Root::new();
    let server = root.serve();
    let relay = |ip: IpAddr| {
        udp_server(ip, |socket, _, bytes, peer| {
            let _ = socket.send_to(bytes, peer);
        })
    };
    let on_ipv4 = relay(Ipv4Addr::LOCALHOST.into());
    let unknown = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), on_ipv4.port());
    let unknown6 = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), on_ipv4.port());
    let on_ipv6 = relay(Ipv6Addr::LOCALHOST.into());
    let named = proxy(move |mut stream, _, _| {
        let mut bytes = vec![5, 0, 0, 3, 9];
        bytes.extend(b"localhost");
        bytes.extend(on_ipv4.port().to_be_bytes());
        write(&mut stream, &bytes);
        silent(stream);
    });
    let nameless = proxy(move |mut stream, _, _| {
        let mut bytes = vec![5, 0, 0, 3, 0];
        bytes.extend(on_ipv4.port().to_be_bytes());
        write(&mut stream, &bytes);
        silent(stream);
    });
    for proxy in [
        nameless,
        udp_proxy(unknown),
        udp_proxy(unknown6),
        udp_proxy(on_ipv6),
        named,
    ] {
        for window in [1, 16] {
            let spec = json!({"kind": "udp", "target": "[::1]:9", "count": 100, "window": window, "timeout_ms": 5_000,
                "payload_bytes": 512, "proxy": {"address": proxy.to_string()}});
            assert_eq!(outcome(&server, spec)["succeeded"], 100);
        }
    }
    let third = proxy(|mut stream, _, _| {
        let mut bytes = vec![5, 0, 0, 3, 15];
        bytes.extend(b"example.invalid\x00\x09");
        write(&mut stream, &bytes);
        silent(stream);
    });
    let spec =
        json!({"kind": "udp", "target": "127.0.0.1:9", "proxy": {"address": third.to_string()}});
    let probe = server.measure(&spec);
    assert_eq!(probe["error"]["kind"], "socks_garbage", "{probe}");
    let elsewhere = udp_proxy(([192, 0, 2, 1], 9).into());
    let spec = json!({"kind": "udp", "target": "127.0.0.1:9", "proxy": {"address": elsewhere.to_string()}});
    let probe = server.measure(&spec);
    assert_eq!(probe["error"]["kind"], "socks_garbage", "{probe}");
}

/// A relay that puts a domain name in front of its answers. Each datagram has a different fault, by its number.
#[test]
fn faults_of_datagrams_are_counted_exactly() {
    let root = Root::new();
    let server = root.serve();
    let mut held = Vec::new();
    let faulty = udp_server(
        Ipv4Addr::LOCALHOST.into(),
        move |socket, number, bytes, peer| {
            let payload = &bytes[10..];
            let named = |payload: &[u8]| {
                let mut datagram = vec![0, 0, 0, 3, 1, b'h', 0, 9];
                datagram.extend(payload);
                datagram
            };
            let send = |bytes: &[u8]| {
                let _ = socket.send_to(bytes, peer);
            };
            match number {
                10 => {}
                20 => {
                    send(&named(payload));
                    send(&named(payload));
                }
                30 => held = named(payload),
                31 => {
                    send(&named(payload));
                    send(&held);
                }
                40 => {
                    let mut wrong = payload.to_vec();
                    wrong[77] ^= 1;
                    send(&named(&wrong));
                }
                50 => send(&named(&payload[..100])),
                60 => {
                    let mut longer = payload.to_vec();
                    longer.push(0);
                    send(&named(&longer));
                }
                70 => {
                    send(b"nonsense");
                    send(&named(payload));
                }
                80 => {
                    send(&named(&[0xFF; 1_024]));
                    send(&named(payload));
                }
                _ => send(&named(payload)),
            }
        },
    );
    let spec = json!({"kind": "udp", "target": "127.0.0.1:9", "count": 1_000, "window": 8, "timeout_ms": patient_ms(1_000),
        "proxy": {"address": udp_proxy(faulty).to_string()}});
    let outcome = outcome(&server, spec);
    assert_eq!(
        outcome["errors"],
        json!({"lost": 1, "corrupted": 2, "truncated": 1}),
        "{outcome}"
    );
    assert_eq!(
        outcome["anomalies"],
        json!({"duplicated": 1, "out_of_order": 1, "unexpected": 2})
    );
    assert_eq!(series(&outcome, "round_trip")["count"], 996);
}

#[test]
fn a_pause_of_the_probe_is_no_loss() {
    let root = Root::new();
    let server = root.serve();
    // The far end is in this process, which keeps running.
    let echo = udp_echo(Duration::from_millis(5));
    let timeout_ms = patient_ms(400);
    // Enough operations for more than 1.5 s: the pause comes before their end on a busy machine, too.
    for (kind, count) in [
        (json!("closed"), 12_000),
        (json!({"open": {"rate_per_s": 1_500}}), 4_000),
    ] {
        let spec = json!({"kind": "udp", "target": echo.to_string(), "count": count, "window": 32, "timeout_ms": timeout_ms,
            "loop": kind});
        let id = server.probe(&spec);
        let sidecar = nix::unistd::Pid::from_raw(server.child.id() as i32);
        std::thread::sleep(Duration::from_millis(300));
        nix::sys::signal::kill(sidecar, nix::sys::signal::Signal::SIGSTOP).unwrap();
        std::thread::sleep(Duration::from_millis(5 * timeout_ms / 2));
        nix::sys::signal::kill(sidecar, nix::sys::signal::Signal::SIGCONT).unwrap();
        let ended = server.follow(&id);
        let outcome = &ended["outcome"];
        assert_eq!(outcome["errors"], json!({}), "{outcome}");
        // The far end has a thread for each datagram, so that some overtake others.
        for kind in ["late", "unexpected"] {
            assert_eq!(outcome["anomalies"][kind], Value::Null, "{outcome}");
        }
        assert_eq!(outcome["succeeded"], count, "{outcome}");
        assert!(outcome["replaced"].as_u64().unwrap() > 0, "{outcome}");
    }
}

#[test]
fn what_comes_too_late_is_lost_and_late_once() {
    let root = Root::new();
    let server = root.serve();
    let timeout_ms = patient_ms(600);
    let late = udp_server(
        Ipv4Addr::LOCALHOST.into(),
        move |socket, number, bytes, peer| {
            if number == 3 {
                std::thread::sleep(Duration::from_millis(3 * timeout_ms / 2));
            }
            let _ = socket.send_to(bytes, peer);
        },
    );
    let spec = json!({"kind": "udp", "target": late.to_string(), "count": 100, "timeout_ms": timeout_ms, "stall_ms": 30_000});
    let outcome = outcome(&server, spec);
    assert_eq!(outcome["errors"], json!({"lost": 1}), "{outcome}");
    assert_eq!(outcome["anomalies"], json!({"late": 1}));
}
