//! Names of groups, which identify their sidecar.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use procfs::process::Process;

const PREFIX: &str = "windtunnel-";

/// The begin of the names of this process's groups.
fn own() -> String {
    let me = std::process::id() as i32;
    let start = start_of(me).unwrap_or_default();
    format!("{PREFIX}{me}-{start}-")
}

/// The name of a group of this process.
pub fn name(number: u64) -> String {
    format!("{}{number}-{}", own(), namespace())
}

/// Whether this process made the group.
pub fn is_own(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(&own())
}

/// The PID namespace of this process. The same pid means another process in another namespace, such as a container's.
fn namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// When a process started, in clock ticks from boot; `None` if it does not exist.
fn start_of(pid: i32) -> Option<u64> {
    Some(Process::new(pid).ok()?.stat().ok()?.starttime)
}

/// Whether a name belongs to a group whose sidecar has ended. The sidecars of other PID namespaces clear their own groups.
pub fn is_stale(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let mut parts = rest.split('-');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let (Some(pid), Some(start), Some(_), Some(of)) = (next(), next(), next(), next()) else {
        return false;
    };
    of == namespace() && i32::try_from(pid).is_ok_and(|pid| start_of(pid) != Some(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_ended_sidecars_are_stale() {
        assert!(!is_stale(&name(3)));
        let here = namespace();
        assert!(is_stale(&format!("windtunnel-1-1-0-{here}")));
        let reused = format!("windtunnel-{}-1-0-{here}", std::process::id());
        assert!(is_stale(&reused));
        let elsewhere = format!("windtunnel-1-1-0-{}", here + 1);
        for other in [
            "docker",
            "windtunnel-",
            "windtunnel-a-1-0-1",
            "windtunnel-1-1",
            &elsewhere,
        ] {
            assert!(!is_stale(other), "{other}");
        }
    }
}
