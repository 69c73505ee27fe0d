//! The users of a probe, as JSON has them.

use std::fmt;

use ring::aead::{self, Algorithm};
use serde::{Deserialize, Serialize};

use crate::probe::tls::TlsSpec;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Version 0, without a flow.
    Vless,
    Trojan,
    /// AEAD (SIP004), and 2022 (SIP022) by its methods.
    Shadowsocks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    #[serde(rename = "chacha20-ietf-poly1305")]
    Chacha20,
    #[serde(rename = "aes-256-gcm")]
    Aes256,
    #[serde(rename = "aes-128-gcm")]
    Aes128,
    #[serde(rename = "2022-blake3-aes-256-gcm")]
    Blake3Aes256,
    #[serde(rename = "2022-blake3-aes-128-gcm")]
    Blake3Aes128,
}

impl Method {
    pub fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Chacha20 => &aead::CHACHA20_POLY1305,
            Self::Aes256 | Self::Blake3Aes256 => &aead::AES_256_GCM,
            Self::Aes128 | Self::Blake3Aes128 => &aead::AES_128_GCM,
        }
    }

    /// Bytes of a key, and of a salt.
    pub fn key_bytes(self) -> usize {
        self.algorithm().key_len()
    }

    pub fn is_2022(self) -> bool {
        matches!(self, Self::Blake3Aes256 | Self::Blake3Aes128)
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSpec {
    /// Names the user in the result.
    pub name: String,
    /// vless: a UUID. trojan, and Shadowsocks AEAD: a password. Shadowsocks 2022: a key in base64.
    pub key: String,
    /// Bytes that the user sends, and gets back; if left out, `payload_bytes`. `users` only.
    pub bytes: Option<u64>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsersSpec {
    pub protocol: Protocol,
    /// HOST:PORT of the proxy's inbound.
    pub address: String,
    /// vless and trojan only; if left out, the connections are plain.
    pub tls: Option<TlsSpec>,
    /// Shadowsocks only.
    pub method: Option<Method>,
    /// The server's key in base64, for several users of Shadowsocks 2022; if left out, there is no identity header.
    pub server_key: Option<String>,
    /// One connection for each entry, in this order. A name may come several times.
    pub list: Vec<UserSpec>,
    /// Length of the measured part of `steady` in the open loop.
    pub seconds: Option<f64>,
    /// `users` only: each entry opens connections until one does this.
    pub until: Option<Until>,
    /// `users` without `until` only: each entry sends its bytes as datagrams of `payload_bytes`, to the far end's UDP port.
    #[serde(default)]
    pub udp: bool,
}

impl UsersSpec {
    /// Whether these are the tries of one user.
    pub fn is_trying(&self) -> bool {
        self.until.is_some() && self.list.len() == 1
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// True: a connection carries data. False: the proxy ends two connections in a row, or leaves them silent.
    pub carries: bool,
    /// Time between the beginnings of two tries, ms. Later it is a tenth of the elapsed time, if that is longer.
    pub every_ms: f64,
}

/// Without the keys.
impl fmt::Debug for UsersSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.list.len();
        write!(
            out,
            "UsersSpec({:?} {}, {number})",
            self.protocol, self.address
        )
    }
}

/// The key that a user's connection begins with, ready for use.
#[derive(Clone)]
pub enum Credential {
    Vless([u8; 16]),
    /// SHA-224 of the password, in hexadecimal.
    Trojan(String),
    /// The user's key; for 2022 the server's key, too.
    Shadowsocks {
        method: Method,
        key: Vec<u8>,
        server: Option<Vec<u8>>,
    },
}
