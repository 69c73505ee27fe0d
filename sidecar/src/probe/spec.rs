//! What is asked of a probe, as JSON has it. [`super::plan`] checks it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tls::TlsSpec;
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
}

impl fmt::Display for ProbeKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Handshake => "handshake",
            Self::Throughput => "throughput",
            Self::Concurrency => "concurrency",
            Self::Dns => "dns",
            Self::Fetch => "fetch",
            Self::Flow => "flow",
        })
    }
}

/// When the next operation begins.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loop {
    /// When the one before has ended.
    #[default]
    Closed,
    /// At a fixed rate, all connections together; latency counts from the intended time.
    Open { rate_per_s: f64 },
}

/// What a DNS probe asks for: A records of `n0000000000.RUN.windtunnel.test` and so on ([`crate::dns`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DnsSpec {
    /// A label that keeps the names of one probe apart from those of others.
    #[serde(default = "defaults::run")]
    pub run: String,
    /// How many names it asks for in turn; none: each query asks for a new one.
    #[serde(default)]
    pub names: Option<u64>,
}

impl Default for DnsSpec {
    fn default() -> Self {
        Self {
            run: defaults::run(),
            names: None,
        }
    }
}

/// What one operation of a fetch asks for: a document, and when that is here the other objects, over several tunnels at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchSpec {
    /// Of one object.
    #[serde(default = "defaults::object_bytes")]
    pub bytes: u64,
    /// The document included.
    #[serde(default = "defaults::one")]
    pub objects: u64,
    /// Object `i` comes over tunnel `i mod tunnels`.
    #[serde(default = "defaults::one")]
    pub tunnels: u64,
    /// Each operation opens its tunnels, the first one at its start and the others when the document is here. Else
    /// they are kept from operation to operation.
    #[serde(default)]
    pub fresh: bool,
}

impl Default for FetchSpec {
    fn default() -> Self {
        Self {
            bytes: defaults::object_bytes(),
            objects: defaults::one(),
            tunnels: defaults::one(),
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

/// Which way a flow keeps its tunnels full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum FlowDirection {
    #[default]
    Neither,
    Up,
    Down,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    #[serde(default)]
    pub direction: FlowDirection,
    /// Of the measured part.
    #[serde(default = "defaults::flow_seconds")]
    pub seconds: f64,
    /// Before it, as full and with as many requests.
    #[serde(default)]
    pub warmup_s: f64,
    /// On each tunnel; 0: none.
    #[serde(default = "defaults::requests_per_s")]
    pub requests_per_s: f64,
    /// Whether the probe reads what comes down. A tunnel that it does not read has no requests.
    #[serde(default = "defaults::reads")]
    pub reads: bool,
    /// KiB of one write.
    #[serde(default = "defaults::blocks")]
    pub blocks: u64,
    /// Congestion control of both ends' own sockets, such as `cubic`; none: the kernel's own. Through a proxy it is that of the ends, not of
    /// the hop.
    #[serde(default)]
    pub congestion: Option<String>,
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            direction: FlowDirection::default(),
            seconds: defaults::flow_seconds(),
            warmup_s: 0.0,
            requests_per_s: defaults::requests_per_s(),
            reads: defaults::reads(),
            blocks: defaults::blocks(),
            congestion: None,
        }
    }
}

impl FlowSpec {
    /// Whether there are requests.
    pub fn asks(&self) -> bool {
        self.reads && self.requests_per_s > 0.0
    }

    /// Requests of the measured part of one tunnel, one more or less; a tunnel without any is one operation, so that its failure is seen.
    pub fn marks(&self) -> u64 {
        if !self.asks() {
            return 1;
        }
        (self.seconds * self.requests_per_s).ceil() as u64 + 1
    }
}

/// A SOCKS5 proxy. User name and password go together.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxySpec {
    pub address: String,
    #[serde(default)]
    pub username: Option<String>,
    #[serde(default)]
    pub password: Option<String>,
    /// Its TCP connections, those of UDP associations too, are in TLS; datagrams are not.
    #[serde(default)]
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
    /// HOST:PORT, asked of the proxy, or dialled where there is none.
    pub target: String,
    #[serde(default)]
    pub proxy: Option<ProxySpec>,
    #[serde(default, rename = "loop")]
    pub pace: Loop,
    /// Measured operations, all connections together.
    #[serde(default = "defaults::count")]
    pub count: u64,
    /// Operations before them, all connections together, that are not recorded.
    #[serde(default)]
    pub warmup: u64,
    #[serde(default = "defaults::one")]
    pub connections: u64,
    #[serde(default = "defaults::payload_bytes")]
    pub payload_bytes: u64,
    /// Datagrams in flight.
    #[serde(default = "defaults::one")]
    pub window: u64,
    /// Of one operation; 300 for udp, 1,000 for dns and 5,000 for the others where it is left out.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// So long without any datagram, or byte of the tunnels that are held, ends the probe; where it is left out 3,000, and for
    /// udp and dns ten of the timeouts if that is more.
    #[serde(default)]
    pub stall_ms: Option<u64>,
    #[serde(default = "defaults::handshake_timeout_ms")]
    pub handshake_timeout_ms: u64,
    /// The whole probe.
    #[serde(default = "defaults::limit_s")]
    pub limit_s: f64,
    #[serde(default)]
    pub transfer: Option<Transfer>,
    #[serde(default)]
    pub dns: Option<DnsSpec>,
    #[serde(default)]
    pub fetch: Option<FetchSpec>,
    #[serde(default)]
    pub flow: Option<FlowSpec>,
    /// A handshake lasts until the first payload has come back through the tunnel: some proxies say that a tunnel is
    /// there before they have opened it.
    #[serde(default)]
    pub first_reply: bool,
    /// CPUs that the probe's threads are pinned to; none: not pinned.
    #[serde(default)]
    pub cpus: Vec<usize>,
    #[serde(default)]
    pub wait: Wait,
    /// Raw samples kept per series.
    #[serde(default = "defaults::keep")]
    pub keep: u64,
    /// Testbed instance whose usage is measured over exactly the measured part.
    #[serde(default)]
    pub instance: Option<String>,
    /// Where the probe's own sockets are; none: this machine's own network.
    #[serde(default)]
    pub namespace: Option<NamespaceOf>,
    /// The echo server that it ends at, where `target` is not its address.
    #[serde(default)]
    pub far_end: Option<String>,
    /// A paused measuring window (POST /windows) that runs over exactly the measured part.
    #[serde(default)]
    pub usage_window: Option<String>,
    /// A measuring window that tells who uses each CPU over the measured part, and measures nothing else of it.
    #[serde(default)]
    pub watched_by: Option<String>,
}

impl Spec {
    /// One of which all but these is left out.
    pub fn new(kind: ProbeKind, target: String) -> Self {
        Self {
            kind,
            target,
            proxy: None,
            pace: Loop::default(),
            count: defaults::count(),
            warmup: 0,
            connections: defaults::one(),
            payload_bytes: defaults::payload_bytes(),
            window: defaults::one(),
            timeout_ms: None,
            stall_ms: None,
            handshake_timeout_ms: defaults::handshake_timeout_ms(),
            limit_s: defaults::limit_s(),
            transfer: None,
            dns: None,
            fetch: None,
            flow: None,
            first_reply: false,
            cpus: Vec::new(),
            wait: Wait::default(),
            keep: defaults::keep(),
            instance: None,
            namespace: None,
            far_end: None,
            usage_window: None,
            watched_by: None,
        }
    }
}

mod defaults {
    pub fn run() -> String {
        "r0".into()
    }
    pub fn count() -> u64 {
        2_000
    }
    pub fn one() -> u64 {
        1
    }
    pub fn payload_bytes() -> u64 {
        1_024
    }
    pub fn handshake_timeout_ms() -> u64 {
        5_000
    }
    pub fn limit_s() -> f64 {
        60.0
    }
    pub fn keep() -> u64 {
        1_000_000
    }
    pub fn flow_seconds() -> f64 {
        10.0
    }
    pub fn requests_per_s() -> f64 {
        10.0
    }
    pub fn reads() -> bool {
        true
    }
    pub fn blocks() -> u64 {
        16
    }
    pub fn object_bytes() -> u64 {
        32 << 10
    }
}
