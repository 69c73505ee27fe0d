//! Processes and their descendants, read from `/proc`.

use std::sync::LazyLock;

use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use procfs::process::Process;

/// Whether the kernel was built with CONFIG_PROC_CHILDREN.
static KERNEL_LISTS_CHILDREN: LazyLock<bool> = LazyLock::new(|| {
    let pid = std::process::id();
    std::path::Path::new(&format!("/proc/{pid}/task/{pid}/children")).exists()
});

/// A process at one moment. CPU times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub pid: i32,
    /// Clock ticks from boot. Together with `pid`, it identifies a process for ever.
    pub start: u64,
    pub parent: i32,
    pub session: i32,
    pub group: i32,
    pub zombie: bool,
    /// Own CPU time, all threads, user and system. It is exact while the process lives, and in steps of 10 ms afterwards.
    pub own_ns: u64,
    /// CPU time of the children that it waited for, and of their children, in steps of 10 ms.
    pub reaped_ns: u64,
}

/// The origin of processes: the kernel, or a test.
pub trait Source {
    /// One process; `None` if it does not exist.
    fn entry(&self, pid: i32) -> Option<Entry>;
    /// The pids of the children of all threads of a process.
    fn children(&self, pid: i32) -> Vec<i32>;
}

pub struct Kernel;

impl Source for Kernel {
    fn entry(&self, pid: i32) -> Option<Entry> {
        entry(pid)
    }

    fn children(&self, pid: i32) -> Vec<i32> {
        children(pid)
    }
}

/// One process; `None` if it does not exist, or if its parent waits for it at this moment (state X): the kernel then gives its time to the
/// parent, and the time would count twice.
pub fn entry(pid: i32) -> Option<Entry> {
    let stat = Process::new(pid).ok()?.stat().ok()?;
    if stat.state == 'X' {
        return None;
    }
    Some(Entry {
        pid,
        start: stat.starttime,
        parent: stat.ppid,
        session: stat.session,
        group: stat.pgrp,
        zombie: stat.state == 'Z',
        own_ns: cpu_clock_ns(pid)
            .unwrap_or(0)
            .max((stat.utime + stat.stime) * tick_ns()),
        reaped_ns: u64::try_from(stat.cutime + stat.cstime).unwrap_or(0) * tick_ns(),
    })
}

/// The process's own CPU clock (clock_getcpuclockid(3)), which is not limited to ticks.
fn cpu_clock_ns(pid: i32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
    let time = clock_gettime(clock).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

fn tick_ns() -> u64 {
    1_000_000_000 / procfs::ticks_per_second()
}

/// The process `pid`, if it still is the one that started at `start`.
pub fn same(pid: i32, start: u64) -> Option<Entry> {
    entry(pid).filter(|entry| entry.start == start)
}

/// The pids of the children of all threads of a process.
pub fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = Process::new(pid).and_then(|process| process.tasks()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for task in tasks.flatten() {
        match task.children() {
            Ok(children) => found.extend(
                children
                    .into_iter()
                    .filter_map(|child| i32::try_from(child).ok()),
            ),
            // The thread has ended.
            Err(_) if *KERNEL_LISTS_CHILDREN => {}
            Err(_) => return scan(pid),
        }
    }
    found
}

fn scan(parent: i32) -> Vec<i32> {
    let Ok(all) = procfs::process::all_processes() else {
        return Vec::new();
    };
    all.flatten()
        .filter_map(|process| process.stat().ok())
        .filter(|stat| stat.ppid == parent)
        .map(|stat| stat.pid)
        .collect()
}

/// All descendants of a process, including zombies, without the process itself.
pub fn descendants(root: i32) -> Vec<Entry> {
    descendants_without(&Kernel, root, 0)
}

/// All descendants, without the process `left_out` and its descendants. Each process is read before its children, so that no child counts
/// both alone and through its parent.
pub fn descendants_without(source: &impl Source, root: i32, left_out: i32) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut next = source.children(root);
    while let Some(pid) = next.pop() {
        if pid == left_out || found.iter().any(|known| known.pid == pid) {
            continue;
        }
        if let Some(entry) = source.entry(pid) {
            next.extend(source.children(pid));
            found.push(entry);
        }
    }
    found
}
