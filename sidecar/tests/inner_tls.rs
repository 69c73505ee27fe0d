//! TLS inside a tunnel: what its session negotiated, the far end's counts, and faults on the way.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use common::network::*;
use common::{Root, Server};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn tls_echo(server: &Server) -> Value {
    let (status, answer) = server.post("/echoes", r#"{"tls": true}"#);
    assert_eq!(status, 201, "{answer}");
    answer
}

/// A SOCKS5 proxy that changes one bit of a tunnel's downward bytes, at this position.
fn relay(flip: Option<usize>) -> SocketAddr {
    proxy(move |mut near, _, address| {
        let far = TcpStream::connect(&address).unwrap();
        write(&mut near, &reply(0, any_address()));
        let (from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut &from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let (mut bytes, mut passed) = (vec![0; 64 << 10], 0);
        while let Ok(count @ 1..) = (&far).read(&mut bytes) {
            if let Some(at) = flip.filter(|at| (passed..passed + count).contains(at)) {
                bytes[at - passed] ^= 1;
            }
            passed += count;
            if near.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = near.shutdown(Shutdown::Both);
    })
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
        (Some(relay(None)), "down"),
        (Some(relay(None)), "up"),
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
    let mut handshake = transfer(&echo, Some(relay(None)), "down");
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
    let changed = relay(Some((MIB + MIB / 2) as usize));
    let probe = server.measure(&transfer(&echo, Some(changed), "down"));
    assert_eq!(probe["outcome"]["errors"], json!({"tls": 1}), "{probe}");
    let probe = server.measure(&transfer(&echo, Some(relay(Some(100))), "down"));
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
