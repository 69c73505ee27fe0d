//! Names of groups, which identify their sidecar.

use procfs::process::Process;

const PREFIX: &str = "windtunnel-";

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

/// Whether a name belongs to a group whose sidecar has ended.
pub fn is_stale(name: &str) -> bool {
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
