//! A user's datagrams as bytes, in packets for the proxy. The code does no input or output.

use ring::aead::Algorithm;

use super::codec::{self, CRLF, Command, STAMPED, VLESS_VERSION};
use super::crypto::{self, BLOCK, Sealer};
use super::spec::Credential;
use crate::probe::kinds::ErrorKind;
use crate::probe::socks5::codec::{Address, Bad, push_address, read_address};

/// Bytes of a session's number in SIP022.
const SESSION: usize = 8;

/// Both ways of a user's datagrams to one target.
pub struct Packets {
    form: Form,
    target: Address,
}

enum Form {
    /// A length before each payload. `begun`: the proxy's head has come.
    Vless {
        begun: bool,
    },
    /// An address and a length before each payload.
    Trojan,
    /// A salt before each packet, and an address before each payload.
    Aead {
        algorithm: &'static Algorithm,
        key: Vec<u8>,
    },
    Of2022(Session),
}

struct Session {
    algorithm: &'static Algorithm,
    key: Vec<u8>,
    server: Option<Vec<u8>>,
    id: Vec<u8>,
    /// Number of the next packet.
    next: u64,
}

/// A payload, and the address that it came from, if the packet has one.
type Taken = Option<(Option<Address>, Vec<u8>)>;

impl Packets {
    /// `out` gets the request, where the protocol has one.
    pub fn begin(
        credential: &Credential,
        target: &Address,
        out: &mut Vec<u8>,
    ) -> Result<Self, ErrorKind> {
        let form = match credential {
            Credential::Vless(id) => {
                codec::push_vless(id, Command::Udp, target, out);
                Form::Vless { begun: false }
            }
            Credential::Trojan(key) => {
                codec::push_trojan(key, Command::Udp, target, out);
                Form::Trojan
            }
            Credential::Shadowsocks {
                method,
                key,
                server,
            } if method.is_2022() => Form::Of2022(Session {
                algorithm: method.algorithm(),
                key: key.clone(),
                server: server.clone(),
                id: codec::random(SESSION)?,
                next: 0,
            }),
            Credential::Shadowsocks { method, key, .. } => Form::Aead {
                algorithm: method.algorithm(),
                key: key.clone(),
            },
        };
        let target = target.clone();
        Ok(Self { form, target })
    }

    /// Adds the packet of a payload to `out`.
    pub fn push(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let length = (payload.len() as u16).to_be_bytes();
        let mut addressed = Vec::new();
        push_address(&mut addressed, &self.target);
        match &mut self.form {
            Form::Vless { .. } => out.extend([&length[..], payload].concat()),
            Form::Trojan => out.extend([&addressed[..], &length, CRLF, payload].concat()),
            Form::Aead { algorithm, key } => {
                let salt = codec::random(algorithm.key_len())?;
                addressed.extend_from_slice(payload);
                out.extend_from_slice(&salt);
                crypto::aead_session(algorithm, key, &salt).seal(&addressed, out);
            }
            Form::Of2022(session) => {
                addressed.extend_from_slice(payload);
                session.push(&addressed, out);
            }
        }
        Ok(())
    }

    /// Takes the first whole payload off what came, if there is one. A packet of Shadowsocks is a whole datagram.
    pub fn take(&mut self, input: &mut Vec<u8>) -> Result<Option<Vec<u8>>, ErrorKind> {
        let taken = match &mut self.form {
            Form::Vless { begun } => {
                let payload = of_vless(input, begun)?;
                payload.map(|payload| (None, payload))
            }
            Form::Trojan => of_trojan(input)?,
            _ if input.is_empty() => None,
            Form::Aead { algorithm, key } => {
                let packet = &mut std::mem::take(input);
                Some(of_aead(algorithm, key, packet).ok_or(ErrorKind::Corrupted)?)
            }
            Form::Of2022(session) => {
                let packet = &mut std::mem::take(input);
                Some(session.open(packet).ok_or(ErrorKind::Corrupted)?)
            }
        };
        match taken {
            Some((Some(ref source), _)) if is_another(source, &self.target) => {
                Err(ErrorKind::OtherSource)
            }
            taken => Ok(taken.map(|(_, payload)| payload)),
        }
    }
}

/// A name does not tell where an answer comes from.
fn is_another(source: &Address, target: &Address) -> bool {
    let (Address::Ip(source), Address::Ip(target)) = (source, target) else {
        return false;
    };
    (source.ip().to_canonical(), source.port()) != (target.ip().to_canonical(), target.port())
}

fn number(two: &[u8]) -> usize {
    usize::from(u16::from_be_bytes([two[0], two[1]]))
}

/// The payload behind `from`, which goes off the input with all that is before it.
fn cut(input: &mut Vec<u8>, from: usize, length: usize) -> Option<Vec<u8>> {
    let whole = from + length;
    (input.len() >= whole).then(|| input.drain(..whole).skip(from).collect())
}

fn of_vless(input: &mut Vec<u8>, begun: &mut bool) -> Result<Option<Vec<u8>>, ErrorKind> {
    let head = match input.get(..2) {
        None => return Ok(None),
        _ if *begun => 0,
        Some([VLESS_VERSION, addons]) => 2 + usize::from(*addons),
        Some(_) => return Err(ErrorKind::Corrupted),
    };
    let from = head + 2;
    let length = input.get(head..from).map(number);
    let payload = length.and_then(|length| cut(input, from, length));
    *begun |= payload.is_some();
    Ok(payload)
}

fn of_trojan(input: &mut Vec<u8>) -> Result<Taken, ErrorKind> {
    let (source, at) = match read_address(input) {
        Err(Bad::Short) => return Ok(None),
        read => read.map_err(|_| ErrorKind::Corrupted)?,
    };
    let from = at + 2 + CRLF.len();
    let Some(head) = input.get(at..from) else {
        return Ok(None);
    };
    if &head[2..] != CRLF {
        return Err(ErrorKind::Corrupted);
    }
    let length = number(head);
    Ok(cut(input, from, length).map(|payload| (Some(source), payload)))
}

fn of_aead(algorithm: &'static Algorithm, key: &[u8], packet: &mut [u8]) -> Taken {
    let (salt, sealed) = packet.split_at_mut_checked(algorithm.key_len())?;
    addressed(crypto::aead_session(algorithm, key, salt).open(sealed)?)
}

fn addressed(plain: &[u8]) -> Taken {
    let (source, used) = read_address(plain).ok()?;
    Some((Some(source), plain[used..].to_vec()))
}

impl Session {
    /// The seal of a packet, by its first block.
    fn sealer(&self, block: &[u8; BLOCK]) -> Sealer {
        let session = crypto::session_2022(self.algorithm, &self.key, &block[..SESSION]);
        session.with_nonce(&block[4..])
    }

    fn push(&mut self, addressed: &[u8], out: &mut Vec<u8>) {
        let mut block = [0; BLOCK];
        block[..SESSION].copy_from_slice(&self.id);
        block[SESSION..].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        let outer = self.server.as_ref().unwrap_or(&self.key);
        out.extend_from_slice(&crypto::encrypted(outer, block));
        if self.server.is_some() {
            let mut identity = crypto::hash_of(&self.key);
            let pairs = identity.iter_mut().zip(block);
            pairs.for_each(|(own, byte)| *own ^= byte);
            out.extend_from_slice(&crypto::encrypted(outer, identity));
        }
        // No padding.
        let plain = [&codec::stamp_of_request()[..], &[0, 0], addressed].concat();
        self.sealer(&block).seal(&plain, out);
    }

    fn open(&self, packet: &mut [u8]) -> Taken {
        let (block, sealed) = packet.split_first_chunk_mut()?;
        let block = crypto::decrypted(&self.key, *block);
        let plain = self.sealer(&block).open(sealed)?;
        let (stamped, rest) = plain.split_at_checked(STAMPED)?;
        let (id, rest) = rest.split_at_checked(SESSION)?;
        let padding = number(rest.get(..2)?);
        let right = codec::is_answer_of_now(stamped) && id == self.id;
        right
            .then_some(rest.get(2 + padding..)?)
            .and_then(addressed)
    }
}
