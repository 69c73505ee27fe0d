//! The request for a capture, and its findings.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

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
    /// SSH: its banner. Connections from before the capture must have bytes that look random.
    Ssh,
    /// Messages of WireGuard.
    Wireguard,
    /// Packets of OpenVPN, over UDP or TCP.
    Openvpn,
}

/// `port` is the server's. `far` lists the targets of probes: addresses that must not be readable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub port: u16,
    pub shows: Shows,
    #[serde(default)]
    pub far: Vec<SocketAddr>,
    pub namespace: Option<NamespaceOf>,
}

/// Findings in the port's connections and datagrams.
#[derive(Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Capture")]
pub struct Found {
    /// In both directions, without headers of the network.
    pub bytes: u64,
    /// Whether a piece of a probe's payload was readable.
    pub payload: bool,
    /// Whether the far end's address and port were readable.
    pub request: bool,
    /// The first fault; null if the traffic is as it must be.
    pub fault: Option<String>,
    /// Whether the beginning of a connection with traffic was seen, and was correct.
    pub greeted: bool,
    /// Whether a checked connection had traffic in both directions.
    pub carried: bool,
    /// Whether a part of a connection was not captured. The rest of that connection was not checked.
    pub gaps: bool,
}
