//! The findings of a NAT probe, as JSON has them. Null is unknown: nothing was tried, or nothing came back that would show it.

use std::net::IpAddr;

use serde::Serialize;

use crate::probe::socks5::codec::Address;

/// The words of RFC 4787 (4.1 and 5) for mapping and filtering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dependence {
    /// The same for all destinations.
    EndpointIndependent,
    /// The same for all ports of an address.
    AddressDependent,
    /// Another one for each address and port.
    AddressAndPortDependent,
    /// The kinds above do not fit: one destination saw several sources, or the other address got through and the other port did not.
    Unstable,
}

/// The port from which far ends get the datagrams (RFC 4787, 4.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Port {
    /// The client's own.
    Preserved,
    /// The one of BND.PORT: the relay has one socket for both sides.
    Relay,
    Other,
}

/// The fate of datagrams with FRAG other than 0 (RFC 1928, 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fragments {
    /// A relay without fragmentation must do so.
    Dropped,
    Reassembled,
    /// Each fragment arrived as a whole datagram.
    PassedOn,
    /// Fragments did not arrive, and the association carried nothing afterwards.
    Ends,
}

/// The kind of address in the reply to UDP ASSOCIATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundIs {
    /// The address at which the proxy was dialled.
    Proxy,
    /// 0.0.0.0 or ::.
    Unspecified,
    /// A domain name of no bytes.
    Empty,
    Domain,
    /// IPv6 where the proxy was dialled over IPv4, or the other way round.
    OtherFamily,
    OtherAddress,
}

/// BND.ADDR and BND.PORT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Bound {
    /// HOST:PORT as the reply has it.
    pub address: String,
    pub is: BoundIs,
    /// Whether datagrams to this address came back. False: only those to the proxy's own address did.
    pub works: Option<bool>,
}

impl Bound {
    pub fn new(bound: &Address, proxy: IpAddr, works: Option<bool>) -> Self {
        let (address, is) = match bound {
            Address::Domain(name, port) if name.is_empty() => (format!(":{port}"), BoundIs::Empty),
            Address::Domain(name, port) => (format!("{name}:{port}"), BoundIs::Domain),
            Address::Ip(address) => {
                let ip = address.ip().to_canonical();
                let is = if ip.is_unspecified() {
                    BoundIs::Unspecified
                } else if ip == proxy.to_canonical() {
                    BoundIs::Proxy
                } else if ip.is_ipv4() != proxy.to_canonical().is_ipv4() {
                    BoundIs::OtherFamily
                } else {
                    BoundIs::OtherAddress
                };
                (address.to_string(), is)
            }
        };
        Self { address, is, works }
    }
}

/// Sources of answers, beside the relay's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswersFrom {
    Relay,
    OtherPort,
    OtherAddress,
}

/// Fate of an association after the client had closed the control connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AfterControl {
    /// Whether datagrams still went up, and down, at the end of `watched_s`.
    pub up: bool,
    pub down: bool,
    /// When the last datagram arrived, s after the end. Null: none that was sent after it.
    pub up_s: Option<f64>,
    pub down_s: Option<f64>,
    /// Whether the relay's port, and the port that far ends see, answered at the end that nothing listens there (ICMP).
    pub relay_closed: bool,
    pub source_closed: bool,
    /// How long the association was watched, s. Shorter if both ways had ended.
    pub watched_s: f64,
}

/// The idle life of a mapping in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Life {
    /// The longest idle time after which it was still there, s. Null: not even the shortest.
    pub kept_s: Option<f64>,
    /// The shortest idle time after which it was gone, s. Null: none of those tried.
    pub forgotten_s: Option<f64>,
}

/// Idle lives (RFC 4787, 4.3). All are null if no association could be tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Idle {
    /// After the idle time a datagram of the far end still reached the client.
    pub inbound: Option<Life>,
    /// After the idle time a datagram of the client still came from the same source.
    pub outbound: Option<Life>,
    /// Whether datagrams of the client alone kept a mapping for the longest time. Null also if no mapping was forgotten.
    pub refreshed_by_outbound: Option<bool>,
    /// The same for datagrams of the far end.
    pub refreshed_by_inbound: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "NatReport")]
pub struct Report {
    pub mapping: Option<Dependence>,
    pub filtering: Option<Dependence>,
    /// Whether one association reached another one at the address that far ends see (RFC 4787, 6).
    pub hairpinning: Option<bool>,
    pub port: Option<Port>,
    /// Whether the relay drops datagrams of another address than the control connection's, as RFC 1928 (7) says.
    pub checks_client: Option<bool>,
    /// Whether headers of answers always named the true sender.
    pub names_sender: Option<bool>,
    pub answers_from: Option<AnswersFrom>,
    pub bound: Option<Bound>,
    pub after_control: Option<AfterControl>,
    pub fragments: Option<Fragments>,
    /// Whether a datagram to an IPv6 target came back.
    pub ipv6: Option<bool>,
    /// Whether an association that had carried IPv4 carried IPv6, and then IPv4 again.
    pub both_families: Option<bool>,
    /// Whether a datagram to `localhost` came back.
    pub domain: Option<bool>,
    pub idle: Idle,
}
