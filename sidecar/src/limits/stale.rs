//! Groups of sidecars that were killed: their names say whose they were.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::Process;

use super::group::remove;
use super::hierarchy;

const PREFIX: &str = "windtunnel-";
const PATIENCE: Duration = Duration::from_secs(1);

/// The name of a group of this process.
pub fn name(number: u64) -> String {
    let me = std::process::id() as i32;
    let start = start_of(me).unwrap_or_default();
    format!("{PREFIX}{me}-{start}-{number}")
}

/// When a process started, in clock ticks from boot; `None` if it does not exist.
fn start_of(pid: i32) -> Option<u64> {
    Some(Process::new(pid).ok()?.stat().ok()?.starttime)
}

/// Whether a name is that of a group whose sidecar has ended.
fn is_stale(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let mut parts = rest.split('-');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let (Some(pid), Some(start), Some(_)) = (next(), next(), next()) else {
        return false;
    };
    i32::try_from(pid).is_ok_and(|pid| start_of(pid) != Some(start))
}

/// Removes groups of sidecars that have ended, with processes that are left in them.
pub fn clear() {
    for controller in ["cpu", "memory"] {
        for (_, parent) in hierarchy::candidates(controller) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_ended_sidecars_are_stale() {
        assert!(!is_stale(&name(3)));
        assert!(is_stale("windtunnel-1-1-0"));
        let reused = format!("windtunnel-{}-1-0", std::process::id());
        assert!(is_stale(&reused));
        for other in [
            "docker",
            "windtunnel-",
            "windtunnel-a-1-0",
            "windtunnel-1-1",
        ] {
            assert!(!is_stale(other), "{other}");
        }
    }
}
