//! Users' connections, against a strict server that shares no code with the probe.

mod udp;

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::network::{read, tcp_echo, tcp_server, write};
use crate::common::{Root, Server, patient_ms};
use aes::cipher::{BlockCipherDecrypt, KeyInit};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::{aead, hkdf};
use serde_json::{Value, json};

const UUID: &str = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
/// SHA-224 of "correct", from sha224sum.
const TROJAN: &[u8; 56] = b"6af85219ad38647ef723dffa2d25e904612e806151eb9f52870c4bff";
/// EVP_BytesToKey of "correct": its MD5, and the MD5 of that and "correct", from md5sum.
const AEAD: &str = "e5d7cffe25654f7e3a1e334118c7154987c3d3a2ac4937221e04bf68f0bd8e2a";
/// When the server `turning` turns.
const TURNS_AFTER: Duration = Duration::from_millis(300);
/// 32 bytes of 0, and 32 of 1.
const SERVER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const USER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Vless,
    Trojan,
    Aead,
    Of2022,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The last byte of an answer is another one.
    Flips,
    /// The connection ends after three answers.
    Drops,
    /// An answer to a datagram names another source.
    Elsewhere,
}

struct Seal(LessSafeKey, u64);

impl Seal {
    fn new(algorithm: &'static aead::Algorithm, key: &[u8]) -> Self {
        Self(
            LessSafeKey::new(UnboundKey::new(algorithm, key).unwrap()),
            0,
        )
    }

    fn nonce(&mut self) -> Nonce {
        let mut nonce = [0; NONCE_LEN];
        nonce[..8].copy_from_slice(&self.1.to_le_bytes());
        self.1 += 1;
        Nonce::assume_unique_for_key(nonce)
    }

    fn read(&mut self, stream: &mut TcpStream, length: usize) -> Option<Vec<u8>> {
        let mut sealed = vec![0; length + 16];
        stream.read_exact(&mut sealed).ok()?;
        let nonce = self.nonce();
        let plain = self.0.open_in_place(nonce, Aad::empty(), &mut sealed);
        plain.ok().map(|plain| plain.to_vec())
    }

    fn write(&mut self, stream: &mut TcpStream, plain: &[u8]) {
        let (nonce, mut sealed) = (self.nonce(), plain.to_vec());
        self.0
            .seal_in_place_append_tag(nonce, Aad::empty(), &mut sealed)
            .unwrap();
        write(stream, &sealed);
    }
}

fn hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

struct Length;

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        32
    }
}

fn session(kind: Kind, salt: &[u8]) -> Seal {
    if kind == Kind::Of2022 {
        let key = [&[1; 32], salt].concat();
        let subkey = blake3::derive_key("shadowsocks 2022 session subkey", &key);
        return Seal::new(&aead::AES_256_GCM, &subkey);
    }
    let mut subkey = [0; 32];
    hkdf::Salt::new(hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY, salt)
        .extract(&hex(AEAD))
        .expand(&[b"ss-subkey"], Length)
        .unwrap()
        .fill(&mut subkey)
        .unwrap();
    Seal::new(&CHACHA20_POLY1305, &subkey)
}

/// The state of a connection after a right request: the salt of the request, and the seal of what comes.
type Opened = Option<(Vec<u8>, Option<Seal>)>;

/// Reads a request to the last byte; none where it is not the user's.
fn opened(kind: Kind, target: SocketAddr, stream: &mut TcpStream) -> Opened {
    let port = target.port().to_be_bytes();
    let address = [&[1, 127, 0, 0, 1], &port[..]].concat();
    match kind {
        Kind::Vless => {
            let wanted = [
                &[0],
                &hex(&UUID.replace('-', ""))[..],
                &[0, 1],
                &port,
                &[1, 127, 0, 0, 1],
            ]
            .concat();
            (read::<26>(stream)[..] == wanted[..]).then(|| (Vec::new(), None))
        }
        Kind::Trojan => {
            let wanted = [&TROJAN[..], b"\r\n\x01", &address, b"\r\n"].concat();
            (read::<68>(stream)[..] == wanted[..]).then(|| (Vec::new(), None))
        }
        Kind::Aead => {
            let salt = read::<32>(stream);
            let mut seal = session(kind, &salt);
            let length = seal.read(stream, 2)?;
            assert_eq!(length, [0, 7]);
            assert_eq!(seal.read(stream, 7)?, address);
            Some((salt.to_vec(), Some(seal)))
        }
        Kind::Of2022 => {
            let salt = read::<32>(stream);
            let key = [&[0; 32], &salt[..]].concat();
            let subkey = blake3::derive_key("shadowsocks 2022 identity subkey", &key);
            let mut identity = read::<16>(stream);
            aes::Aes256::new(&subkey.into()).decrypt_block((&mut identity).into());
            if identity != blake3::hash(&[1; 32]).as_bytes()[..16] {
                return None;
            }
            let mut seal = session(kind, &salt);
            let fixed = seal.read(stream, 11)?;
            assert_eq!(fixed[0], 0);
            let stamp = u64::from_be_bytes(fixed[1..9].try_into().unwrap());
            let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
            assert!(stamp.abs_diff(now) <= 30, "{stamp} at {now}");
            let length = u16::from_be_bytes([fixed[9], fixed[10]]).into();
            let head = seal.read(stream, length)?;
            assert_eq!(head[..7], address);
            let padding = usize::from(u16::from_be_bytes([head[7], head[8]]));
            assert!((1..=900).contains(&padding) && length == 9 + padding);
            Some((salt.to_vec(), Some(seal)))
        }
    }
}

fn strict(kind: Kind, target: SocketAddr, fault: Fault) -> SocketAddr {
    tcp_server(move |mut stream| {
        let Some((salt, mut up)) = opened(kind, target, &mut stream) else {
            return;
        };
        let mut far = TcpStream::connect(target).unwrap();
        let mut down = None;
        for answers in 0.. {
            let request = match &mut up {
                None => {
                    let mut room = [0; 3_000];
                    let count = stream.read(&mut room).unwrap_or(0);
                    room[..count].to_vec()
                }
                Some(seal) => {
                    let length = seal.read(&mut stream, 2).unwrap_or(vec![0, 0]);
                    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
                    assert!(length < 0x4000);
                    match length {
                        0 => Vec::new(),
                        _ => seal.read(&mut stream, length).unwrap(),
                    }
                }
            };
            if request.is_empty() || fault == Fault::Drops && answers == 3 {
                return;
            }
            write(&mut far, &request);
            let mut answer = vec![0; request.len()];
            far.read_exact(&mut answer).unwrap();
            if fault == Fault::Flips {
                *answer.last_mut().unwrap() ^= 1;
            }
            let size = (answer.len() as u16).to_be_bytes();
            match kind {
                Kind::Vless if answers == 0 => write(&mut stream, &[0, 2, 7, 7]),
                Kind::Vless | Kind::Trojan => {}
                Kind::Aead | Kind::Of2022 => {
                    let seal = down.get_or_insert_with(|| {
                        write(&mut stream, &[9; 32]);
                        session(kind, &[9; 32])
                    });
                    if kind == Kind::Of2022 && answers == 0 {
                        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
                        let head = [&[1], &now.to_be_bytes()[..], &salt, &size].concat();
                        seal.write(&mut stream, &head);
                    } else {
                        seal.write(&mut stream, &size);
                    }
                    seal.write(&mut stream, &answer);
                    continue;
                }
            }
            write(&mut stream, &answer);
        }
    })
}

/// The users of a protocol: the right key, a wrong key, and the right key again.
fn users(kind: Kind, address: SocketAddr) -> Value {
    let (mut users, right, wrong) = match kind {
        Kind::Vless => (
            json!({"protocol": "vless"}),
            UUID,
            "0f1e2d3c4b5a69788796a5b4c3d2e1f1",
        ),
        Kind::Trojan => (json!({"protocol": "trojan"}), "correct", "wrong"),
        Kind::Aead => (
            json!({"protocol": "shadowsocks", "method": "chacha20-ietf-poly1305"}),
            "correct",
            "wrong",
        ),
        Kind::Of2022 => (
            json!({"protocol": "shadowsocks", "method": "2022-blake3-aes-256-gcm", "server_key": SERVER_KEY}),
            USER_KEY,
            SERVER_KEY,
        ),
    };
    users["address"] = json!(address.to_string());
    users["list"] = json!([
        {"name": "one", "key": right, "bytes": 1},
        {"name": "nobody", "key": wrong},
        {"name": "much", "key": right, "bytes": 100_000},
    ]);
    users
}

fn far_end(server: &Server) -> SocketAddr {
    let (status, answer) = server.post("/echoes", r#"{"engine": "events"}"#);
    assert_eq!(status, 201, "{answer}");
    answer["tcp"].as_str().unwrap().parse().unwrap()
}

const ALL: [Kind; 4] = [Kind::Vless, Kind::Trojan, Kind::Aead, Kind::Of2022];

#[test]
fn right_keys_carry_and_a_wrong_key_is_refused() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    for kind in ALL {
        let proxy = strict(kind, target, Fault::None);
        let probe = server.measure(&json!({"kind": "users", "target": target, "connections": 2,
            "payload_bytes": 64, "timeout_ms": patient_ms(5_000), "users": users(kind, proxy)}));
        let outcome = &probe["outcome"];
        let of = |name: &str| {
            let all = outcome["users"].as_array().unwrap();
            let fields = |one: &Value| all_of(one, &["name", name]);
            json!(all.iter().map(fields).collect::<Vec<_>>())
        };
        assert_eq!(
            of("carried"),
            json!([["one", true], ["nobody", false], ["much", true]]),
            "{probe}"
        );
        assert_eq!(
            of("received"),
            json!([["one", 1], ["nobody", 0], ["much", 100_000]])
        );
        assert_eq!(outcome["far_end"]["bytes_up"]["found"], 100_001, "{probe}");
        assert_eq!(outcome["far_end"]["connections"]["found"], 2);
        assert!(!probe.to_string().contains("correct"), "{probe}");
    }
}

fn all_of(one: &Value, names: &[&str]) -> Value {
    json!(names.iter().map(|name| &one[name]).collect::<Vec<_>>())
}

#[test]
fn an_answer_with_a_wrong_byte_is_found() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    for kind in ALL {
        let proxy = strict(kind, target, Fault::Flips);
        let probe = server.measure(&json!({"kind": "users", "target": target,
            "payload_bytes": 64, "timeout_ms": patient_ms(5_000), "users": users(kind, proxy)}));
        assert_eq!(probe["outcome"]["errors"]["corrupted"], 2, "{probe}");
        assert_eq!(probe["outcome"]["succeeded"], 0, "{probe}");
    }
}

/// tests/known-answers/users-scale.test.js has servers with TLS.
#[test]
fn a_server_without_tls_is_named() {
    let root = Root::new();
    let server = root.serve();
    let mut users = users(Kind::Trojan, tcp_echo(Duration::ZERO));
    users["tls"] = json!({"insecure": true});
    let probe = server.measure(&json!({"kind": "users", "target": far_end(&server),
        "payload_bytes": 64, "timeout_ms": patient_ms(5_000), "users": users}));
    assert_eq!(probe["outcome"]["errors"], json!({"tls": 3}), "{probe}");
}

#[test]
fn steady_connections_live_or_their_end_is_told() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    let measure = |open: bool, fault| {
        let mut users = users(Kind::Aead, strict(Kind::Aead, target, fault));
        let all = users["list"].as_array_mut().unwrap();
        all.iter_mut()
            .for_each(|one| drop(one.as_object_mut().unwrap().remove("bytes")));
        let mut probe = json!({"kind": "steady", "target": target, "payload_bytes": 64, "count": 30,
            "timeout_ms": patient_ms(5_000)});
        if open {
            users["seconds"] = json!(0.6);
            probe["loop"] = json!({"open": {"rate_per_s": 50}});
        }
        probe["users"] = users;
        server.measure(&probe)
    };
    for open in [true, false] {
        let right = measure(open, Fault::None);
        let outcome = &right["outcome"];
        // Each third request is of the user without a connection.
        assert_eq!(
            all_of(outcome, &["attempted", "succeeded"]),
            json!([30, 20]),
            "{right}"
        );
        assert_eq!(outcome["users"][1]["received"], 0);
        assert_eq!(outcome["users"][0]["ended_s"], Value::Null);
        assert_eq!(outcome["users"][0]["received"], 64 * 11);
        let dropped = measure(open, Fault::Drops);
        let outcome = &dropped["outcome"];
        for user in [0, 2] {
            let one = &outcome["users"][user];
            assert_eq!(all_of(one, &["carried", "received"]), json!([true, 64 * 3]));
            let least = if open { 0.05 } else { 0.0 };
            assert!(one["ended_s"].as_f64().unwrap() > least, "{one}");
        }
        assert_eq!(
            all_of(outcome, &["attempted", "succeeded"]),
            json!([30, 4]),
            "{dropped}"
        );
    }
}

/// A server that knows the user before a moment after its first connection, or after that moment. It leaves a connection of an unknown user
/// open in silence, and breaks its third connection, as a restart would.
fn turning(target: SocketAddr, knows_before: bool) -> SocketAddr {
    let first = OnceLock::new();
    let number = AtomicUsize::new(0);
    tcp_server(move |mut stream| {
        let early = first.get_or_init(Instant::now).elapsed() < TURNS_AFTER;
        if number.fetch_add(1, Ordering::Relaxed) == 2 {
            return;
        }
        if early != knows_before {
            std::thread::sleep(Duration::from_secs(2));
            return;
        }
        carry(target, &mut stream);
    })
}

fn carry(target: SocketAddr, stream: &mut TcpStream) {
    opened(Kind::Vless, target, stream).unwrap();
    let request = read::<64>(stream);
    write(stream, &[0, 0]);
    write(stream, &request);
    let _ = stream.read(&mut [0]);
}

#[test]
fn tries_end_with_the_first_connection_that_turned() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    for carries in [true, false] {
        let mut users = users(Kind::Vless, turning(target, !carries));
        users["list"] = json!([{"name": "one", "key": UUID}]);
        users["until"] = json!({"carries": carries, "every_ms": 10});
        let probe = server.measure(
            &json!({"kind": "users", "target": target, "payload_bytes": 64,
            "timeout_ms": patient_ms(1_000), "limit_s": 20, "users": users}),
        );
        let one = &probe["outcome"]["users"][0];
        assert_eq!(one["carried"], carries, "{probe}");
        let of = |name: &str| one["turn"][name].as_f64().unwrap();
        // The server's clock begins with the first connection, after the probe's.
        let truth = TURNS_AFTER.as_secs_f64() * 1e3;
        assert!(of("turned_ms") > of("last_other_ms"), "{probe}");
        assert!(of("seen_ms") >= truth, "{probe}");
        assert!(of("tries") > 5.0, "{probe}");
    }
}

/// The second try is due after the limit.
#[test]
fn a_refusal_at_the_end_of_the_time_counts_if_the_next_try_confirms_it() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    let limit_ms = patient_ms(500);
    for refuses_all in [true, false] {
        let number = AtomicUsize::new(0);
        let refusing = tcp_server(move |mut stream| {
            if number.fetch_add(1, Ordering::Relaxed) > 0 && !refuses_all {
                carry(target, &mut stream);
            }
        });
        let mut users = users(Kind::Vless, refusing);
        users["list"] = json!([{"name": "one", "key": UUID}]);
        users["until"] = json!({"carries": false, "every_ms": 2 * limit_ms});
        let probe = server.measure(
            &json!({"kind": "users", "target": target, "payload_bytes": 64,
            "timeout_ms": patient_ms(1_000), "limit_s": limit_ms as f64 / 1e3, "users": users}),
        );
        let turn = &probe["outcome"]["users"][0]["turn"];
        assert_eq!(turn["tries"], 2, "{probe}");
        assert_eq!(turn["turned_ms"].is_number(), refuses_all, "{probe}");
    }
}

#[test]
fn a_user_that_never_turns_ends_with_the_limit() {
    let root = Root::new();
    let server = root.serve();
    let target = far_end(&server);
    let mut users = users(Kind::Vless, strict(Kind::Vless, target, Fault::None));
    users["list"] = json!([{"name": "one", "key": UUID}]);
    users["until"] = json!({"carries": false, "every_ms": 10});
    let probe = server.measure(
        &json!({"kind": "users", "target": target, "payload_bytes": 64,
        "timeout_ms": patient_ms(1_000), "limit_s": 0.3, "users": users}),
    );
    let one = &probe["outcome"]["users"][0];
    assert_eq!(one["turn"]["turned_ms"], Value::Null, "{probe}");
    assert_eq!(one["error"], "timeout");
}

#[test]
fn a_spec_that_is_wrong_is_refused_without_its_keys() {
    let root = Root::new();
    let server = root.serve();
    let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
    let mut right = json!({"kind": "users", "target": nobody, "users": users(Kind::Vless, nobody)});
    right["users"]["until"] = Value::Null;
    right["users"]["tls"] = Value::Null;
    for (path, value, named) in [
        ("/users/list/0/key", json!("SECRET"), "list.key"),
        ("/users/list/0/bytes", json!(0), "list.bytes"),
        ("/users/list", json!([]), "list"),
        ("/users/address", json!("192.0.2.1:9"), "users.address"),
        ("/users/tls", json!({"ca": "SECRET"}), "tls.ca"),
        ("/kind", json!("tcp"), "users"),
        ("/kind", json!("steady"), "bytes"),
        (
            "/users/until",
            json!({"carries": true, "every_ms": 0}),
            "until",
        ),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(path).unwrap() = value;
        let (status, answer) = server.post("/probes", &wrong.to_string());
        assert!((400..500).contains(&status), "{path}: {answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(
            error.contains(named) && !error.contains("SECRET"),
            "{answer}"
        );
    }
}
