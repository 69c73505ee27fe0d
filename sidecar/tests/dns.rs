//! The DNS probe and the authoritative server, against each other and against servers whose answers are known.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::network::udp_server;
use crate::common::{Root, Server, patient_ms, timely, undisturbed};
use serde_json::{Value, json};
use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};

fn start(server: &Server, request: Value) -> Value {
    let (status, answer) = server.post("/echoes", &request.to_string());
    assert_eq!(status, 201, "{answer}");
    answer
}

/// Measures over an authoritative server with these faults. Returns the outcome and the server's counts.
fn measure(server: &Server, faults: Value, mut spec: Value) -> (Value, Value) {
    let echo = start(server, json!({"dns": {}, "faults": faults}));
    spec["kind"] = json!("dns");
    spec["target"] = echo["udp"].clone();
    let probe = server.measure(&spec);
    assert_eq!(probe["state"], "done", "{probe}");
    let id = echo["id"].as_str().unwrap();
    let (_, counted) = server.delete(&format!("/echoes/{id}"));
    (probe["outcome"].clone(), counted)
}

fn p50_ms(outcome: &Value) -> f64 {
    outcome["series"][0]["p50_ns"].as_f64().unwrap() / 1e6
}

#[test]
fn every_query_is_asked_answered_and_counted() {
    let root = Root::new();
    let server = root.serve();
    for (window, names) in [(1, Value::Null), (32, Value::Null), (32, json!(10))] {
        let spec = json!({"count": 2_000, "warmup": 50, "window": window,
            "dns": {"run": "r1", "names": names}});
        let (outcome, counted) = measure(&server, Value::Null, spec);
        assert_eq!(outcome["succeeded"], 2_000, "{outcome}");
        assert_eq!(outcome["errors"], json!({}));
        assert_eq!(counted["dns_queries"], 2_050);
        assert_eq!(counted["dns_nxdomain"], 0);
    }
}

#[test]
fn what_the_server_does_wrong_comes_back_as_the_truth() {
    undisturbed(|| {
        let root = Root::new();
        let server = root.serve();
        let spec = |more: Value| {
            let mut spec = json!({"count": 1_000, "window": 20, "timeout_ms": patient_ms(400)});
            for (key, value) in more.as_object().unwrap() {
                spec[key] = value.clone();
            }
            spec
        };
        let delay = json!({"delay_ms": 60});
        let (late, _) = measure(&server, delay.clone(), spec(json!({"count": 100})));
        assert_eq!(late["succeeded"], 100);
        assert!(p50_ms(&late) >= 59.0, "{late}");
        timely(p50_ms(&late) < 100.0, late.to_string());
        // One query goes out every 60 ms, and does not wait for the others.
        let open = json!({"count": 20, "loop": {"open": {"rate_per_s": 1_000.0 / 60.0}}});
        let (paced, _) = measure(&server, delay, spec(open));
        assert_eq!(paced["series"][1]["name"], "lateness");
        assert!(p50_ms(&paced) >= 59.0, "{paced}");
        timely(p50_ms(&paced) < 100.0, paced.to_string());
        assert!(paced["duration_s"].as_f64().unwrap() >= 19.0 * 0.06);

        // Faults are exact for each thousand.
        let (holed, _) = measure(
            &server,
            json!({"loss": 0.1}),
            spec(json!({"warmup": 1_000, "timeout_ms": patient_ms(1_000)})),
        );
        assert_eq!(holed["warmup_failed"], 100);
        assert_eq!(holed["errors"], json!({"lost": 100}));
        assert_eq!(holed["succeeded"], 900);
        let patient = spec(json!({"timeout_ms": 5_000}));
        // The last byte of an answer belongs to its address.
        let (wrong, _) = measure(&server, json!({"corrupt": 0.1}), patient.clone());
        assert_eq!(wrong["errors"], json!({"corrupted": 100}));
        let (twice, _) = measure(&server, json!({"duplicate": 0.1}), patient);
        assert_eq!(twice["anomalies"], json!({"duplicated": 100}));
    });
}

type Change = fn(&mut Packet);

/// A server whose answers `change` alters, and the names in its queries.
fn answering(change: Change) -> (SocketAddr, Arc<Mutex<BTreeSet<String>>>) {
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let names = Arc::clone(&asked);
    let address = udp_server(Ipv4Addr::LOCALHOST.into(), move |socket, _, bytes, peer| {
        let mut message = Packet::parse(bytes).unwrap().into_reply();
        let name = message.questions[0].qname.to_string();
        names.lock().unwrap().insert(name);
        change(&mut message);
        let _ = socket.send_to(&message.build_bytes_vec().unwrap(), peer);
    });
    (address, asked)
}

#[test]
fn answers_that_are_none_have_their_names() {
    let root = Root::new();
    let server = root.serve();
    let all: [(Change, &str); 5] = [
        (|m| *m.rcode_mut() = RCODE::NameError, "dns_nxdomain"),
        (|m| *m.rcode_mut() = RCODE::ServerFailure, "dns_servfail"),
        (|m| *m.rcode_mut() = RCODE::Refused, "dns_refused"),
        (|m| *m.rcode_mut() = RCODE::NotImplemented, "dns_other"),
        // An answer without an address.
        (|_| {}, "corrupted"),
    ];
    for (change, kind) in all {
        let (target, asked) = answering(change);
        let probe = server.measure(
            &json!({"kind": "dns", "target": target.to_string(), "count": 50, "window": 4,
            "dns": {"run": "r9", "names": 7}}),
        );
        assert_eq!(probe["outcome"]["errors"], json!({kind: 50}), "{probe}");
        let names = asked.lock().unwrap();
        assert_eq!(names.len(), 7);
        assert!(names.contains("n0000000006.r9.windtunnel.test"));
    }
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let probe = server.measure(&json!({"kind": "dns", "count": 10, "stall_ms": 200,
        "target": silent.local_addr().unwrap().to_string()}));
    assert_eq!(probe["outcome"]["stopped"], "stalled", "{probe}");
}

fn query(name: &str, kind: TYPE) -> Vec<u8> {
    let mut message = Packet::new_query(7);
    let (kind, class) = (QTYPE::TYPE(kind), QCLASS::CLASS(CLASS::IN));
    let question = Question::new(Name::new(name).unwrap(), kind, class, false);
    message.questions.push(question);
    message.build_bytes_vec().unwrap()
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes(), message].concat()
}

fn read(stream: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).unwrap();
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut message).unwrap();
    message
}

#[test]
fn the_server_knows_its_zone_over_tcp_too() {
    let root = Root::new();
    let server = root.serve();
    let echo = start(&server, json!({"dns": {"ttl_s": 17}}));
    let mut stream = TcpStream::connect(echo["tcp"].as_str().unwrap()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let name = "n0000000001.r1.windtunnel.test.";
    let asked = [
        query(name, TYPE::A),
        query(name, TYPE::AAAA),
        query("elsewhere.test.", TYPE::A),
    ]
    .map(|message| framed(&message))
    .concat();
    // In pieces that are not whole messages.
    for piece in asked.chunks(asked.len() / 2) {
        stream.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let [first, second, third] = [(); 3].map(|()| read(&mut stream));
    let answer = Packet::parse(&first).unwrap();
    assert!(answer.has_flags(PacketFlag::AUTHORITATIVE_ANSWER));
    assert_eq!((answer.id(), answer.answers.len()), (7, 1));
    assert_eq!(answer.answers[0].ttl, 17);
    let RData::A(address) = &answer.answers[0].rdata else {
        panic!("{answer:?}");
    };
    assert!(Ipv4Addr::from(address.address).is_loopback());
    let empty = Packet::parse(&second).unwrap();
    assert_eq!(empty.rcode(), RCODE::NoError);
    assert!(empty.answers.is_empty());
    assert_eq!(Packet::parse(&third).unwrap().rcode(), RCODE::NameError);
    let id = echo["id"].as_str().unwrap();
    let (_, counted) = server.get(&format!("/echoes/{id}"));
    assert_eq!(
        (&counted["dns_queries"], &counted["dns_nxdomain"]),
        (&json!(3), &json!(1))
    );
    // Bytes that are not a query end the connection.
    stream.write_all(&framed(b"nonsense")).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0);
}

#[test]
fn what_cannot_be_asked_is_refused_in_one_line() {
    let root = Root::new();
    let server = root.serve();
    let base = json!({"kind": "dns", "target": "127.0.0.1:9"});
    for (field, value, line) in [
        ("kind", json!("tcp"), "dns: a tcp probe has none"),
        ("dns", json!({"run": "a.b"}), "dns.run: \"a.b\" is no label"),
        ("dns", json!({"run": "a", "names": 0}), "dns.names: 0"),
        ("window", json!(5_000), "window: 5000 is out of bounds"),
        ("connections", json!(2), "connections: 2 is out of bounds"),
    ] {
        let mut spec = base.clone();
        spec["dns"] = json!({"run": "r1"});
        spec[field] = value;
        let (status, answer) = server.post("/probes", &spec.to_string());
        assert_eq!(status, 422, "{answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with(line), "{error}");
    }
}
