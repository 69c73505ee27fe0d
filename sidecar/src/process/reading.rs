//! Readings of processes, as values: one walk through a tree, the sizes of each process, and their sums.

use super::files;
use super::memory::Memory;
use super::tree::{self, Entry};

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

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub memory: Memory,
    pub open_files: Option<u64>,
}

impl Size {
    /// `None` for a process without memory, such as a zombie.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self {
            memory: Memory::of(pid)?,
            open_files: files::open_of(pid),
        })
    }
}

pub fn reading_of(cpu_ns: u64, sizes: impl Iterator<Item = (Entry, Size)>) -> Reading {
    let mut reading = Reading {
        cpu_s: cpu_ns as f64 / 1e9,
        open_files: Some(0),
        ..Reading::default()
    };
    for (entry, Size { memory, open_files }) in sizes {
        reading.rss_bytes += memory.rss;
        reading.anon_bytes += memory.anon();
        reading.threads += memory.threads;
        reading.open_files = reading
            .open_files
            .zip(open_files)
            .map(|(all, own)| all + own);
        reading.members.push(Member::of(&entry, &memory));
    }
    reading
}

/// The processes that a source measures: the descendants of the root, and the root itself if its start is given.
#[derive(Clone, Copy)]
pub struct Measured {
    pub root: i32,
    pub start: Option<u64>,
}

impl Measured {
    pub fn has(self, entry: &Entry) -> bool {
        entry.pid != self.root || self.start == Some(entry.start)
    }

    /// `all` are the root, if it lives, and its descendants. A root that is not measured counts with the time of the children
    /// that it has waited for.
    pub fn cpu_ns<'a>(self, all: impl Iterator<Item = &'a Entry>) -> u64 {
        let of = |entry: &Entry| match self.has(entry) {
            true => entry.own_ns + entry.reaped_ns,
            false if self.start.is_none() => entry.reaped_ns,
            false => 0,
        };
        all.map(of).sum()
    }

    /// One walk through the tree: the living processes, and their CPU time.
    pub fn walk(self, source: &impl tree::Source) -> (Vec<Entry>, u64) {
        // The parent of the sidecar did not use the CPU time of the sidecar and its testbeds.
        let mut all = tree::whole(source, self.root, std::process::id() as i32);
        let cpu_ns = self.cpu_ns(all.iter());
        all.retain(|entry| self.has(entry));
        all.sort_unstable_by_key(Entry::id);
        (all, cpu_ns)
    }
}
