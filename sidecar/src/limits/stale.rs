//! Removes the groups of sidecars that were killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::group::remove;
use super::hierarchy;
use super::names::is_stale;

const PATIENCE: Duration = Duration::from_secs(1);

/// Removes groups of sidecars that have ended, with processes that are left in them.
pub fn clear() {
    for controller in ["cpu", "memory"] {
        for (_, parent) in hierarchy::candidates(controller, &[]) {
            in_folder(&parent).iter().for_each(|group| end(group));
        }
    }
}

fn in_folder(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_stale))
        .map(|entry| entry.path())
        .collect()
}

fn end(group: &Path) {
    if remove(group, Duration::ZERO) {
        return;
    }
    let inside = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    // A process outside of this PID namespace has the number 0, which would be this process's own group.
    let pids = inside.lines().filter_map(|line| line.parse::<i32>().ok());
    for pid in pids.filter(|pid| *pid > 1) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    remove(group, PATIENCE);
}
