//! A user's connection as bytes: the request, then payload both ways. The code does no input or output.

use std::time::{SystemTime, UNIX_EPOCH};

use ring::aead::Algorithm;

use super::crypto::{self, Sealer, TAG};
use super::spec::{Credential, Method};
use crate::probe::kinds::ErrorKind;
use crate::probe::socks5::codec::{Address, push_address};

/// The largest payload of one chunk (SIP004).
pub const CHUNK: usize = 0x3FFF;
pub const VLESS_VERSION: u8 = 0;
pub const CRLF: &[u8] = b"\r\n";
/// SIP022: the request and the response, with the time in seconds.
const REQUEST: u8 = 0;
const RESPONSE: u8 = 1;
pub const STAMPED: usize = 1 + 8;
/// A clock that differs more is refused by servers (SIP022), s.
const MOST_SKEW_S: u64 = 30;
const PADDING: u16 = 16;

/// The transport that a request of VLESS or Trojan asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Tcp,
    Udp,
}

/// Bytes towards the proxy.
pub struct Up(Option<Sealer>);

/// Bytes from the proxy.
pub struct Down {
    state: State,
    input: Vec<u8>,
}

enum State {
    Raw,
    VlessHead,
    /// Before the proxy's salt. `request` is the salt of the request.
    Salt {
        method: Method,
        key: Vec<u8>,
        request: Vec<u8>,
    },
    /// The fixed header of SIP022.
    Head {
        session: Sealer,
        request: Vec<u8>,
    },
    Length(Sealer),
    Chunk(Sealer, usize),
}

fn now_s() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

pub fn random(length: usize) -> Result<Vec<u8>, ErrorKind> {
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).map_err(|_| ErrorKind::Network)?;
    Ok(bytes)
}

pub fn stamp_of_request() -> [u8; STAMPED] {
    let mut stamped = [REQUEST; STAMPED];
    stamped[1..].copy_from_slice(&now_s().to_be_bytes());
    stamped
}

pub fn is_answer_of_now(stamped: &[u8]) -> bool {
    let stamp = stamped[1..].iter();
    let stamp = stamp.fold(0, |number, byte| number << 8 | u64::from(*byte));
    stamped[0] == RESPONSE && stamp.abs_diff(now_s()) <= MOST_SKEW_S
}

/// Both ways of a new connection; `out` gets the request for the target.
pub fn begin(
    credential: &Credential,
    target: &Address,
    out: &mut Vec<u8>,
) -> Result<(Up, Down), ErrorKind> {
    let (up, state) = match credential {
        Credential::Vless(id) => {
            push_vless(id, Command::Tcp, target, out);
            (None, State::VlessHead)
        }
        Credential::Trojan(key) => {
            push_trojan(key, Command::Tcp, target, out);
            (None, State::Raw)
        }
        Credential::Shadowsocks {
            method,
            key,
            server,
        } => {
            let algorithm = method.algorithm();
            let salt = random(algorithm.key_len())?;
            out.extend_from_slice(&salt);
            let mut session = session(*method, algorithm, key, &salt);
            let mut head = Vec::new();
            push_address(&mut head, target);
            if method.is_2022() {
                if let Some(server) = server {
                    out.extend_from_slice(&crypto::identity(server, &salt, key));
                }
                // Padding stands for the first payload, which follows in another chunk.
                head.extend_from_slice(&PADDING.to_be_bytes());
                head.resize(head.len() + usize::from(PADDING), 0);
                let mut fixed = stamp_of_request().to_vec();
                fixed.extend_from_slice(&(head.len() as u16).to_be_bytes());
                session.seal(&fixed, out);
                session.seal(&head, out);
            } else {
                push_chunk(&mut session, &head, out);
            }
            let state = State::Salt {
                method: *method,
                key: key.clone(),
                request: salt,
            };
            (Some(session), state)
        }
    };
    let input = Vec::new();
    Ok((Up(up), Down { state, input }))
}

fn session(method: Method, algorithm: &'static Algorithm, key: &[u8], salt: &[u8]) -> Sealer {
    match method.is_2022() {
        true => crypto::session_2022(algorithm, key, salt),
        false => crypto::aead_session(algorithm, key, salt),
    }
}

/// The port is before the address, and IPv6 and names have other types than in SOCKS5.
pub fn push_vless(id: &[u8; 16], command: Command, target: &Address, out: &mut Vec<u8>) {
    out.push(VLESS_VERSION);
    out.extend_from_slice(id);
    // No addons.
    out.push(0);
    out.push(if command == Command::Tcp { 1 } else { 2 });
    let mut as_socks = Vec::new();
    push_address(&mut as_socks, target);
    let port_at = as_socks.len() - 2;
    out.extend_from_slice(&as_socks[port_at..]);
    out.push(match as_socks[0] {
        3 => 2,
        4 => 3,
        other => other,
    });
    out.extend_from_slice(&as_socks[1..port_at]);
}

pub fn push_trojan(key: &str, command: Command, target: &Address, out: &mut Vec<u8>) {
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(CRLF);
    out.push(if command == Command::Tcp { 1 } else { 3 });
    push_address(out, target);
    out.extend_from_slice(CRLF);
}

fn push_chunk(session: &mut Sealer, payload: &[u8], out: &mut Vec<u8>) {
    session.seal(&(payload.len() as u16).to_be_bytes(), out);
    session.seal(payload, out);
}

impl Up {
    pub fn push(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        match &mut self.0 {
            None => out.extend_from_slice(payload),
            Some(session) => payload
                .chunks(CHUNK)
                .for_each(|chunk| push_chunk(session, chunk, out)),
        }
    }
}

impl Down {
    /// Takes what came, and adds the payload in it to `out`. A seal that is broken is `corrupted`.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if let State::Raw = self.state {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        self.input.extend_from_slice(bytes);
        let mut from = 0;
        while let Some(wanted) = self.wanted(from)
            && let Some(part) = self.input.get_mut(from..from + wanted)
        {
            from += wanted;
            let state = std::mem::replace(&mut self.state, State::Raw);
            self.state = step(state, part, out)?;
        }
        if let State::Raw = self.state {
            out.extend_from_slice(&self.input[from..]);
            from = self.input.len();
        }
        self.input.drain(..from);
        Ok(())
    }

    /// Bytes of the next part; none where there are no parts.
    fn wanted(&self, from: usize) -> Option<usize> {
        Some(match &self.state {
            State::Raw => return None,
            State::VlessHead => 2 + usize::from(*self.input.get(from + 1).unwrap_or(&0)),
            State::Salt { request, .. } => request.len(),
            State::Head { request, .. } => STAMPED + request.len() + 2 + TAG,
            State::Length(_) => 2 + TAG,
            State::Chunk(_, length) => length + TAG,
        })
    }
}

fn step(state: State, part: &mut [u8], out: &mut Vec<u8>) -> Result<State, ErrorKind> {
    let broken = ErrorKind::Corrupted;
    let length = |two: &[u8]| usize::from(u16::from_be_bytes([two[0], two[1]]));
    Ok(match state {
        State::Raw => State::Raw,
        State::VlessHead if part[0] == VLESS_VERSION => State::Raw,
        State::VlessHead => return Err(broken),
        State::Salt {
            method,
            key,
            request,
        } => {
            let session = session(method, method.algorithm(), &key, part);
            match method.is_2022() {
                true => State::Head { session, request },
                false => State::Length(session),
            }
        }
        State::Head {
            mut session,
            request,
        } => {
            let head = session.open(part).ok_or(broken)?;
            let (stamped, rest) = head.split_at(STAMPED);
            let (salt, size) = rest.split_at(request.len());
            if !is_answer_of_now(stamped) || salt != request {
                return Err(broken);
            }
            State::Chunk(session, length(size))
        }
        State::Length(mut session) => {
            let size = length(session.open(part).ok_or(broken)?);
            State::Chunk(session, size)
        }
        State::Chunk(mut session, _) => {
            out.extend_from_slice(session.open(part).ok_or(broken)?);
            State::Length(session)
        }
    })
}
