//! The spec of a probe, as JSON has it. [`super::plan`] checks it.

use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use super::tls::TlsSpec;
use super::users::spec::UsersSpec;
use crate::echo::flow::Way;
use crate::echo::transfer::{Direction, Transfer};
use crate::net::wait::Wait;
use crate::process::namespace::NamespaceOf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// Request and response over established connections.
    Tcp,
    /// Datagrams with a window in flight.
    Udp,
    /// Many UDP associations open at once, with datagrams at a fixed rate.
    Associations,
    /// From TCP dial to a usable tunnel.
    Handshake,
    /// Bulk transfer.
    Throughput,
    /// Many tunnels open at once.
    Concurrency,
    /// DNS queries over UDP, with a window in flight.
    Dns,
    /// Objects that the far end sends when it is asked for them.
    Fetch,
    /// Tunnels that are kept full for a time, and requests on the same tunnels.
    Flow,
    /// How a UDP association behaves towards several far ends.
    Nat,
    /// A fetch by HTTP/2 over TLS over TCP.
    H2,
    /// A fetch by HTTP/3 over QUIC.
    H3,
    /// A connection for each user of a list, with the user's own key.
    Users,
    /// Users' connections that stay open, with requests at a fixed rate.
    Steady,
}

impl ProbeKind {
    /// Whether the target is the far end's UDP port.
    pub fn over_udp(self) -> bool {
        matches!(
            self,
            Self::Udp | Self::Dns | Self::Nat | Self::H3 | Self::Associations
        )
    }

    /// The default timeout of one operation, milliseconds.
    pub fn timeout_ms(self) -> u64 {
        match self {
            Self::Udp => 300,
            Self::Nat => 500,
            Self::Dns | Self::Associations => 1_000,
            _ => 5_000,
        }
    }

    /// Whether the far end is a web server.
    pub fn of_web(self) -> bool {
        matches!(self, Self::H2 | Self::H3)
    }
}

shown_as_json!(ProbeKind);

/// When the next operation begins.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loop {
    /// When the previous operation has ended.
    #[default]
    Closed,
    /// At a fixed rate, all connections together; latency counts from the intended time.
    Open { rate_per_s: f64 },
}

/// The queries of a DNS probe: A records of `n0000000000.RUN.windtunnel.test` and so on
/// ([`crate::dns`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct DnsSpec {
    /// A label that separates the names of this probe from the names of other probes.
    #[arg(long, value_name = "LABEL", default_value_t = Self::default().run, help = "The label before windtunnel.test")]
    pub run: String,
    /// The number of names that the probe repeats; if left out, each query has a new name.
    #[arg(
        long,
        value_name = "N",
        help = "Number of names to query in turn [default: a new name each time]"
    )]
    pub names: Option<u64>,
}

impl Default for DnsSpec {
    fn default() -> Self {
        Self {
            run: "r0".into(),
            names: None,
        }
    }
}

/// One operation of a fetch: a document first, then the other objects over several tunnels at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct FetchSpec {
    /// Size of one object.
    #[arg(long, value_name = "N", default_value_t = Self::default().bytes, help = "Bytes of an object")]
    pub bytes: u64,
    /// Number of objects, the document included.
    #[arg(long, value_name = "N", default_value_t = Self::default().objects, help = "Objects per operation; the other objects are requested after the first has arrived")]
    pub objects: u64,
    /// Object `i` comes over tunnel `i mod tunnels`. With `h2` and `h3` all objects come over one connection, which each operation opens.
    #[arg(long, value_name = "N", default_value_t = Self::default().tunnels, help = "Tunnels that carry the objects at once")]
    pub tunnels: u64,
    /// Each operation opens its tunnels: the first one at its start, and the others when the document is here. If false, tunnels are kept
    /// from operation to operation.
    #[arg(long, help = "Open new tunnels for each operation")]
    pub fresh: bool,
}

impl Default for FetchSpec {
    fn default() -> Self {
        Self {
            bytes: 32 << 10,
            objects: 1,
            tunnels: 1,
            fresh: false,
        }
    }
}

impl FetchSpec {
    /// Every byte of an object is checked.
    pub fn transfer(self) -> Transfer {
        Transfer {
            bytes: self.bytes,
            direction: Direction::Down,
            every_byte: true,
            ..Transfer::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct FlowSpec {
    #[arg(
        long,
        value_enum,
        default_value = "neither",
        help = "Direction in which the tunnels are kept full"
    )]
    pub direction: Way,
    /// Length of the measured part.
    #[arg(long, value_name = "S", default_value_t = Self::default().seconds, help = "Duration of the measured part")]
    pub seconds: f64,
    /// Length of the warm-up, with the same load as the measured part.
    #[arg(long, value_name = "S", default_value_t = Self::default().warmup_s, help = "Duration of the warm-up, with full tunnels")]
    pub warmup_s: f64,
    /// Rate on each tunnel; 0: no requests.
    #[arg(long = "requests", value_name = "PER_S", default_value_t = Self::default().requests_per_s, help = "Requests on each tunnel")]
    pub requests_per_s: f64,
    /// Whether the probe reads the payload that comes down. A tunnel that is not read has no requests.
    #[arg(skip = Self::default().reads)]
    pub reads: bool,
    /// KiB of one write.
    #[arg(skip = Self::default().blocks)]
    pub blocks: u64,
    /// Congestion control of the sockets at both ends, such as `cubic`; if left out, the kernel's default. If a proxy is between, the
    /// setting applies to the ends, not to the hop.
    #[arg(
        long,
        value_name = "NAME",
        help = "Congestion control of both ends' sockets [default: the kernel's own]"
    )]
    pub congestion: Option<String>,
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            direction: Way::default(),
            seconds: 10.0,
            warmup_s: 0.0,
            requests_per_s: 10.0,
            reads: true,
            blocks: 16,
            congestion: None,
        }
    }
}

impl FlowSpec {
    /// Whether there are requests.
    pub fn asks(&self) -> bool {
        self.reads && self.requests_per_s > 0.0
    }

    /// Requests of the measured part of one tunnel, one more or less. A tunnel without requests is one operation, so that its failure is
    /// counted.
    pub fn marks(&self) -> u64 {
        if !self.asks() {
            return 1;
        }
        (self.seconds * self.requests_per_s).ceil() as u64 + 1
    }
}

/// The idle times and the far ends of a NAT probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NatSpec {
    /// For each of these times an association carries nothing, s. The probe takes the longest time and some timeouts.
    pub idle_s: Vec<f64>,
    /// Two addresses of this machine, at which the far ends are.
    pub far_ends: [Ipv4Addr; 2],
}

impl Default for NatSpec {
    fn default() -> Self {
        Self {
            idle_s: vec![1.0, 1.5, 2.5],
            far_ends: [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2)],
        }
    }
}

impl NatSpec {
    /// Associations whose first round trip is an operation: one for the mapping, one for the filtering, two for hairpinning; through a proxy
    /// one for the end of the control connection and one for fragments; one for each idle time, and two for the refreshes.
    pub fn associations(&self, proxied: bool) -> u64 {
        let idle = self.idle_s.len() as u64;
        4 + if proxied { 2 } else { 0 } + if idle > 0 { idle + 2 } else { 0 }
    }
}

/// A time without traffic, after the operations. Everything that is open stays open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleSpec {
    /// The time in which the use of the instance's processes, and packets, are counted.
    pub seconds: f64,
    /// The time before, in which programs finish the work of the operations.
    #[serde(default = "defaults::settle_s")]
    pub settle_s: f64,
    /// Further ports whose packets count. The target's and the proxy's always count.
    #[serde(default)]
    pub ports: Vec<u16>,
}

/// A SOCKS5 proxy. User name and password go together.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxySpec {
    pub address: String,
    pub username: Option<String>,
    pub password: Option<String>,
    /// TCP connections to the proxy are in TLS, and so are control connections of UDP associations;
    /// datagrams are not.
    pub tls: Option<TlsSpec>,
}

/// Without the password, and without a key.
impl fmt::Debug for ProxySpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ProxySpec({})", self.address)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub kind: ProbeKind,
    /// HOST:PORT, requested from the proxy, or dialled if no proxy is given.
    pub target: String,
    pub proxy: Option<ProxySpec>,
    #[serde(default, rename = "loop")]
    pub pace: Loop,
    /// Measured operations, all connections together.
    #[serde(default = "defaults::number::<2_000>")]
    pub count: u64,
    /// Operations before the measured ones, all connections together, that are not recorded.
    #[serde(default)]
    pub warmup: u64,
    #[serde(default = "defaults::number::<1>")]
    pub connections: u64,
    #[serde(default = "defaults::number::<1_024>")]
    pub payload_bytes: u64,
    /// Datagrams in flight.
    #[serde(default = "defaults::number::<1>")]
    pub window: u64,
    /// Timeout of one operation. The default is [`ProbeKind::timeout_ms`].
    pub timeout_ms: Option<u64>,
    /// The probe ends after this time without any datagram, or without any byte of the tunnels that are held. The default is 3,000; for
    /// udp and dns it is ten timeouts if that is more.
    pub stall_ms: Option<u64>,
    #[serde(default = "defaults::number::<5_000>")]
    pub handshake_timeout_ms: u64,
    /// Limit of the whole probe.
    #[serde(default = "defaults::limit_s")]
    pub limit_s: f64,
    /// Addresses at the far end that associations send to, one each in turn: `target` and the addresses after it.
    #[serde(default = "defaults::number::<1>")]
    pub destinations: u64,
    pub transfer: Option<Transfer>,
    pub dns: Option<DnsSpec>,
    pub fetch: Option<FetchSpec>,
    pub flow: Option<FlowSpec>,
    pub nat: Option<NatSpec>,
    /// For `concurrency` and `associations`.
    pub idle: Option<IdleSpec>,
    /// The users of `users` and `steady`.
    pub users: Option<UsersSpec>,
    /// h3: the largest datagram that discovery may try, bytes, at both ends.
    #[serde(default = "defaults::mtu")]
    pub mtu: u16,
    /// A handshake lasts until the first payload has come back through the tunnel: some proxies say that a tunnel is
    /// there before they have opened it.
    #[serde(default)]
    pub first_reply: bool,
    /// A handshake lasts until the far end has answered the client's end (FIN), which follows the payload at once. The far end must have
    /// the fault `tcp.farewell`, and a delay that is longer than the way there.
    #[serde(default)]
    pub half_close: bool,
    /// The payload is in TLS 1.3 with the far end, inside the tunnel. The far end is an echo server of this sidecar with `tls`. For
    /// `throughput` one way, and for `handshake`.
    #[serde(default)]
    pub inner_tls: bool,
    /// CPUs that the probe's threads are pinned to; if left out, threads are not pinned.
    #[serde(default)]
    pub cpus: Vec<usize>,
    #[serde(default)]
    pub wait: Wait,
    /// Raw samples kept per series.
    #[serde(default = "defaults::number::<1_000_000>")]
    pub keep: u64,
    /// Testbed instance whose usage is measured over exactly the measured part.
    pub instance: Option<String>,
    /// The namespace of the probe's own sockets; if left out, this machine's own network.
    pub namespace: Option<NamespaceOf>,
    /// The echo server at the end of the path, if `target` is not its address.
    pub far_end: Option<String>,
    /// A paused measuring window (POST /windows) that runs over exactly the measured part.
    pub usage_window: Option<String>,
    /// A measuring window that shows which processes use each CPU over the measured part, and measures only this.
    pub watched_by: Option<String>,
}

impl Spec {
    /// Whether the target is the far end's UDP port.
    pub fn over_udp(&self) -> bool {
        self.kind.over_udp() || self.users.as_ref().is_some_and(|users| users.udp)
    }

    /// A spec with these fields, and the default for all others.
    pub fn new(kind: ProbeKind, target: String) -> Self {
        let given = serde_json::json!({ "kind": kind, "target": target });
        serde_json::from_value(given).expect("all other fields have defaults")
    }
}

/// QUIC's smallest datagram (RFC 9000, 14.1), bytes.
pub const LEAST_MTU: u16 = 1_200;
pub use defaults::MOST_MTU;

mod defaults {
    /// The largest datagram that quinn's discovery tries by default, bytes: it fits into an Ethernet frame over IPv6.
    pub const MOST_MTU: u16 = 1_452;

    pub fn number<const N: u64>() -> u64 {
        N
    }
    pub fn mtu() -> u16 {
        MOST_MTU
    }
    pub fn limit_s() -> f64 {
        60.0
    }
    pub fn settle_s() -> f64 {
        0.5
    }
}
