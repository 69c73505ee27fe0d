//! Parts of a window. A part that other programs disturbed can be dropped, as if it had not been measured. The result lists dropped parts,
//! and the parts that replaced them.

use std::time::Duration;

use serde::Serialize;

use super::descriptors::Kinds;
use super::host_time::HostTime;
use super::interference::{CpuUsage, Interference};
use super::scheduling::Scheduling;
use crate::limits::watch::All;

/// The most parts of one window that may be dropped.
pub const DROPPED_MOST: usize = 4_000;

/// A measured part. The last part is incomplete until the next one begins.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Part {
    pub name: String,
    pub duration_s: f64,
    /// The use of each CPU; empty if the window does not record it.
    pub by_cpu: Vec<CpuUsage>,
    pub dropped: bool,
}

/// The window's measurements before a part began.
#[derive(Debug, Clone)]
pub struct Before {
    pub elapsed: Duration,
    pub host: Option<HostTime>,
    pub targets: Vec<TargetBefore>,
    pub interference: Option<Interference>,
    pub limits: All,
}

#[derive(Debug, Clone)]
pub struct TargetBefore {
    pub cpu_s: f64,
    pub peak_rss_bytes: u64,
    pub peak_anon_bytes: u64,
    pub peak_open_files: Option<u64>,
    pub kinds: Kinds,
    pub peak_threads: u64,
    pub scheduling: Option<Scheduling>,
}

#[derive(Debug, Default)]
pub struct Parts {
    current: Option<(String, Before)>,
    /// Dropped parts, each followed by the parts that replaced them.
    repeated: Vec<Part>,
}

impl Parts {
    /// `last` is the part that ends now.
    pub fn begin(&mut self, name: String, before: Before, last: Option<Part>) {
        self.repeated = self.with(last);
        self.current = Some((name, before));
    }

    pub fn current(&self) -> Option<(&str, &Before)> {
        let current = self.current.as_ref();
        current.map(|(name, before)| (name.as_str(), before))
    }

    /// Drops the current part, and lists it as `part`.
    pub fn drop_current(&mut self, part: Part) -> Option<Before> {
        let (_, before) = self.current.take()?;
        self.repeated.push(part);
        Some(before)
    }

    /// Parts whose name was dropped at least once. The part that counts comes last.
    pub fn with(&self, last: Option<Part>) -> Vec<Part> {
        let known = |name: &str| self.repeated.iter().any(|part| part.name == name);
        let last = last.filter(|part| known(&part.name));
        self.repeated.iter().cloned().chain(last).collect()
    }

    pub fn is_full(&self) -> bool {
        let dropped = self.repeated.iter().filter(|part| part.dropped);
        dropped.count() >= DROPPED_MOST
    }
}

/// The use of each CPU after `before`.
pub fn used_since(now: &[CpuUsage], before: &[CpuUsage]) -> Vec<CpuUsage> {
    let since = |now: &CpuUsage| {
        let then = before.iter().find(|then| then.cpu == now.cpu);
        let less = |of: fn(&CpuUsage) -> f64| {
            let seconds = of(now) - then.map_or(0.0, of);
            (seconds.max(0.0) * 1e4).round() / 1e4
        };
        CpuUsage {
            cpu: now.cpu,
            span_s: less(|usage| usage.span_s),
            busy_s: less(|usage| usage.busy_s),
            others_s: less(|usage| usage.others_s),
            steal_s: less(|usage| usage.steal_s),
        }
    };
    now.iter().map(since).collect()
}
