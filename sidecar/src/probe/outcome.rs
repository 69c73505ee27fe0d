//! The result of a probe, as JSON has it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use super::far_end::Counts;
use super::kinds::ErrorKind;
use super::nat::report::Report;
use super::tls::Session;
use crate::process::role::Role;
use crate::process::scheduling::Scheduling;
use crate::process::window::Usage;
use crate::wire::Packets;

/// Why a probe ended before its count was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// `limit_s`.
    Limit,
    /// No bytes were received for `stall_ms`.
    Stalled,
    /// Three failures in a row.
    Failures,
    /// The control connection of the UDP association ended.
    ControlClosed,
    Cancelled,
}

shown_as_json!(Stopped);

/// UDP answers that do not count as answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Anomalies {
    /// Answered already.
    #[serde(skip_serializing_if = "zero")]
    pub duplicated: u64,
    /// The sequence number is below one that had arrived. The datagram can still be an answer.
    #[serde(skip_serializing_if = "zero")]
    pub out_of_order: u64,
    /// The first answer to a datagram that counts as lost already.
    #[serde(skip_serializing_if = "zero")]
    pub late: u64,
    /// Never sent.
    #[serde(skip_serializing_if = "zero")]
    pub unexpected: u64,
    /// From another address or port than the relay's. Such a datagram answers none.
    #[serde(skip_serializing_if = "zero")]
    pub other_source: u64,
}

fn zero(count: &u64) -> bool {
    *count == 0
}

/// Percentiles are of an HdrHistogram of all samples, with three significant digits; count, minimum,
/// maximum and mean are exact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SeriesSummary {
    pub name: &'static str,
    pub count: u64,
    /// Raw samples kept, the first ones.
    pub kept: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub p99_9_ns: u64,
    /// The raw samples, in the order in which they ended.
    #[serde(skip)]
    pub values: Vec<u64>,
    /// When each of them ended.
    #[serde(skip)]
    pub ends_unix_us: Vec<u64>,
}

/// Tunnels by the far end's state at the moment of the proxy's grant (the answer of CONNECT).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Granted {
    /// Tunnels with a known state, the warm-up included.
    pub tunnels: u64,
    /// Those granted before a connection had reached the far end: early answers.
    pub before_far_end: u64,
}

/// The tunnels of a concurrency probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Tunnels {
    pub asked: u64,
    pub open: u64,
    pub open_all_s: f64,
}

/// Why and when a flow's tunnel carried nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Died {
    /// `stalled`: no bytes came any more, although the tunnel was open.
    pub kind: ErrorKind,
    /// After the flow's start.
    pub at_s: f64,
}

/// One tunnel of a flow: bytes in the direction that is kept full, or downwards if the direction is
/// `neither`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FlowTunnel {
    /// Bytes that the sender's kernel accepted. Downwards, the far end reported this number, and may have sent more since.
    pub sent: u64,
    /// Upwards, the number that the far end reported last.
    pub received: u64,
    pub died: Option<Died>,
}

/// A flow over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Flow {
    pub began_unix_us: u64,
    /// When the measured part began, after the start.
    pub measured_from_s: f64,
    pub bucket_ms: u64,
    /// Bytes that the receivers got over all tunnels in each bucket, from the start to the end of the measured part.
    pub bytes: Vec<u64>,
    pub tunnels: Vec<FlowTunnel>,
}

/// QUIC's view of the path, over all operations of an h3 probe, warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Quic {
    /// The smallest and the largest payload that the client's discovery (DPLPMTUD, RFC 8899) had found for its datagrams when an operation
    /// ended, bytes. Null: no connection was made.
    pub mtu_up: Option<[u64; 2]>,
    /// The same for the way down: the largest datagram that came in each operation, tests of the far end's discovery included.
    pub mtu_down: Option<[u64; 2]>,
    pub datagrams_sent: u64,
    pub datagrams_received: u64,
    /// Packets of the client that it counts as lost, without tests of the discovery.
    pub packets_lost: u64,
}

/// A time without any datagram of an association, longer than 200 ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Gap {
    /// Its start, after the start of the measured part.
    pub at_s: f64,
    pub ms: f64,
}

/// UDP associations that were open at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Associations {
    pub asked: u64,
    pub opened: u64,
    /// Those through which a right answer came back from the far end, in time or late.
    pub carried: u64,
    /// From the first dial to the last association that opened or failed.
    pub open_all_s: f64,
    /// Those that were not opened, or that the proxy ended, by kind.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Answers that came through another association than their datagram's. `unexpected` has them, too.
    pub misdelivered: u64,
    /// Whole answers to a probe that has ended, at a port that this one has now. No anomaly: the tag tells whose they are.
    pub stale: u64,
    /// Number of runs of consecutive losses of one association, by their length. Late answers count as lost.
    pub loss_bursts: BTreeMap<u64, u64>,
    /// In order of their ends, of all associations, 1,000 at most. Null if an association sends less often than each 200 ms.
    pub gaps: Option<Vec<Gap>>,
}

/// One connection of a user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UserOutcome {
    pub name: String,
    /// `users`: all bytes came back and were right. `steady`: an answer of the far end came back.
    pub carried: bool,
    /// Why it carried nothing, or nothing more. A refusal is an error with `received` 0.
    pub error: Option<ErrorKind>,
    /// Payload that the probe wrote to the connection, bytes.
    pub sent: u64,
    /// Payload that came back, bytes.
    pub received: u64,
    /// From the dial to the first byte of the far end.
    pub first_byte_ms: Option<f64>,
    /// From the dial to the end.
    pub took_ms: f64,
    /// `steady`: when the open connection ended alone, after the start of the measured part.
    pub ended_s: Option<f64>,
    /// `steady`: when the first request that has no answer was due, after the start, if the connection is still open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_s: Option<f64>,
    /// `users` with `until`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
}

/// When a user's connections began to do what `until` waits for. Times are after the entry's start, ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Turn {
    /// The entry's start.
    pub began_unix_us: u64,
    pub tries: u64,
    /// Beginning of the last try before that showed the opposite; null: none did.
    pub last_other_ms: Option<f64>,
    /// Beginning of the try that did it; null: none did.
    pub turned_ms: Option<f64>,
    /// When that try showed it: its first byte, or its end without data.
    pub seen_ms: Option<f64>,
}

/// The work of a process and its descendants in the idle time.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct IdleProcess {
    pub name: String,
    pub role: Role,
    /// CPU clocks of processes count nanoseconds.
    pub cpu_s: f64,
    #[serde(flatten)]
    pub scheduling: Scheduling,
    /// At the end of the time.
    pub anon_bytes: u64,
    pub threads: u64,
    /// Null if unknown.
    pub descriptors: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "IdleTime")]
pub struct Idle {
    pub seconds: f64,
    /// The number that was open when the time began.
    pub open: u64,
    /// When the peer ended one of them, after the begin.
    pub ended_s: Vec<f64>,
    /// When the far end saw the end of a tunnel, after the begin, to 0.2 s. Null: associations, or the far end is no echo server of this sidecar.
    pub ended_there_s: Option<Vec<f64>>,
    /// Datagrams, and tunnels with bytes, that came although nothing was asked.
    pub unasked: u64,
    /// Those that carried a round trip after the time.
    pub answered: u64,
    /// The processes that lived through the time. Empty without an instance.
    pub processes: Vec<IdleProcess>,
    /// Packets of the proxy's port, the target's and the further ones, in the probe's network namespace, each once. Null: they cannot be
    /// captured, some were lost, or an address is not of IPv4.
    pub wire: Option<Packets>,
}

#[derive(Debug, Clone, Default, Serialize, schemars::JsonSchema)]
pub struct Outcome {
    /// From the first measured send, or intended send, to the last measured end. An open loop takes at least the planned time, `count /
    /// rate_per_s`.
    pub duration_s: f64,
    pub attempted: u64,
    pub succeeded: u64,
    /// Failed operations by kind. The sum with `succeeded` is `attempted`.
    pub errors: BTreeMap<ErrorKind, u64>,
    pub anomalies: Anomalies,
    /// The last sender that `other_source` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_source: Option<SocketAddr>,
    /// Payload of the operations that succeeded, one direction.
    pub bytes: u64,
    pub stopped: Option<Stopped>,
    /// Operations of the warm-up that failed; `udp` and `dns` report them, and other kinds have null.
    pub warmup_failed: Option<u64>,
    /// Datagrams whose answer had arrived when the probe went on after a pause and after their timeout. Such an answer may have been in
    /// time or late. These datagrams are in no other count, and the probe sent others in their place.
    #[serde(skip_serializing_if = "zero")]
    pub replaced: u64,
    /// CPU time of the probe's threads over the measured part.
    pub probe_cpu_s: f64,
    pub threads: u64,
    pub cpus: Vec<usize>,
    pub series: Vec<SeriesSummary>,
    pub usage: Option<Usage>,
    pub tunnels: Option<Tunnels>,
    /// `handshake` with one tunnel at a time, to an echo server of this sidecar; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted: Option<Granted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// The findings of a NAT probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nat: Option<Report>,
    /// Versions and ciphers that the sessions inside the tunnels negotiated, each different result once; left out without such a session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner_tls: Vec<Session>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<Quic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub associations: Option<Associations>,
    /// The time without traffic, if it was whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// In the order of the list; left out by kinds without users.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<UserOutcome>,
    /// Counts of the far end, warm-up included. Null if the far end is not an echo server of this sidecar; left out if the kind has no
    /// such counts (`dns`, `nat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_end: Option<Option<Counts>>,
}
