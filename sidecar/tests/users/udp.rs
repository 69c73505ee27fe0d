//! Users' datagrams, against a strict server that shares no code with the probe.

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, UdpSocket};

use aes::Aes256;
use aes::cipher::BlockCipherEncrypt;

use super::*;
use crate::common::network::{read_vec, udp_server};

const PAYLOAD: u64 = 1_000;

/// The far end's answer to a datagram.
fn answer_of(target: SocketAddr, request: &[u8], fault: Fault) -> Vec<u8> {
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.send_to(request, target).unwrap();
    let mut answer = vec![0; 2_000];
    let (count, from) = far.recv_from(&mut answer).unwrap();
    assert_eq!(from, target);
    answer.truncate(count);
    if fault == Fault::Flips {
        *answer.last_mut().unwrap() ^= 1;
    }
    answer
}

fn address(port: u16) -> Vec<u8> {
    [&[1, 127, 0, 0, 1], &port.to_be_bytes()[..]].concat()
}

fn length(bytes: &[u8]) -> [u8; 2] {
    (bytes.len() as u16).to_be_bytes()
}

fn open(Seal(key, _): Seal, nonce: [u8; NONCE_LEN], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, mut sealed) = (Nonce::assume_unique_for_key(nonce), sealed.to_vec());
    let plain = key.open_in_place(nonce, Aad::empty(), &mut sealed).ok()?;
    Some(plain.to_vec())
}

fn seal(Seal(key, _): Seal, nonce: [u8; NONCE_LEN], plain: &[u8]) -> Vec<u8> {
    let (nonce, mut sealed) = (Nonce::assume_unique_for_key(nonce), plain.to_vec());
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut sealed)
        .unwrap();
    sealed
}

/// Reads each packet to the last byte. `Elsewhere`: answers name another port.
fn strict(kind: Kind, target: SocketAddr, fault: Fault) -> SocketAddr {
    let port = target.port();
    let (to, from) = (
        address(port),
        address(if fault == Fault::Elsewhere { 9 } else { port }),
    );
    match kind {
        Kind::Vless => tcp_server(move |mut stream| {
            let id = hex(&UUID.replace('-', ""));
            let head = [&[0], &id[..], &[0, 2], &to[5..], &to[..5]].concat();
            if read::<26>(&mut stream)[..] != head {
                return;
            }
            for answers in 0.. {
                let count = u16::from_be_bytes(read(&mut stream));
                let request = read_vec(&mut stream, count.into());
                let answer = answer_of(target, &request, fault);
                if answers == 0 {
                    write(&mut stream, &[0, 2, 7, 7]);
                }
                write(&mut stream, &[&length(&answer)[..], &answer].concat());
            }
        }),
        Kind::Trojan => tcp_server(move |mut stream| {
            let head = [&TROJAN[..], b"\r\n\x03", &to, b"\r\n"].concat();
            if read::<68>(&mut stream)[..] != head {
                return;
            }
            loop {
                assert_eq!(read::<7>(&mut stream)[..], to);
                let count = u16::from_be_bytes(read(&mut stream));
                assert_eq!(read::<2>(&mut stream), *b"\r\n");
                let request = read_vec(&mut stream, count.into());
                let answer = answer_of(target, &request, fault);
                let packet = [&from[..], &length(&answer), b"\r\n", &answer].concat();
                write(&mut stream, &packet);
            }
        }),
        Kind::Aead => {
            let mut salts = HashSet::new();
            udp_server(
                Ipv4Addr::LOCALHOST.into(),
                move |socket, _, packet, peer| {
                    let (salt, sealed) = packet.split_at(32);
                    let Some(plain) = open(session(kind, salt), [0; NONCE_LEN], sealed) else {
                        return;
                    };
                    assert!(salts.insert(salt.to_vec()), "a salt came twice");
                    assert_eq!(plain[..7], to);
                    let plain = [&from[..], &answer_of(target, &plain[7..], fault)].concat();
                    let sealed = seal(session(kind, &[9; 32]), [0; NONCE_LEN], &plain);
                    let packet = [&[9; 32], &sealed[..]].concat();
                    socket.send_to(&packet, peer).unwrap();
                },
            )
        }
        Kind::Of2022 => {
            let mut sessions: HashMap<Vec<u8>, u64> = HashMap::new();
            udp_server(
                Ipv4Addr::LOCALHOST.into(),
                move |socket, _, packet, peer| {
                    let own = Aes256::new(&[0; 32].into());
                    let mut block: [u8; 16] = packet[..16].try_into().unwrap();
                    own.decrypt_block((&mut block).into());
                    let mut identity: [u8; 16] = packet[16..32].try_into().unwrap();
                    own.decrypt_block((&mut identity).into());
                    let user = identity.iter().zip(block).map(|(own, of)| own ^ of);
                    if !user.eq(blake3::hash(&[1; 32]).as_bytes()[..16].iter().copied()) {
                        return;
                    }
                    let (id, number) = block.split_at(8);
                    let next = sessions.entry(id.to_vec()).or_default();
                    assert_eq!(number, next.to_be_bytes());
                    *next += 1;
                    let nonce = block[4..].try_into().unwrap();
                    let plain = open(session(kind, id), nonce, &packet[32..]).unwrap();
                    assert_eq!(plain[0], 0);
                    let stamp = u64::from_be_bytes(plain[1..9].try_into().unwrap());
                    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
                    assert!(stamp.abs_diff(now) <= 30, "{stamp} at {now}");
                    let padding = usize::from(u16::from_be_bytes([plain[9], plain[10]]));
                    let plain = &plain[11 + padding..];
                    assert_eq!(plain[..7], to);
                    let answer = answer_of(target, &plain[7..], fault);
                    let stamp = now.to_be_bytes();
                    let plain = [&[1], &stamp[..], id, &[0, 3, 5, 5, 5], &from, &answer].concat();
                    let mut block: [u8; 16] = [&[9; 8], number].concat().try_into().unwrap();
                    let nonce = block[4..].try_into().unwrap();
                    let sealed = seal(session(kind, &[9; 8]), nonce, &plain);
                    Aes256::new(&[1; 32].into()).encrypt_block((&mut block).into());
                    let packet = [&block[..], &sealed].concat();
                    socket.send_to(&packet, peer).unwrap();
                },
            )
        }
    }
}

/// Datagrams of the users at these places of the list.
fn probe_of(kind: Kind, proxy: SocketAddr, target: SocketAddr, places: &[usize]) -> Value {
    let mut users = users(kind, proxy);
    let some = places.iter().map(|place| users["list"][*place].clone());
    users["list"] = some.collect();
    users["udp"] = json!(true);
    json!({"kind": "users", "target": target, "connections": 2, "payload_bytes": PAYLOAD,
        "timeout_ms": patient_ms(5_000), "users": users})
}

fn far_end(server: &Server) -> SocketAddr {
    let (_, answer) = server.post("/echoes", r#"{"engine": "events"}"#);
    answer["udp"].as_str().unwrap().parse().unwrap()
}

#[test]
fn datagrams_of_right_keys_carry_and_of_a_wrong_key_do_not() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    for kind in ALL {
        let proxy = strict(kind, target, Fault::None);
        let right = server.measure(&probe_of(kind, proxy, target, &[0, 2]));
        let outcome = &right["outcome"];
        for (at, bytes) in [(0, 1), (1, 100_000)] {
            let one = all_of(&outcome["users"][at], &["carried", "sent", "received"]);
            assert_eq!(one, json!([true, bytes, bytes]), "{right}");
        }
        for way in ["up", "down"] {
            let count = |of: &str| outcome["far_end"][format!("{of}_{way}")].clone();
            let exactly = |count: u64| json!({"least": count, "most": count, "found": count});
            assert_eq!(count("datagrams"), exactly(101), "{right}");
            assert_eq!(count("bytes"), exactly(100_001), "{right}");
        }
        // Shadowsocks refuses by silence, which takes the whole time.
        let mut wrong = probe_of(kind, proxy, target, &[1]);
        wrong["timeout_ms"] = json!(300);
        let wrong = server.measure(&wrong);
        let nobody = all_of(&wrong["outcome"]["users"][0], &["carried", "received"]);
        assert_eq!(nobody, json!([false, 0]), "{wrong}");
        let arrived = &wrong["outcome"]["far_end"]["datagrams_up"]["found"];
        assert_eq!(arrived, 0, "{wrong}");
    }
}

#[test]
fn an_answer_with_a_wrong_byte_or_of_another_source_is_found() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    for kind in ALL {
        for (fault, name) in [
            (Fault::Flips, "corrupted"),
            (Fault::Elsewhere, "other_source"),
        ] {
            // VLESS does not tell the source.
            if (kind, fault) == (Kind::Vless, Fault::Elsewhere) {
                continue;
            }
            let proxy = strict(kind, target, fault);
            let probe = server.measure(&probe_of(kind, proxy, target, &[0, 2]));
            assert_eq!(probe["outcome"]["errors"], json!({name: 2}), "{probe}");
        }
    }
}

#[test]
fn datagrams_that_no_probe_has_are_refused() {
    let root = Root::new();
    let server = root.serve();
    let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
    let mut right = probe_of(Kind::Vless, nobody, nobody, &[1]);
    right["users"]["until"] = Value::Null;
    right["connections"] = json!(1);
    for (path, value, named) in [
        ("/kind", json!("steady"), "users.udp"),
        (
            "/users/until",
            json!({"carries": true, "every_ms": 10}),
            "users.udp",
        ),
        ("/payload_bytes", json!(16_001), "payload_bytes"),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(path).unwrap() = value;
        let (status, answer) = server.post("/probes", &wrong.to_string());
        assert_eq!(status, 422, "{answer}");
        assert!(
            answer["error"].as_str().unwrap().contains(named),
            "{answer}"
        );
    }
}
