//! The limits that others set for this process, for other generators and for the system, such as a container's quota.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::hierarchy::{self, Version};
use super::names;
use super::numbers::{self, Throttled};

/// Groups of processes, with the groups above them: each of them may have a limit.
#[derive(Debug, Clone, Default)]
pub struct Given {
    cpu: BTreeSet<(Version, PathBuf)>,
    memory: BTreeSet<(Version, PathBuf)>,
    /// The groups of memory without those above them. A group counts the kills of its processes, whichever group has the limit.
    lowest: BTreeSet<(Version, PathBuf)>,
}

/// Limits of others, as in JSON, and what they did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Shown {
    /// The least quota, percent of one CPU; null without one.
    pub cpu_percent: Option<f64>,
    /// The least limit; null without one.
    pub memory_bytes: Option<u64>,
    #[serde(flatten)]
    pub throttled: Throttled,
    /// Processes of the system that the kernel killed for memory; absent for generators, without a limit, and if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed: Option<u64>,
}

impl Given {
    /// The groups of these processes.
    pub fn of(pids: impl IntoIterator<Item = i32>) -> Self {
        let mut given = Self::default();
        for pid in pids {
            for (all, controller) in [(&mut given.cpu, "cpu"), (&mut given.memory, "memory")] {
                for own in hierarchy::own(pid, controller) {
                    all.extend(own.upwards().map(|folder| (own.version, folder.to_owned())));
                    if controller == "memory" {
                        given.lowest.insert((own.version, own.folder));
                    }
                }
            }
        }
        given
    }

    /// Without groups that `others` are in, too, and without groups that this process made.
    pub fn apart_from(mut self, others: &Self) -> Self {
        let sets = [&mut self.cpu, &mut self.memory, &mut self.lowest];
        for (all, of_others) in sets
            .into_iter()
            .zip([&others.cpu, &others.memory, &others.memory])
        {
            all.retain(|one| !of_others.contains(one) && !names::is_own(&one.1));
        }
        self
    }

    /// Since the groups were made; `None` without a limit of memory, and if unknown.
    pub fn killed(&self) -> Option<u64> {
        let limit = |(version, folder): &(_, PathBuf)| numbers::memory(*version, folder);
        self.memory.iter().find_map(limit)?;
        let lowest = self.lowest.iter();
        lowest
            .map(|(version, folder)| numbers::killed(*version, folder))
            .sum()
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
        let (cpu, memory) = (self.cpu.iter(), self.memory.iter());
        let quotas = cpu.filter_map(|(version, folder)| numbers::quota(*version, folder));
        let limits = memory.filter_map(|(version, folder)| numbers::memory(*version, folder));
        let memory_bytes = limits.min();
        let readable = |(_, folder): &(Version, PathBuf)| numbers::throttled(folder).is_some();
        let only_memory = self.cpu.is_empty() && memory_bytes.is_some();
        if !only_memory && !self.cpu.iter().any(readable) {
            return None;
        }
        Some(Shown {
            cpu_percent: quotas.min_by(f64::total_cmp),
            memory_bytes,
            throttled,
            killed: None,
        })
    }
}
