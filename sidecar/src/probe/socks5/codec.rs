//! SOCKS5 messages as bytes (RFC 1928, RFC 1929). The code does no input or output, and no bytes make it
//! panic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const VERSION: u8 = 5;
const AUTH_VERSION: u8 = 1;
const METHOD_NONE: u8 = 0;
const METHOD_PASSWORD: u8 = 2;
const METHOD_REFUSED: u8 = 0xFF;
const TYPE_IPV4: u8 = 1;
const TYPE_DOMAIN: u8 = 3;
const TYPE_IPV6: u8 = 4;

/// How a record of TLS begins: its type, and the first byte of its version (RFC 8446, 5.1).
const TLS_ALERT: u8 = 21;
const TLS_HANDSHAKE: u8 = 22;
const TLS_MAJOR: u8 = 3;

/// The longest domain name, user name or password: its length is one byte.
pub const MAX_FIELD_BYTES: usize = 255;
/// The longest reply: a domain name of 255 bytes.
pub const MAX_REPLY_BYTES: usize = 4 + 1 + MAX_FIELD_BYTES + 2;

/// The address in a request, and in a proxy's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Ip(SocketAddr),
    /// A domain name of at most 255 bytes, and a port. The name is empty only in a reply that leaves the address open.
    Domain(String, u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Connect = 1,
    UdpAssociate = 3,
}

/// Which authentication the proxy chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    None,
    Password,
    /// The proxy accepts none of the methods that were offered.
    Refused,
}

/// A proxy's reply to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Granted, with the bound address, and how many bytes the reply had.
    Granted(Address, usize),
    /// Refused with this code, which is never 0.
    Refused(u8),
}

/// Why bytes are no SOCKS5 message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// More bytes may complete the message.
    #[error("it is cut off")]
    Short,
    #[error("its version is {0}")]
    Version(u8),
    #[error("it is TLS; give tls")]
    Tls,
    #[error("it chooses method {0}, which was not offered")]
    Method(u8),
    #[error("its reserved bytes are not 0")]
    Reserved,
    #[error("its address type is {0}")]
    AddressType(u8),
    #[error("its domain name is not text")]
    Domain,
    /// The client never asks for fragments.
    #[error("it is a fragment")]
    Fragment,
}

/// The offered methods: both if a login is given, otherwise only the one without login.
pub fn greeting(login: bool) -> &'static [u8] {
    if login {
        &[VERSION, 2, METHOD_NONE, METHOD_PASSWORD]
    } else {
        &[VERSION, 1, METHOD_NONE]
    }
}

/// Reads the answer to a [`greeting`].
pub fn method(bytes: [u8; 2], login: bool) -> Result<Method, Bad> {
    match bytes {
        [VERSION, METHOD_NONE] => Ok(Method::None),
        [VERSION, METHOD_PASSWORD] if login => Ok(Method::Password),
        [VERSION, METHOD_REFUSED] => Ok(Method::Refused),
        [VERSION, other] => Err(Bad::Method(other)),
        [TLS_ALERT | TLS_HANDSHAKE, TLS_MAJOR] => Err(Bad::Tls),
        [version, _] => Err(Bad::Version(version)),
    }
}

/// User name and password, each of at most [`MAX_FIELD_BYTES`]; longer values are cut.
pub fn login(username: &str, password: &str) -> Vec<u8> {
    let mut bytes = vec![AUTH_VERSION];
    push_field(&mut bytes, username.as_bytes());
    push_field(&mut bytes, password.as_bytes());
    bytes
}

/// Reads the answer to a [`login`]: whether the login was right.
pub fn login_answer(bytes: [u8; 2]) -> Result<bool, Bad> {
    match bytes {
        [AUTH_VERSION, status] => Ok(status == 0),
        [version, _] => Err(Bad::Version(version)),
    }
}

pub fn request(command: Command, address: &Address) -> Vec<u8> {
    let mut bytes = vec![VERSION, command as u8, 0];
    push_address(&mut bytes, address);
    bytes
}

/// Reads a reply. [`Bad::Short`]: read on. The first two bytes are enough for a refusal, because some
/// proxies send no more.
pub fn reply(bytes: &[u8]) -> Result<Reply, Bad> {
    match bytes {
        [] => Err(Bad::Short),
        [version, ..] if *version != VERSION => Err(Bad::Version(*version)),
        [_] => Err(Bad::Short),
        [_, code, ..] if *code != 0 => Ok(Reply::Refused(*code)),
        [_, _] => Err(Bad::Short),
        [_, _, reserved, ..] if *reserved != 0 => Err(Bad::Reserved),
        [_, _, _, rest @ ..] => {
            let (address, used) = read_address(rest)?;
            Ok(Reply::Granted(address, 3 + used))
        }
    }
}

/// The header in front of each datagram to a proxy.
pub fn udp_header(address: &Address) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0];
    push_address(&mut bytes, address);
    bytes
}

/// Reads the whole header of a datagram from a proxy: the sender's address, and the header's length.
pub fn read_udp_header(datagram: &[u8]) -> Result<(Address, usize), Bad> {
    let (address, used) = read_address(udp_body(datagram)?)?;
    Ok((address, 3 + used))
}

/// Reads the header's length only, with the same checks except for the domain name's text: no
/// allocation.
#[inline]
pub fn udp_header_bytes(datagram: &[u8]) -> Result<usize, Bad> {
    let body = udp_body(datagram)?;
    Ok(3 + address_bytes(body)?)
}

/// The payload of a datagram, behind its header if it is `wrapped`; none if the header is malformed.
#[inline]
pub fn udp_payload(datagram: &[u8], wrapped: bool) -> Option<&[u8]> {
    let header = if wrapped {
        udp_header_bytes(datagram).ok()?
    } else {
        0
    };
    Some(&datagram[header..])
}

#[inline]
fn udp_body(datagram: &[u8]) -> Result<&[u8], Bad> {
    match datagram {
        [0, 0, 0, rest @ ..] => Ok(rest),
        [0, 0, _, ..] => Err(Bad::Fragment),
        [_, _, _, ..] => Err(Bad::Reserved),
        _ => Err(Bad::Short),
    }
}

fn push_field(bytes: &mut Vec<u8>, field: &[u8]) {
    let field = &field[..field.len().min(MAX_FIELD_BYTES)];
    bytes.push(field.len() as u8);
    bytes.extend_from_slice(field);
}

pub fn push_address(bytes: &mut Vec<u8>, address: &Address) {
    let port = match address {
        Address::Ip(address) => {
            match address.ip() {
                IpAddr::V4(ip) => {
                    bytes.push(TYPE_IPV4);
                    bytes.extend_from_slice(&ip.octets());
                }
                IpAddr::V6(ip) => {
                    bytes.push(TYPE_IPV6);
                    bytes.extend_from_slice(&ip.octets());
                }
            }
            address.port()
        }
        Address::Domain(name, port) => {
            bytes.push(TYPE_DOMAIN);
            push_field(bytes, name.as_bytes());
            *port
        }
    };
    bytes.extend_from_slice(&port.to_be_bytes());
}

/// Bytes of type, address and port, if all of them are there.
#[inline]
fn address_bytes(bytes: &[u8]) -> Result<usize, Bad> {
    let length = match bytes {
        [] | [TYPE_DOMAIN] => return Err(Bad::Short),
        [TYPE_IPV4, ..] => 1 + 4 + 2,
        [TYPE_IPV6, ..] => 1 + 16 + 2,
        [TYPE_DOMAIN, length, ..] => 1 + 1 + usize::from(*length) + 2,
        [other, ..] => return Err(Bad::AddressType(*other)),
    };
    if bytes.len() < length {
        return Err(Bad::Short);
    }
    Ok(length)
}

/// The address in front of other bytes, and its length.
pub fn read_address(bytes: &[u8]) -> Result<(Address, usize), Bad> {
    let used = address_bytes(bytes)?;
    let (host, port) = bytes[1..used].split_at(used - 3);
    let port = u16::from_be_bytes([port[0], port[1]]);
    let ip = |ip: IpAddr| Address::Ip(SocketAddr::new(ip, port));
    let address = match bytes[0] {
        TYPE_DOMAIN => {
            let name = std::str::from_utf8(&host[1..]).map_err(|_| Bad::Domain)?;
            Address::Domain(name.to_owned(), port)
        }
        TYPE_IPV4 => ip(Ipv4Addr::from(*host.first_chunk::<4>().ok_or(Bad::Short)?).into()),
        _ => ip(Ipv6Addr::from(*host.first_chunk::<16>().ok_or(Bad::Short)?).into()),
    };
    Ok((address, used))
}

impl Address {
    /// Bytes of the header in front of a datagram to this address.
    pub fn udp_header_bytes(&self) -> usize {
        udp_header(self).len()
    }
}

#[cfg(test)]
mod tests;
