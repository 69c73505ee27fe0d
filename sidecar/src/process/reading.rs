//! Readings of processes, as values: one walk through a tree, the sizes of each process, and their sums.

use super::files;
use super::memory::Memory;
use super::tree::{self, Entry, Sampled};

/// A reading of a source.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// CPU seconds since the source started.
    pub cpu_s: f64,
    /// Resident memory of all processes now, bytes.
    pub rss_bytes: u64,
    /// Resident memory without file pages ([`Memory::anon`]).
    pub anon_bytes: u64,
    /// Open descriptors of all processes now; `None` if unknown.
    pub open_files: Option<u64>,
    pub threads: u64,
    pub members: Vec<Member>,
}

/// A process of a source, with its peak memory since its mark was last reset.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    pub pid: i32,
    pub start: u64,
    pub high_water_bytes: u64,
    /// Its file pages now, bytes.
    pub file_bytes: u64,
}

impl Member {
    pub fn of(entry: &Entry, memory: &Memory) -> Self {
        Self {
            pid: entry.pid,
            start: entry.start,
            high_water_bytes: memory.high_water,
            file_bytes: memory.files,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Size {
    /// CPU time of the process at the reading.
    pub at_ns: u64,
    pub memory: Memory,
    pub open_files: Option<u64>,
}

impl Size {
    pub fn of(entry: &Entry) -> Option<Self> {
        Some(Self {
            at_ns: entry.own_ns,
            memory: Memory::of(entry.pid)?,
            open_files: files::open_of(entry.pid),
        })
    }
}

/// `size` is `None` for a process without memory.
pub fn reading_of(
    cpu_ns: u64,
    entries: &[Entry],
    mut size: impl FnMut(&Entry) -> Option<Size>,
) -> Reading {
    let mut reading = Reading {
        cpu_s: cpu_ns as f64 / 1e9,
        open_files: Some(0),
        ..Reading::default()
    };
    for entry in entries.iter().filter(|entry| !entry.zombie) {
        let Some(Size {
            memory, open_files, ..
        }) = size(entry)
        else {
            continue;
        };
        reading.rss_bytes += memory.rss;
        reading.anon_bytes += memory.anon();
        reading.threads += memory.threads;
        reading.open_files = reading
            .open_files
            .zip(open_files)
            .map(|(all, own)| all + own);
        reading.members.push(Member::of(entry, &memory));
    }
    reading
}

/// One walk through a tree.
pub struct Look {
    pub entries: Vec<Entry>,
    pub cpu_ns: u64,
}

impl Look {
    /// With the root's start time, the root's own time counts. Without it, only the time of the children that it has waited for.
    pub fn take(source: &impl tree::Source, root: i32, start: Option<u64>) -> Self {
        let mut tree = Sampled::default();
        // The parent of the sidecar did not use the CPU time of the sidecar and its testbeds.
        tree.look(source, root, std::process::id() as i32, None);
        Self::of(tree.entries(), root, start)
    }

    /// `all` are the root, if it lives, and its descendants.
    pub fn of(all: &[Entry], root: i32, start: Option<u64>) -> Self {
        let counts = |entry: &&Entry| entry.pid != root || start == Some(entry.start);
        let entries: Vec<_> = all.iter().filter(counts).copied().collect();
        let guard = all.iter().filter(|entry| entry.pid == root);
        let reaped_ns: u64 = guard.map(|entry| entry.reaped_ns).sum();
        let own_ns: u64 = entries
            .iter()
            .map(|entry| entry.own_ns + entry.reaped_ns)
            .sum();
        Self {
            entries,
            cpu_ns: own_ns + if start.is_none() { reaped_ns } else { 0 },
        }
    }

    pub fn pids(&self) -> Vec<(i32, u64)> {
        let mut pids: Vec<_> = self
            .entries
            .iter()
            .map(|entry| (entry.pid, entry.start))
            .collect();
        pids.sort_unstable();
        pids
    }
}
