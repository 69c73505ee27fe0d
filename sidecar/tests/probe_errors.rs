//! Proxies that refuse, reset, stay silent, send wrong bytes or go away: each error has its name, and no
//! probe hangs.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::network::*;
use crate::common::{Root, Server, patient, timely, undisturbed};
use serde_json::{Value, json};

/// With times that even a busy machine does not reach. A test that expects another error does not wait for them.
fn spec(kind: &str, proxy: SocketAddr) -> Value {
    json!({"kind": kind, "target": "127.0.0.1:9", "proxy": {"address": proxy.to_string()}, "count": 20,
        "timeout_ms": 60_000, "handshake_timeout_ms": 60_000, "stall_ms": 60_000})
}

/// The same for what only a time ends. The times are `timeout_ms`, `handshake_timeout_ms` and `stall_ms`.
fn hasty(mut spec: Value, times: &[(&str, u64)]) -> Value {
    for (name, ms) in times {
        spec[*name] = json!(ms);
    }
    spec
}

/// The probe fails with this kind, with one line, and soon.
fn fails(server: &Server, spec: &Value, kind: &str) {
    let began = Instant::now();
    let probe = server.measure(spec);
    assert_eq!(probe["state"], "failed", "{kind}: {probe}");
    assert_eq!(probe["error"]["kind"], kind, "{probe}");
    let message = probe["error"]["message"].as_str().unwrap();
    assert!(!message.is_empty() && !message.contains('\n'), "{message}");
    assert_eq!(probe["outcome"], json!(null));
    assert!(
        began.elapsed() < patient(Duration::from_secs(60)),
        "{kind} took {:?}",
        began.elapsed()
    );
}

#[test]
fn every_reply_code_has_its_name() {
    let root = Root::new();
    let server = root.serve();
    for (code, kind) in [
        (1, "socks_general_failure"),
        (2, "socks_not_allowed"),
        (3, "socks_network_unreachable"),
        (4, "socks_host_unreachable"),
        (5, "socks_connection_refused"),
        (6, "socks_ttl_expired"),
        (7, "socks_command_not_supported"),
        (8, "socks_address_not_supported"),
        (9, "socks_reply_other"),
        (255, "socks_reply_other"),
    ] {
        let refusing =
            proxy(move |mut stream, _, _| write(&mut stream, &reply(code, any_address())));
        for probe in ["tcp", "handshake", "udp"] {
            fails(&server, &spec(probe, refusing), kind);
        }
        // Some proxies send only the code.
        let curt = proxy(move |mut stream, _, _| write(&mut stream, &[5, code]));
        fails(&server, &spec("tcp", curt), kind);
    }
}

#[test]
fn no_method_a_wrong_password_and_nobody() {
    let root = Root::new();
    let server = root.serve();
    let picky = tcp_server(|mut stream| {
        let methods = greeting(&mut stream);
        if !methods.contains(&2) {
            return write(&mut stream, &[5, 255]);
        }
        write(&mut stream, &[5, 2]);
        let right = login(&mut stream) == ("anna".to_owned(), "right".to_owned());
        write(&mut stream, &[1, u8::from(!right)]);
        if right {
            request(&mut stream);
            write(&mut stream, &reply(0, any_address()));
            echo(stream, Duration::ZERO);
        }
    });
    fails(&server, &spec("tcp", picky), "socks_no_method");
    let mut with_login = spec("tcp", picky);
    with_login["proxy"]["username"] = json!("anna");
    with_login["proxy"]["password"] = json!("wrong");
    fails(&server, &with_login, "socks_auth_failed");
    with_login["proxy"]["password"] = json!("right");
    for kind in ["tcp", "handshake"] {
        with_login["kind"] = json!(kind);
        let probe = server.measure(&with_login);
        assert_eq!(probe["outcome"]["succeeded"], 20, "{probe}");
        assert!(!probe.to_string().contains("right"));
    }
    fails(&server, &spec("tcp", nobody()), "connection_refused");
}

/// How far a proxy behaves before it does what is tested.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Greeting,
    Login,
    Request,
}

fn behaves_until(
    stage: Stage,
    then: impl Fn(std::net::TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    tcp_server(move |mut stream| {
        greeting(&mut stream);
        if matches!(stage, Stage::Greeting) {
            return then(stream);
        }
        write(&mut stream, &[5, 2]);
        login(&mut stream);
        if matches!(stage, Stage::Login) {
            return then(stream);
        }
        write(&mut stream, &[1, 0]);
        request(&mut stream);
        then(stream);
    })
}

#[test]
fn silence_resets_ends_and_garbage_at_each_stage_have_their_names() {
    let root = Root::new();
    let server = root.serve();
    for stage in [Stage::Greeting, Stage::Login, Stage::Request] {
        let check = |proxy: SocketAddr, kind: &str| {
            let ms = if kind == "timeout" { 500 } else { 60_000 };
            for probe in ["tcp", "udp", "handshake"] {
                let mut spec = hasty(spec(probe, proxy), &[("handshake_timeout_ms", ms)]);
                spec["proxy"]["username"] = json!("u");
                spec["proxy"]["password"] = json!("p");
                fails(&server, &spec, kind);
            }
        };
        check(behaves_until(stage, silent), "timeout");
        check(behaves_until(stage, reset), "connection_reset");
        check(behaves_until(stage, drop), "closed");
        check(
            behaves_until(stage, |mut stream| {
                write(&mut stream, &[5][..]);
            }),
            "closed",
        );
        check(
            behaves_until(stage, |mut stream| {
                write(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
                silent(stream);
            }),
            "socks_garbage",
        );
    }
}

#[test]
fn a_full_backlog_is_a_timeout() {
    let root = Root::new();
    let server = root.serve();
    let socket = || {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    };
    let listener = socket();
    listener
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let waiting: Vec<_> = (0..8).map(|_| socket()).collect();
    waiting.iter().for_each(|socket| {
        let _ = socket.connect(&address);
    });
    for kind in ["tcp", "handshake", "udp"] {
        let spec = spec(kind, address.as_socket().unwrap());
        let soon = hasty(spec, &[("handshake_timeout_ms", 500)]);
        fails(&server, &soon, "timeout");
    }
}

#[test]
fn more_than_a_reply_is_garbage() {
    let root = Root::new();
    let server = root.serve();
    let chatty = proxy(|mut stream, _, _| {
        let mut bytes = reply(0, any_address());
        bytes.push(0);
        write(&mut stream, &bytes);
        silent(stream);
    });
    fails(&server, &spec("tcp", chatty), "socks_garbage");
}

/// The tunnel opens, and then `then` happens on it.
fn granted(then: impl Fn(std::net::TcpStream) + Send + Sync + 'static) -> SocketAddr {
    proxy(move |mut stream, _, _| {
        write(&mut stream, &reply(0, any_address()));
        then(stream);
    })
}

#[test]
fn tunnels_that_break_have_named_errors_and_three_in_a_row_end_the_probe() {
    let root = Root::new();
    let server = root.serve();
    let half = |mut stream: std::net::TcpStream| {
        let bytes = read_vec(&mut stream, 1_024);
        write(&mut stream, &bytes[..500]);
    };
    let wrong = |mut stream: std::net::TcpStream| {
        let mut bytes = read_vec(&mut stream, 1_024);
        bytes[1_000] ^= 1;
        write(&mut stream, &bytes);
        silent(stream);
    };
    let resets = |mut stream: std::net::TcpStream| {
        read_vec(&mut stream, 1_024);
        reset(stream);
    };
    for (proxy, kind, ms) in [
        (granted(silent), "timeout", 300),
        (granted(half), "closed", 60_000),
        (granted(wrong), "corrupted", 60_000),
        (granted(resets), "connection_reset", 60_000),
    ] {
        for wait in ["block", "yield"] {
            let mut spec = hasty(spec("tcp", proxy), &[("timeout_ms", ms)]);
            spec["wait"] = json!(wait);
            let outcome = &server.measure(&spec)["outcome"];
            assert_eq!(outcome["stopped"], "failures", "{kind}: {outcome}");
            assert_eq!(outcome["errors"], json!({kind: 3}));
            assert_eq!(
                (&outcome["attempted"], &outcome["succeeded"]),
                (&json!(3), &json!(0))
            );
        }
    }
}

#[test]
fn a_broken_tunnel_is_replaced_and_the_probe_goes_on() {
    let root = Root::new();
    let server = root.serve();
    let opened = AtomicU64::new(0);
    // Each tunnel breaks at its sixth request.
    let brittle = proxy(move |mut stream, _, _| {
        opened.fetch_add(1, Ordering::SeqCst);
        write(&mut stream, &reply(0, any_address()));
        for _ in 0..5 {
            let bytes = read_vec(&mut stream, 1_024);
            write(&mut stream, &bytes);
        }
        read_vec(&mut stream, 1_024);
    });
    let outcome = &server.measure(&spec("tcp", brittle))["outcome"];
    assert_eq!(outcome["stopped"], json!(null), "{outcome}");
    assert_eq!(outcome["attempted"], 20);
    assert_eq!(outcome["errors"], json!({"closed": 3}));
    assert_eq!(outcome["series"][0]["count"], 17);
}

#[test]
fn a_udp_relay_that_says_nothing_or_ends() {
    let root = Root::new();
    let server = root.serve();
    let mute = udp_server(Ipv4Addr::LOCALHOST.into(), |_, _, _, _| {});
    let mut spec_stall = hasty(spec("udp", udp_proxy(mute)), &[("stall_ms", 700)]);
    let outcome = &server.measure(&spec_stall)["outcome"];
    assert_eq!(outcome["stopped"], "stalled", "{outcome}");
    assert_eq!(outcome["succeeded"], 0);
    let errors: u64 = outcome["errors"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(outcome["attempted"], errors, "{outcome}");

    spec_stall["warmup"] = json!(5);
    fails(&server, &spec_stall, "stalled");

    // The control connection ends in mid-run: after 20 answers.
    let answers = Arc::new(AtomicU64::new(0));
    let answered = Arc::clone(&answers);
    let relay = udp_server(
        Ipv4Addr::LOCALHOST.into(),
        move |socket, number, bytes, peer| {
            std::thread::sleep(Duration::from_millis(20));
            let _ = socket.send_to(bytes, peer);
            answered.store(number + 1, Ordering::SeqCst);
        },
    );
    let ending = proxy(move |mut stream, _, _| {
        write(&mut stream, &reply(0, relay));
        while answers.load(Ordering::SeqCst) < 20 {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mut spec_control = spec("udp", ending);
    spec_control["count"] = json!(100_000);
    let outcome = &server.measure(&spec_control)["outcome"];
    assert_eq!(outcome["stopped"], "control_closed", "{outcome}");
    assert!(outcome["succeeded"].as_u64().unwrap() > 0);

    let direct = json!({"kind": "udp", "target": nobody().to_string(), "count": 20});
    fails(&server, &direct, "connection_refused");
}

/// A relay that answers every `nth` datagram from a second port.
fn relay_with_two_ports(nth: u64) -> (SocketAddr, SocketAddr) {
    let other = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let second = other.local_addr().unwrap();
    let relay = udp_server(
        Ipv4Addr::LOCALHOST.into(),
        move |socket, number, bytes, peer| {
            let from = if number % nth == 0 { &other } else { socket };
            let _ = from.send_to(bytes, peer);
        },
    );
    (relay, second)
}

#[test]
fn answers_from_another_address_than_the_relay_are_counted_and_named() {
    let root = Root::new();
    let server = root.serve();
    let (relay, second) = relay_with_two_ports(4);
    // An answer from elsewhere is lost to its datagram, which waits for the timeout.
    let mut some = hasty(spec("udp", udp_proxy(relay)), &[("timeout_ms", 2_000)]);
    some["window"] = json!(8);
    let outcome = &server.measure(&some)["outcome"];
    assert_eq!(outcome["anomalies"]["other_source"], 5, "{outcome}");
    assert_eq!(outcome["other_source"], second.to_string());
    assert_eq!(outcome["succeeded"], 15, "{outcome}");

    let (relay, second) = relay_with_two_ports(1);
    let mut all = hasty(spec("udp", udp_proxy(relay)), &[("stall_ms", 700)]);
    all["warmup"] = json!(5);
    fails(&server, &all, "other_source");
    let message = server.measure(&all)["error"]["message"].to_string();
    assert!(message.contains(&second.to_string()), "{message}");
}

/// Sends one byte at a time, so that each wait for the next byte is short.
fn trickle(mut stream: &std::net::TcpStream, bytes: &[u8]) {
    for byte in bytes {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_peer_that_trickles_holds_nothing_up() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let mut long = vec![5, 0, 0, 3, 255];
        long.extend([b'a'; 257]);
        let slow_reply = proxy(move |stream, _, _| trickle(&stream, &long));
        for kind in ["tcp", "handshake", "udp"] {
            let began = Instant::now();
            let soon = hasty(spec(kind, slow_reply), &[("handshake_timeout_ms", 500)]);
            fails(&server, &soon, "timeout");
            // Without a limit, each takes 13 s.
            timely(began.elapsed() < Duration::from_secs(9), kind);
        }
        let slow_echo = tcp_server(|mut stream| {
            let mut request = vec![0; 1_024];
            while stream.read_exact(&mut request).is_ok() {
                trickle(&stream, &request);
            }
        });
        for wait in ["block", "spin"] {
            let began = Instant::now();
            let probe = server.measure(
                &json!({"kind": "tcp", "target": slow_echo.to_string(), "count": 2,
            "timeout_ms": 300, "wait": wait}),
            );
            assert_eq!(probe["outcome"]["errors"], json!({"timeout": 2}), "{probe}");
            // Without a limit, the answer takes 51 s.
            timely(began.elapsed() < Duration::from_secs(20), wait);
            let probe = server.measure(
                &json!({"kind": "tcp", "target": slow_echo.to_string(), "count": 2,
            "timeout_ms": 8_000, "limit_s": 2, "wait": wait}),
            );
            assert_eq!(probe["outcome"]["stopped"], "limit", "{probe}");
            assert_eq!(probe["outcome"]["errors"], json!({"timeout": 1}), "{probe}");
        }
    });
}

#[test]
fn an_answer_after_the_timeout_is_no_success() {
    let root = Root::new();
    let server = root.serve();
    let slow = tcp_echo(Duration::from_millis(420));
    for (wait, connections) in [("block", 1), ("spin", 1), ("block", 2), ("yield", 2)] {
        let probe = server.measure(
            &json!({"kind": "tcp", "target": slow.to_string(), "count": 2,
            "timeout_ms": 350, "wait": wait, "connections": connections}),
        );
        assert_eq!(probe["outcome"]["errors"], json!({"timeout": 2}), "{probe}");
    }
}
