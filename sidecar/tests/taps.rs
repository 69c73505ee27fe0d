//! Taps pass on connections and datagrams, whole and both ways, and report the text that could be read.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use crate::common::network::{tcp_server, udp_echo};
use crate::common::{Root, Server, eventually};
use serde_json::{Value, json};

fn start(server: &Server, request: Value) -> (String, SocketAddr) {
    let (status, tap) = server.post("/taps", &request.to_string());
    assert_eq!(status, 201, "{tap}");
    let address = tap["address"].as_str().unwrap().parse().unwrap();
    (format!("/taps/{}", tap["id"].as_str().unwrap()), address)
}

fn pass_to(server: &Server, tap: &str, target: SocketAddr) {
    let (status, answer) = server.post(tap, &json!({"target": target}).to_string());
    assert_eq!(status, 200, "{answer}");
}

/// A probe of the sidecar itself, through the tap to its own far end.
fn probe(server: &Server, kind: &str, address: SocketAddr) -> Value {
    let spec = json!({"kind": kind, "target": address, "count": 100, "payload_bytes": 64});
    let probe = server.measure(&spec);
    assert_eq!(probe["state"], "done", "{probe}");
    probe["outcome"].clone()
}

#[test]
fn probes_through_a_tap_succeed_and_their_payload_is_seen() {
    let root = Root::new();
    let server = root.serve();
    for kind in ["tcp", "udp"] {
        let (_, echo) = server.post("/echoes", "{}");
        let (tap, address) = start(&server, json!({}));
        pass_to(&server, &tap, echo[kind].as_str().unwrap().parse().unwrap());
        let outcome = probe(&server, kind, address);
        assert_eq!(outcome["succeeded"], 100, "{kind}: {outcome}");
        let (_, found) = server.delete(&tap);
        assert_eq!(found["payload"], true, "{kind}: {found}");
        assert_eq!(found["request"], false, "{kind}: {found}");
        assert!(found["bytes"].as_u64().unwrap() >= 2 * 100 * 64, "{found}");
    }
}

#[test]
fn all_is_passed_on_whole_to_the_end_and_what_came_early_waits() {
    let root = Root::new();
    let server = root.serve();
    let far: SocketAddr = "127.0.0.1:4660".parse().unwrap();
    let (tap, address) = start(&server, json!({"far": [far]}));
    let mut client = TcpStream::connect(address).unwrap();
    client
        .write_all(b"CONNECT 127.0.0.1:4660 HTTP/1.1\r\n\r\n")
        .unwrap();
    let sent: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
    let all = sent.clone();
    let writer = {
        let mut client = client.try_clone().unwrap();
        std::thread::spawn(move || {
            client.write_all(&all).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
        })
    };
    // The target answers only after the client's end has come.
    let target = tcp_server(|mut stream| {
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        stream.write_all(&text).unwrap();
    });
    pass_to(&server, &tap, target);
    let mut back = Vec::new();
    client.read_to_end(&mut back).unwrap();
    writer.join().unwrap();
    assert!(
        back.ends_with(&sent) && back.len() == sent.len() + 35,
        "{}",
        back.len()
    );
    let (_, found) = server.delete(&tap);
    assert_eq!(found["request"], true);
    assert_eq!(found["payload"], false);
    assert_eq!(found["bytes"], 2 * (sent.len() + 35));
}

#[test]
fn each_sender_of_datagrams_gets_its_own_answers() {
    let root = Root::new();
    let server = root.serve();
    let (tap, address) = start(&server, json!({}));
    pass_to(&server, &tap, udp_echo(Duration::ZERO));
    let sockets: Vec<UdpSocket> = (0..3)
        .map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
        .collect();
    for (number, socket) in sockets.iter().enumerate() {
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        socket.send_to(&[number as u8; 1_200], address).unwrap();
    }
    for (number, socket) in sockets.iter().enumerate() {
        let mut answer = [0; 2_000];
        let (count, from) = socket.recv_from(&mut answer).unwrap();
        assert_eq!((count, from), (1_200, address));
        assert_eq!(answer[0], number as u8);
    }
}

#[test]
fn a_tap_that_ended_leaves_nothing() {
    let root = Root::new();
    let server = root.serve();
    let (tap, address) = start(&server, json!({}));
    let mut client = TcpStream::connect(address).unwrap();
    assert_eq!(server.delete(&tap).0, 200);
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    assert!(matches!(client.read(&mut [0]), Ok(0) | Err(_)));
    eventually("the port is free", || {
        std::net::TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
    });
    assert_eq!(server.delete(&tap).0, 404);
}

#[test]
fn a_target_elsewhere_is_refused() {
    let root = Root::new();
    let server = root.serve();
    let (tap, _) = start(&server, json!({}));
    let (status, answer) = server.post(&tap, r#"{"target": "192.0.2.1:80"}"#);
    assert_eq!(status, 422);
    assert!(
        answer["error"]
            .as_str()
            .unwrap()
            .starts_with("target: 192.0.2.1:80"),
        "{answer}"
    );
}
