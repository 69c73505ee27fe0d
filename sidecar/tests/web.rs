//! Fetches by HTTP/2 and HTTP/3: the bytes that arrive, their time if it is known, and faults on the way.

use std::net::{SocketAddr, UdpSocket};

use crate::common::network::*;
use crate::common::{Root, Server, patient_ms, timely, undisturbed};
use serde_json::{Value, json};

const DELAY_MS: u64 = 120;
const KINDS: [(&str, &str); 2] = [("h2", "tcp"), ("h3", "udp")];

fn far_end(server: &Server, faults: Value) -> Value {
    let request = json!({"web": true, "faults": faults});
    let (status, answer) = server.post("/echoes", &request.to_string());
    assert_eq!(status, 201, "{answer}");
    answer
}

/// A SOCKS5 proxy whose relay passes on the datagrams that `carried` makes of one.
fn relay(carried: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> SocketAddr {
    let carried = std::sync::Arc::new(carried);
    proxy(move |mut control, _, _| {
        let near = UdpSocket::bind("127.0.0.1:0").unwrap();
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        write(&mut control, &reply(0, near.local_addr().unwrap()));
        let (up, out) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        let (carries, carried) = (carried.clone(), carried.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 65_535];
            while let Ok((count, client)) = up.recv_from(&mut bytes) {
                up.connect(client).unwrap();
                let port = u16::from_be_bytes([bytes[8], bytes[9]]);
                if let Some(payload) = carries(&bytes[10..count]) {
                    out.send_to(&payload, ("127.0.0.1", port)).unwrap();
                }
            }
        });
        std::thread::spawn(move || {
            let mut bytes = [0; 65_535];
            while let Ok((count, from)) = far.recv_from(&mut bytes) {
                if let Some(payload) = carried(&bytes[..count]) {
                    let mut datagram = vec![0, 0, 0, 1, 127, 0, 0, 1];
                    datagram.extend(from.port().to_be_bytes());
                    datagram.extend(payload);
                    let _ = near.send(&datagram);
                }
            }
        });
        silent(control);
    })
}

fn fetch(server: &Server, spec: Value) -> Value {
    let probe = server.measure(&spec);
    assert_eq!(probe["state"], "done", "{probe}");
    probe["outcome"].clone()
}

fn p50_ms(outcome: &Value, name: &str) -> f64 {
    let all = outcome["series"].as_array().unwrap();
    let found = all.iter().find(|series| series["name"] == name).unwrap();
    found["p50_ns"].as_f64().unwrap() / 1e6
}

#[test]
fn each_byte_arrives_and_the_far_end_counts_it() {
    let root = Root::new();
    let server = root.serve();
    let echo = far_end(&server, json!({}));
    let through = relay(|payload| Some(payload.to_vec()));
    for (kind, port) in KINDS {
        let proxies = if kind == "h3" {
            vec![Value::Null, json!({"address": through.to_string()})]
        } else {
            vec![Value::Null]
        };
        for proxy in proxies {
            let spec = json!({"kind": kind, "target": echo[port], "proxy": proxy, "count": 2, "timeout_ms": patient_ms(20_000),
                "fetch": {"bytes": 100_001, "objects": 5}});
            let outcome = fetch(&server, spec);
            assert_eq!(outcome["succeeded"], 2, "{outcome}");
            assert_eq!(outcome["bytes"], 1_000_010);
            let exactly = |count: u64| json!({"least": count, "most": count, "found": count});
            let far_end = &outcome["far_end"];
            assert_eq!(far_end["connections"], exactly(2), "{outcome}");
            assert_eq!(far_end["bytes_up"], exactly(10 * 16), "{outcome}");
            assert_eq!(far_end["bytes_down"], exactly(1_000_010), "{outcome}");
            if kind == "h3" {
                let [least, most] = [
                    &outcome["quic"]["mtu_down"][0],
                    &outcome["quic"]["mtu_down"][1],
                ];
                assert!(
                    least.as_u64() >= Some(1_200) && most.as_u64() <= Some(1_452),
                    "{outcome}"
                );
            }
        }
    }
}

#[test]
fn a_delay_of_the_far_end_is_in_each_step_after_the_handshake() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let echo = far_end(&server, json!({"delay_ms": DELAY_MS}));
        for (kind, port) in KINDS {
            let spec = json!({"kind": kind, "target": echo[port], "count": 3, "fetch": {"bytes": 1_000, "objects": 4}});
            let outcome = fetch(&server, spec);
            let connected = p50_ms(&outcome, "connected");
            let document = p50_ms(&outcome, "first_object") - connected;
            let others = p50_ms(&outcome, "total") - connected - document;
            for ms in [document, others] {
                let right = (0.9..1.25).contains(&(ms / DELAY_MS as f64));
                timely(right, format!("{kind}: {ms} ms is not {DELAY_MS} ms"));
            }
            timely(
                connected < DELAY_MS as f64 / 2.0,
                format!("{kind}: {connected} ms"),
            );
        }
    });
}

#[test]
fn a_relay_that_drops_what_quic_needs_is_named() {
    let root = Root::new();
    let server = root.serve();
    let echo = far_end(&server, json!({}));
    let drops = relay(|payload| (payload.len() < 1_195).then(|| payload.to_vec()));
    let spec = json!({"kind": "h3", "target": echo["udp"], "proxy": {"address": drops.to_string()}, "count": 1,
        "handshake_timeout_ms": 1_500});
    let probe = server.measure(&spec);
    assert_eq!(probe["error"]["kind"], "timeout", "{probe}");
    let message = probe["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("datagrams of 1,200 bytes") && message.ends_with("none was answered"),
        "{message}"
    );
}

#[test]
fn discovery_stays_below_what_the_relay_drops() {
    let root = Root::new();
    let server = root.serve();
    let echo = far_end(&server, json!({}));
    let drops = relay(|payload| (payload.len() <= 1_300).then(|| payload.to_vec()));
    let spec = json!({"kind": "h3", "target": echo["udp"], "proxy": {"address": drops.to_string()}, "count": 1,
        "timeout_ms": patient_ms(20_000), "fetch": {"bytes": 1_000_000}});
    let outcome = fetch(&server, spec);
    assert_eq!(outcome["succeeded"], 1, "{outcome}");
    for way in ["mtu_up", "mtu_down"] {
        let found = outcome["quic"][way][1].as_u64();
        assert!(found >= Some(1_200) && found <= Some(1_300), "{outcome}");
    }
}

#[test]
fn corrupted_datagrams_are_sent_again_and_never_taken() {
    let root = Root::new();
    let server = root.serve();
    let echo = far_end(&server, json!({}));
    let count = std::sync::atomic::AtomicU64::default();
    let spoils = relay(move |payload| {
        let mut payload = payload.to_vec();
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 20 == 19 {
            let middle = payload.len() / 2;
            payload[middle] ^= 1;
        }
        Some(payload)
    });
    let spec = json!({"kind": "h3", "target": echo["udp"], "proxy": {"address": spoils.to_string()}, "count": 2,
        "timeout_ms": patient_ms(20_000), "mtu": 1_250, "fetch": {"bytes": 200_000}});
    let outcome = fetch(&server, spec);
    assert_eq!(outcome["succeeded"], 2, "{outcome}");
    assert_eq!(
        outcome["far_end"]["bytes_down"]["found"], 400_000,
        "{outcome}"
    );
    for way in ["mtu_up", "mtu_down"] {
        assert_eq!(outcome["quic"][way][1], 1_250, "{outcome}");
    }
}

#[test]
fn another_web_server_and_other_faults_are_refused() {
    let root = Root::new();
    let server = root.serve();
    let (status, answer) = server.post("/echoes", r#"{"web": true, "faults": {"loss": 0.1}}"#);
    assert_eq!(status, 422, "{answer}");
    // Its certificate is not the one of this process.
    let other = root.serve();
    let echo = far_end(&other, json!({}));
    for (kind, port) in KINDS {
        let probe = server.measure(&json!({"kind": kind, "target": echo[port], "count": 1}));
        assert_eq!(probe["error"]["kind"], "tls", "{probe}");
    }
    let (status, answer) = server.post(
        "/probes",
        &json!({"kind": "h3", "target": echo["udp"], "fetch": {"objects": 4, "tunnels": 2}})
            .to_string(),
    );
    assert_eq!(status, 422, "{answer}");
}
