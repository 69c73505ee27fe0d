//! The limits that others set for this process and for other generators, such as a container's quota.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::hierarchy::{self, Version};
use super::numbers::{self, Throttled};

/// Groups of generators, with the groups above them: each of them may have a limit.
#[derive(Debug, Clone, Default)]
pub struct Given {
    cpu: BTreeSet<(Version, PathBuf)>,
    memory: BTreeSet<(Version, PathBuf)>,
}

/// Limits of others, as in JSON, and what they did to the generators.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shown {
    /// The least quota, percent of one CPU; null without one.
    pub cpu_percent: Option<f64>,
    /// The least limit; null without one.
    pub memory_bytes: Option<u64>,
    #[serde(flatten)]
    pub throttled: Throttled,
}

impl Given {
    /// The groups of these processes and of this one.
    pub fn of(pids: impl IntoIterator<Item = i32>) -> Self {
        let mut given = Self::default();
        for pid in pids.into_iter().chain([std::process::id() as i32]) {
            for (all, controller) in [(&mut given.cpu, "cpu"), (&mut given.memory, "memory")] {
                for own in hierarchy::own(pid, controller) {
                    all.extend(own.upwards().map(|folder| (own.version, folder.to_owned())));
                }
            }
        }
        given
    }

    /// Since the groups were made.
    pub fn throttled(&self) -> Throttled {
        let mut sum = Throttled::default();
        let all = self.cpu.iter();
        all.filter_map(|(_, folder)| numbers::throttled(folder))
            .for_each(|one| sum += one);
        sum
    }

    /// `None` if no group can be read.
    pub fn shown(&self, throttled: Throttled) -> Option<Shown> {
        let readable = |(_, folder): &(Version, PathBuf)| numbers::throttled(folder).is_some();
        if !self.cpu.iter().any(readable) {
            return None;
        }
        let (cpu, memory) = (self.cpu.iter(), self.memory.iter());
        let quotas = cpu.filter_map(|(version, folder)| numbers::quota(*version, folder));
        let limits = memory.filter_map(|(version, folder)| numbers::memory(*version, folder));
        Some(Shown {
            cpu_percent: quotas.min_by(f64::total_cmp),
            memory_bytes: limits.min(),
            throttled,
        })
    }
}
