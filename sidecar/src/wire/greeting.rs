//! Names a protocol by the first bytes of a connection.

/// Versions of QUIC: 1, 2, and the drafts that programs still use.
const QUIC: [u32; 4] = [0x0000_0001, 0x6b33_43cf, 0xff00_001d, 0xff00_0020];
const HTTP: [&[u8]; 8] = [
    b"GET ",
    b"POST ",
    b"PUT ",
    b"HEAD ",
    b"CONNECT ",
    b"OPTIONS ",
    b"PRI * HTTP/2",
    b"HTTP/1.",
];
/// The most unknown bytes that are shown: they may be a key.
const MOST_SHOWN: usize = 3;

/// The protocol that begins with these bytes; `None` if it is unknown.
pub fn of(first: &[u8]) -> Option<&'static str> {
    if HTTP.iter().any(|word| first.starts_with(word)) {
        return Some("HTTP plaintext");
    }
    if first.starts_with(b"SSH-") {
        return Some("SSH");
    }
    if is_socks(first) {
        return Some("SOCKS plaintext");
    }
    if matches!(first, [22, 3, 0..=4, high, _, 1 | 2, ..] if *high < 0x48) {
        return Some("TLS");
    }
    is_quic_initial(first).then_some("QUIC")
}

/// Names unexpected bytes: their protocol, or their first bytes.
pub fn describe(first: &[u8]) -> String {
    if let Some(name) = of(first) {
        return name.to_owned();
    }
    let start = &first[..first.len().min(MOST_SHOWN)];
    let hex: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bytes that begin with {}", hex.join(" "))
}

/// The complete greeting of a SOCKS 5 client, with no authentication or with a password.
fn is_socks(first: &[u8]) -> bool {
    matches!(first, [5, count @ 1..=3, methods @ ..]
        if methods.len() == usize::from(*count) && methods.iter().all(|one| matches!(one, 0 | 2)))
}

/// A QUIC packet with a long header, of a known version (RFC 8999, 5.1).
pub fn is_quic_long(datagram: &[u8]) -> bool {
    matches!(datagram, [first, a, b, c, d, ..]
        if first & 0xc0 == 0xc0 && QUIC.contains(&u32::from_be_bytes([*a, *b, *c, *d])))
}

/// An Initial: type 0 of version 1 and of drafts, type 1 of version 2 (RFC 9000, 17.2; RFC 9369, 3.2).
pub fn is_quic_initial(datagram: &[u8]) -> bool {
    if !is_quic_long(datagram) {
        return false;
    }
    let is_second = datagram[1..5] == QUIC[1].to_be_bytes();
    (datagram[0] >> 4) & 3 == u8::from(is_second)
}
