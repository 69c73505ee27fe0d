//! Parts of a window. One that somebody else disturbed can be dropped, as if it had not been measured; what is
//! dropped is told, and so is what came in its place.

use std::time::Duration;

use serde::Serialize;

use super::host_time::HostTime;
use super::interference::{CpuUsage, Interference};

/// Parts that may be dropped of one window.
pub const DROPPED_MOST: usize = 4_000;

/// A part that was measured, so far where it is the last one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    pub name: String,
    pub duration_s: f64,
    /// Who used each CPU; empty where it was not asked for.
    pub by_cpu: Vec<CpuUsage>,
    pub dropped: bool,
}

/// What a window had measured before a part began.
#[derive(Debug, Clone)]
pub struct Before {
    pub elapsed: Duration,
    pub host: Option<HostTime>,
    pub targets: Vec<TargetBefore>,
    pub interference: Option<Interference>,
}

#[derive(Debug, Clone, Copy)]
pub struct TargetBefore {
    pub cpu_s: f64,
    pub peak_rss_bytes: u64,
    pub peak_anon_bytes: u64,
}

/// Why there is no part to tell of, to begin or to drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPart {
    /// Something is being measured: only between two measurements a part begins or is dropped.
    Running,
    Closed,
    NotBegun,
    /// [`DROPPED_MOST`] are dropped.
    TooMany,
}

#[derive(Debug, Default)]
pub struct Parts {
    current: Option<(String, Before)>,
    /// Those that were dropped, and after them those that came in their place.
    repeated: Vec<Part>,
}

impl Parts {
    /// `last` is the part that ends with it.
    pub fn begin(&mut self, name: String, before: Before, last: Option<Part>) {
        self.repeated = self.with(last);
        self.current = Some((name, before));
    }

    pub fn current(&self) -> Option<(&str, &Before)> {
        let current = self.current.as_ref();
        current.map(|(name, before)| (name.as_str(), before))
    }

    /// The current part is gone, and told as `part`.
    pub fn drop_current(&mut self, part: Part) -> Option<Before> {
        let (_, before) = self.current.take()?;
        self.repeated.push(Part {
            dropped: true,
            ..part
        });
        Some(before)
    }

    /// Of those whose name was dropped at least once; the part that counts comes last.
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

/// Who used each CPU after `before`.
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
