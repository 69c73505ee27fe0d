//! CPU time and memory of a process and its descendants, read from the kernel.
//!
//! CPU time has the kernel's resolution of 10 ms. It is exact over exits: a parent that waits for a
//! child takes over the child's time, so the sum over all that live, of own and taken-over time,
//! never loses any. (The kernel drops the time of children whose parent ignores SIGCHLD.)

use std::sync::Arc;

use procfs::process::Process;

use super::protocol::Exit;
use super::supervised::Supervised;
use super::tree::{self, Entry};

/// What is measured: a supervised process, or one that somebody else started, with its descendants.
#[derive(Clone)]
pub enum Source {
    Supervised(Arc<Supervised>),
    Pid { pid: i32, start: u64 },
}

/// Why a pid cannot be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSource {
    Missing,
    NotOurs,
}

/// One look at a source.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// CPU seconds since the source started.
    pub cpu_s: f64,
    /// Resident memory of all its processes now, bytes.
    pub rss_bytes: u64,
    pub members: Vec<Member>,
}

/// A process of a source, with the most resident memory it had since its mark was last reset.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    pub pid: i32,
    pub start: u64,
    pub high_water_bytes: u64,
}

impl Source {
    /// A process of our own user, by its pid.
    pub fn pid(pid: i32) -> Result<Self, NoSource> {
        if pid <= 1 {
            return Err(NoSource::NotOurs);
        }
        let process = Process::new(pid).map_err(|_| NoSource::Missing)?;
        let owner = process.uid().map_err(|_| NoSource::Missing)?;
        if owner != nix::unistd::getuid().as_raw() {
            return Err(NoSource::NotOurs);
        }
        let entry = tree::entry(pid)
            .filter(|entry| !entry.zombie)
            .ok_or(NoSource::Missing)?;
        Ok(Source::Pid {
            pid,
            start: entry.start,
        })
    }

    /// None where the source is gone, and its last reading is its last.
    pub fn read(&self) -> Option<Reading> {
        match self {
            Source::Supervised(supervised) => read_supervised(supervised),
            Source::Pid { pid, start } => {
                tree::same(*pid, *start)?;
                Some(read_tree(*pid, Some(*start)))
            }
        }
    }

    /// How it ended; none while it lives.
    pub fn exit(&self) -> Option<Exit> {
        match self {
            Source::Supervised(supervised) => supervised.exit(),
            Source::Pid { pid, start } => match tree::same(*pid, *start) {
                Some(entry) if !entry.zombie => None,
                _ => Some(Exit::Unknown),
            },
        }
    }
}

fn read_supervised(supervised: &Supervised) -> Option<Reading> {
    let ended = |cpu_s| Reading {
        cpu_s,
        ..Reading::default()
    };
    if let Some(cpu_s) = supervised.final_cpu_s() {
        return Some(ended(cpu_s));
    }
    if supervised.finished() {
        return None;
    }
    let reading = read_tree(supervised.guard_pid, None);
    // The guard may have come to its end during the look.
    Some(supervised.final_cpu_s().map_or(reading, ended))
}

/// Reads a tree. With the root's start time the root counts; without, only what it has waited for.
fn read_tree(root: i32, start: Option<u64>) -> Reading {
    let mut entries = consistent(root);
    let mut ticks = 0;
    if let Some(entry) = tree::entry(root) {
        match start {
            Some(start) if entry.start == start => entries.push(entry),
            Some(_) => {}
            None => ticks += entry.reaped_ticks,
        }
    }
    ticks += entries
        .iter()
        .map(|entry| entry.own_ticks + entry.reaped_ticks)
        .sum::<u64>();
    let mut reading = Reading {
        cpu_s: ticks as f64 / procfs::ticks_per_second() as f64,
        ..Reading::default()
    };
    for entry in entries.iter().filter(|entry| !entry.zombie) {
        let Some((rss, high_water_bytes)) = memory(entry.pid) else {
            continue;
        };
        reading.rss_bytes += rss;
        reading.members.push(Member {
            pid: entry.pid,
            start: entry.start,
            high_water_bytes,
        });
    }
    reading
}

/// The descendants, looked at again while the set changes: a child that is waited for between two
/// looks would be counted twice or not at all.
fn consistent(root: i32) -> Vec<Entry> {
    let pids = |entries: &[Entry]| {
        let mut pids: Vec<_> = entries
            .iter()
            .map(|entry| (entry.pid, entry.start))
            .collect();
        pids.sort_unstable();
        pids
    };
    // Whoever started the sidecar did not use what the sidecar and its testbeds use.
    let look = || tree::descendants_without(root, std::process::id() as i32);
    let mut entries = look();
    for _ in 0..3 {
        let again = look();
        if pids(&again) == pids(&entries) {
            return again;
        }
        entries = again;
    }
    entries
}

/// Resident memory now and its high-water mark, bytes.
fn memory(pid: i32) -> Option<(u64, u64)> {
    let status = Process::new(pid).ok()?.status().ok()?;
    Some((status.vmrss? * 1024, status.vmhwm? * 1024))
}

/// Resets the high-water mark of a process's memory to what it has now.
pub fn reset_high_water(pid: i32) -> bool {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok()
}
