//! The wire of a hop as a passive observer sees it: packets of one port are captured, and not delayed, and what they show is
//! held against what the hop must show.

mod capture;
mod flows;
mod greeting;
mod randomness;
pub mod registry;
mod rules;
mod stream;

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

pub use capture::Capture;

use crate::process::namespace::NamespaceOf;

/// The protocol that a hop must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    /// Anything: the protocol does not encrypt.
    Plain,
    /// TLS over TCP: a greeting, and records to the end.
    Tls,
    /// QUIC: an Initial of a known version, then packets of QUIC.
    Quic,
    /// Bytes without a greeting that look random.
    Random,
    /// SSH: its banner, and bytes that look random in connections that were there before.
    Ssh,
    /// Messages of WireGuard.
    Wireguard,
    /// Packets of OpenVPN, over UDP or TCP.
    Openvpn,
}

/// `port` is the server's; `far` is where probes ask to be connected to: addresses that must not be readable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub port: u16,
    pub shows: Shows,
    #[serde(default)]
    pub far: Vec<SocketAddr>,
    #[serde(default)]
    pub namespace: Option<NamespaceOf>,
}

/// Findings in the port's connections and datagrams.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// In both directions, without headers of the network.
    pub bytes: u64,
    /// Whether a piece of a probe's payload could be read.
    pub payload: bool,
    /// Whether the far end's address and port could be read.
    pub request: bool,
    /// The first thing that is not as it must be; null where all is.
    pub fault: Option<String>,
    /// Whether the beginning of a connection that carried something was seen, and was as it must be.
    pub greeted: bool,
    /// Whether a connection that was checked carried something in both directions.
    pub carried: bool,
    /// Whether a part of a connection was not captured, so that the rest of it was not checked.
    pub gaps: bool,
}
