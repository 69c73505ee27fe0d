//! Known answers: connections and datagrams as a network card delivers them.

use super::*;

const PORT: u16 = 443;
const FAR: &str = "127.0.0.1:4660";
/// The first bytes of a ClientHello of sing-box (Go's crypto/tls): record, handshake, version.
const HELLO_START: [u8; 11] = [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3];
const SERVER_HELLO_START: [u8; 11] = [22, 3, 3, 0, 122, 2, 0, 0, 118, 3, 3];

struct Wire {
    flows: Flows,
    random: fastrand::Rng,
    /// Sequence numbers of client and server.
    at: [u32; 2],
}

fn wire(shows: Shows) -> Wire {
    Wire {
        flows: Flows::new(&Request {
            port: PORT,
            shows,
            far: vec![FAR.parse().unwrap()],
            namespace: None,
        }),
        random: fastrand::Rng::with_seed(11),
        at: [5, u32::MAX - 3],
    }
}

fn packet(protocol: u8, from: Sender, transport: &[u8], bytes: &[u8]) -> Vec<u8> {
    let ports = match from {
        Sender::Client => [40_000, PORT],
        Sender::Server => [PORT, 40_000],
    };
    let inner = [&ports.map(u16::to_be_bytes).concat()[..], transport, bytes].concat();
    let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    let size = u16::try_from(inner.len() + 20).unwrap();
    ip[2..4].copy_from_slice(&size.to_be_bytes());
    [&ip[..], &[127, 0, 0, 1, 127, 0, 0, 1], &inner].concat()
}

impl Wire {
    fn segment(&mut self, from: Sender, flags: u8, bytes: &[u8]) {
        let at = &mut self.at[usize::from(from == Sender::Server)];
        let transport = [
            &at.to_be_bytes()[..],
            &[0; 4],
            &[0x50, flags, 1, 0, 0, 0, 0, 0],
        ]
        .concat();
        *at = at.wrapping_add(u32::try_from(bytes.len()).unwrap() + u32::from(flags & SYN != 0));
        self.flows.take(&packet(TCP, from, &transport, bytes));
    }

    fn begin(&mut self) -> &mut Self {
        self.segment(Sender::Client, SYN, b"");
        self.segment(Sender::Server, SYN | 16, b"");
        self
    }

    fn client(&mut self, bytes: &[u8]) -> &mut Self {
        self.segment(Sender::Client, 24, bytes);
        self
    }

    fn server(&mut self, bytes: &[u8]) -> &mut Self {
        self.segment(Sender::Server, 24, bytes);
        self
    }

    fn datagram(&mut self, from: Sender, bytes: &[u8]) -> &mut Self {
        self.flows.take(&packet(UDP, from, &[0; 4], bytes));
        self
    }

    fn random(&mut self, size: usize) -> Vec<u8> {
        (0..size).map(|_| self.random.u8(..)).collect()
    }

    /// `start`, then random bytes.
    fn filled(&mut self, start: &[u8], size: usize) -> Vec<u8> {
        let rest = self.random(size - start.len());
        [start, &rest].concat()
    }

    fn record(&mut self, size: u16) -> Vec<u8> {
        let [high, low] = size.to_be_bytes();
        self.filled(&[23, 3, 3, high, low], usize::from(size) + 5)
    }

    fn greet(&mut self) -> &mut Self {
        let hello = self.filled(&HELLO_START, 205);
        let answer = self.filled(&SERVER_HELLO_START, 127);
        self.begin().client(&hello).server(&answer);
        self.server(&[20, 3, 3, 0, 1, 1])
    }

    fn talk(&mut self) -> &mut Self {
        for size in [53, 1_100, 16_400] {
            let (asked, answered) = (self.record(size), self.record(size));
            self.client(&asked).server(&answered);
        }
        self
    }

    fn end(self) -> Found {
        self.flows.end()
    }
}

fn fault(found: &Found) -> &str {
    found.fault.as_deref().unwrap_or("none")
}

fn is_well(found: &Found) {
    assert_eq!(fault(found), "none");
    assert!(found.greeted && found.carried && !found.gaps, "{found:?}");
    assert!(!found.payload && !found.request, "{found:?}");
}

#[test]
fn tls_is_a_greeting_and_records_to_the_end() {
    let mut wire = wire(Shows::Tls);
    wire.greet().talk();
    is_well(&wire.end());
}

#[test]
fn tls_is_found_whatever_segments_it_comes_in() {
    let mut whole = wire(Shows::Tls);
    let mut text = whole.filled(&HELLO_START, 205);
    let answer = whole.filled(&SERVER_HELLO_START, 127);
    text.extend(whole.record(700));
    let data = whole.record(900);
    whole.begin();
    for piece in text.chunks(3) {
        whole.client(piece);
    }
    whole.server(&answer).server(&data);
    is_well(&whole.end());
}

#[test]
fn plaintext_in_place_of_tls_is_named() {
    for (text, expected) in [
        (
            b"CONNECT 127.0.0.1:4660 HTTP/1.1\r\n".as_slice(),
            "no TLS: HTTP plaintext",
        ),
        (b"\x05\x01\x02", "no TLS: SOCKS plaintext"),
        (
            b"\x00\x1a\x2b\x3c\x4d",
            "no TLS: bytes that begin with 00 1a 2b",
        ),
        (b"SSH-2.0-Go\r\n", "no TLS: SSH"),
    ] {
        let mut wire = wire(Shows::Tls);
        wire.begin().client(text);
        let found = wire.end();
        assert_eq!(fault(&found), expected);
        assert!(!found.greeted && !found.carried);
    }
}

#[test]
fn tls_first_and_plaintext_later_is_found() {
    for size in [5, 64, 4_096] {
        let mut wire = wire(Shows::Tls);
        wire.greet().talk();
        wire.server(&vec![b'x'; size]);
        assert_eq!(fault(&wire.end()), "no TLS behind its first records");
    }
}

#[test]
fn records_that_hold_plaintext_are_found() {
    let mut wire = wire(Shows::Tls);
    wire.greet().talk();
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n".repeat(8);
    let record = [
        &[23, 3, 3][..],
        &u16::try_from(text.len()).unwrap().to_be_bytes(),
        &text,
    ]
    .concat();
    wire.client(&record);
    assert_eq!(fault(&wire.end()), "records of TLS that hold plain text");
}

#[test]
fn records_without_a_greeting_are_found() {
    let mut wire = wire(Shows::Tls);
    wire.begin().talk();
    assert_eq!(fault(&wire.end()), "records of TLS without a ClientHello");
}

#[test]
fn a_record_that_is_too_large_is_none() {
    let mut wire = wire(Shows::Tls);
    wire.greet().client(&[23, 3, 3, 0xff, 0xff]);
    assert_eq!(fault(&wire.end()), "no TLS behind its first records");
}

#[test]
fn of_a_connection_that_was_there_before_records_are_enough() {
    let mut there = wire(Shows::Tls);
    there.talk();
    let found = there.end();
    assert!(found.carried && !found.greeted, "{found:?}");
    assert_eq!(fault(&found), "none");

    // The bytes may be the rest of a record: the test expects no finding and no fault.
    let mut within = wire(Shows::Tls);
    let rest = within.random(700);
    within.client(&rest).server(&rest);
    let found = within.end();
    assert!(!found.carried, "{found:?}");
    assert_eq!(fault(&found), "none");

    let mut later = wire(Shows::Tls);
    later.talk();
    later.client(b"GET / HTTP/1.1\r\n");
    assert_eq!(fault(&later.end()), "no TLS behind its first records");
}

#[test]
fn what_a_probe_sends_is_found_in_any_connection() {
    let mut wire = wire(Shows::Plain);
    let mut payload = vec![0; 1_024];
    crate::net::payload::Pattern::new(1_024).fill(9, &mut payload);
    wire.begin()
        .client(b"\x05\x01\x00\x01\x7f\x00\x00\x01\x12\x34")
        .server(&payload);
    let found = wire.end();
    assert!(found.payload && found.request && found.carried, "{found:?}");
    assert_eq!(fault(&found), "none");
    assert_eq!(found.bytes, 1_034);
}

#[test]
fn a_connection_with_a_gap_is_reported() {
    let mut wire = wire(Shows::Tls);
    wire.greet().talk();
    wire.at[0] += 7;
    let record = wire.record(80);
    wire.client(&record);
    let found = wire.end();
    assert!(found.gaps, "{found:?}");
    assert_eq!(fault(&found), "none");
}

#[test]
fn a_new_connection_of_the_same_port_begins_anew() {
    let mut wire = wire(Shows::Tls);
    wire.greet().talk();
    wire.at = [900, 77];
    wire.begin().client(b"GET / HTTP/1.1\r\n");
    let found = wire.end();
    assert_eq!(fault(&found), "no TLS: HTTP plaintext");
    assert!(found.greeted, "of the first");
}

#[test]
fn tls_has_no_datagrams_and_quic_no_connections() {
    let mut beside = wire(Shows::Tls);
    beside
        .greet()
        .talk()
        .datagram(Sender::Client, b"\x00\x01\x02\x03");
    assert_eq!(
        fault(&beside.end()),
        "a datagram of bytes that begin with 00 01 02"
    );

    let mut stream = wire(Shows::Quic);
    // A connection that only checks whether the server is up carries no bytes.
    stream.begin();
    assert_eq!(fault(&wire(Shows::Quic).end()), "none");
    stream.client(b"GET / HTTP/1.1\r\n");
    assert_eq!(fault(&stream.end()), "a TCP connection of HTTP plaintext");
}

const INITIAL: [u8; 6] = [0xc3, 0, 0, 0, 1, 8];

#[test]
fn quic_is_an_initial_and_packets() {
    let of = |initial: &[u8], packet: u8| {
        let mut wire = wire(Shows::Quic);
        for (start, size) in [(initial, 1_252), (&[packet][..], 90), (&[packet], 1_200)] {
            for from in [Sender::Client, Sender::Server] {
                let datagram = wire.filled(start, size);
                wire.datagram(from, &datagram);
            }
        }
        wire.end()
    };
    is_well(&of(&INITIAL, 0x4f));
    is_well(&of(&[0xd1, 0x6b, 0x33, 0x43, 0xcf, 8], 0x4f));
    let handshake = of(&[0xe3, 0, 0, 0, 1, 8], 0x4f);
    assert!(handshake.carried && !handshake.greeted, "{handshake:?}");
    assert_eq!(
        fault(&of(&[0xc3, 9, 9, 9, 9, 8], 0x4f)),
        "no QUIC: bytes that begin with c3 09 09"
    );
    assert_eq!(fault(&of(&INITIAL, 0x1f))[..23], *"no QUIC: bytes that beg");
}

#[test]
fn quic_with_plain_packets_is_found() {
    let mut wire = wire(Shows::Quic);
    let initial = wire.filled(&INITIAL, 1_252);
    wire.datagram(Sender::Client, &initial);
    wire.datagram(
        Sender::Client,
        &[b"\x40".as_slice(), &b"key=value\n".repeat(40)].concat(),
    );
    assert_eq!(fault(&wire.end()), "plain text instead of a cipher's bytes");
}

#[test]
fn shadowsocks_is_random_and_has_no_greeting() {
    let mut right = wire(Shows::Random);
    right.begin();
    for size in [90, 1_100, 20_000] {
        let bytes = right.random(size);
        right.client(&bytes).server(&bytes);
        right
            .datagram(Sender::Client, &bytes)
            .datagram(Sender::Server, &bytes);
    }
    is_well(&right.end());

    for (first, expected) in [
        (
            b"GET / HTTP/1.1\r\n".as_slice(),
            "a greeting of HTTP plaintext",
        ),
        (b"\x05\x01\x00", "a greeting of SOCKS plaintext"),
        (&HELLO_START, "a greeting of TLS"),
    ] {
        let mut wire = wire(Shows::Random);
        wire.begin().client(first);
        assert_eq!(fault(&wire.end()), expected);
    }
    let mut obfuscated = wire(Shows::Random);
    let initial = obfuscated.filled(&INITIAL, 1_252);
    obfuscated.datagram(Sender::Client, &initial);
    assert_eq!(fault(&obfuscated.end()), "a greeting of QUIC");
}

#[test]
fn plain_bytes_behind_random_ones_are_found() {
    let mut wire = wire(Shows::Random);
    let bytes = wire.random(5_000);
    wire.begin().client(&bytes).server(&bytes);
    wire.client(&b"0123456789".repeat(300));
    assert_eq!(fault(&wire.end()), "plain text instead of a cipher's bytes");
}

#[test]
fn ssh_begins_with_its_banner() {
    let mut right = wire(Shows::Ssh);
    let bytes = right.random(900);
    right
        .begin()
        .server(b"SSH-2.0-OpenSSH_9.2\r\n")
        .client(b"SS")
        .client(b"H-2.0-Go\r\n");
    right.client(&bytes).server(&bytes);
    is_well(&right.end());
    let mut other = wire(Shows::Ssh);
    other.begin().client(b"GET / HTTP/1.1\r\n");
    assert_eq!(fault(&other.end()), "no SSH: HTTP plaintext");
}

#[test]
fn wireguard_is_recognized_by_types_and_sizes() {
    let mut right = wire(Shows::Wireguard);
    for (kind, size, from) in [
        (1, 148, Sender::Client),
        (2, 92, Sender::Server),
        (4, 128, Sender::Client),
        (4, 1_104, Sender::Server),
    ] {
        let message = right.filled(&[kind, 0, 0, 0], size);
        right.datagram(from, &message);
    }
    is_well(&right.end());
    let mut other = wire(Shows::Wireguard);
    other.datagram(Sender::Client, &[1, 0, 0, 0, 9]);
    assert_eq!(
        fault(&other.end()),
        "no WireGuard: bytes that begin with 01 00 00"
    );
}

#[test]
fn openvpn_is_recognized_by_its_opcodes_over_udp_and_tcp() {
    let mut right = wire(Shows::Openvpn);
    let mut framed = wire(Shows::Openvpn);
    framed.begin();
    for (first, size, from) in [
        (0x38, 14, Sender::Client),
        (0x40, 26, Sender::Server),
        (0x20, 300, Sender::Client),
        (0x48, 900, Sender::Client),
        (0x48, 900, Sender::Server),
    ] {
        let packet = right.filled(&[first], size);
        right.datagram(from, &packet);
        let size = u16::try_from(packet.len()).unwrap().to_be_bytes();
        framed.segment(from, 24, &[&size[..], &packet].concat());
    }
    is_well(&right.end());
    is_well(&framed.end());
    let mut other = wire(Shows::Openvpn);
    other.begin().client(b"GET / HTTP/1.1\r\n");
    assert_eq!(fault(&other.end()), "no OpenVPN: HTTP plaintext");
}

#[test]
fn packets_of_other_ports_and_kinds_are_passed_over() {
    let mut wire = wire(Shows::Tls);
    wire.flows.port = 444;
    wire.begin().client(b"GET / HTTP/1.1\r\n");
    for bytes in [&b""[..], &[0x45; 19], &[0x60; 60], &[0x4f; 21], &[0x45; 40]] {
        wire.flows.take(bytes);
    }
    assert_eq!(wire.end().bytes, 0);
}
