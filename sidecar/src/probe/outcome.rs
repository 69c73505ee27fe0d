//! What a probe measured, as JSON has it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::far_end::Counts;
use super::kinds::ErrorKind;
use crate::process::window::Usage;

/// Why a probe ended before its count was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// `limit_s`.
    Limit,
    /// Nothing was received for `stall_ms`.
    Stalled,
    /// Three failures in a row.
    Failures,
    /// The control connection of the UDP association ended.
    ControlClosed,
    Cancelled,
}

impl Stopped {
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Stalled => "stalled",
            Self::Failures => "failures",
            Self::ControlClosed => "control_closed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// UDP answers that are no answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Anomalies {
    /// Answered already.
    #[serde(skip_serializing_if = "zero")]
    pub duplicated: u64,
    /// Arrived with a sequence number below one that had arrived. It may be an answer all the same.
    #[serde(skip_serializing_if = "zero")]
    pub out_of_order: u64,
    /// The first answer to a datagram that counts as lost already.
    #[serde(skip_serializing_if = "zero")]
    pub late: u64,
    /// Never sent.
    #[serde(skip_serializing_if = "zero")]
    pub unexpected: u64,
}

fn zero(count: &u64) -> bool {
    *count == 0
}

/// Percentiles are of an HdrHistogram of all samples, with three significant digits; count, minimum,
/// maximum and mean are exact.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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

/// The tunnels of a concurrency probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tunnels {
    pub asked: u64,
    pub open: u64,
    pub open_all_s: f64,
}

/// Why and when a flow's tunnel carried nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Died {
    /// `stalled`: nothing came any more, and nobody ended it.
    pub kind: ErrorKind,
    /// After the flow's start.
    pub at_s: f64,
}

/// One tunnel of a flow, bytes in the way that is kept full; of `neither` downwards.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FlowTunnel {
    /// What the sender's kernel took. Downwards by the far end's last word, so that there may have been more.
    pub sent: u64,
    /// Upwards by the far end's last word.
    pub received: u64,
    pub died: Option<Died>,
}

/// What a flow did over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Flow {
    pub began_unix_us: u64,
    /// When the measured part began, after the start.
    pub measured_from_s: f64,
    pub bucket_ms: u64,
    /// What the receivers got over all tunnels in each such time since the start, to the end of the measured part.
    pub bytes: Vec<u64>,
    pub tunnels: Vec<FlowTunnel>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Outcome {
    /// First measured send, or intended send, to the last measured end; in the open loop no less than the planned time,
    /// `count / rate_per_s`.
    pub duration_s: f64,
    pub attempted: u64,
    pub succeeded: u64,
    /// Failed operations by kind; with `succeeded` they make `attempted`.
    pub errors: BTreeMap<ErrorKind, u64>,
    pub anomalies: Anomalies,
    /// Payload of the operations that succeeded, one direction.
    pub bytes: u64,
    pub stopped: Option<Stopped>,
    /// Operations of the warm-up that failed; told by `udp` and `dns`, null of the others.
    pub warmup_failed: Option<u64>,
    /// Datagrams whose answer was there when the probe, which had not been running, went on after their time-out: nobody
    /// knows whether it was in time. They are in no other count, and as many others were sent for them.
    #[serde(skip_serializing_if = "zero")]
    pub replaced: u64,
    /// CPU time of the probe's threads over the measured part.
    pub probe_cpu_s: f64,
    pub threads: u64,
    pub cpus: Vec<usize>,
    pub series: Vec<SeriesSummary>,
    pub usage: Option<Usage>,
    pub tunnels: Option<Tunnels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// What the far end counted of it, warm-up included; null where it is none of this sidecar's, left out where the kind has no such
    /// counts (`dns`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_end: Option<Option<Counts>>,
}
