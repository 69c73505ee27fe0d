//! The limit of open files and sockets of this process, and small files of the kernel.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The limit of open files and sockets of this process, and of each process that it starts; `None` if unknown.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE)
        .ok()
        .map(|(soft, _)| soft)
}

/// Open descriptors of a process; `None` if unknown. Linux 6.2 and later tell the number as the size of `/proc/PID/fd`, without a walk
/// through it. An older kernel tells 0.
pub fn open_of(pid: i32) -> Option<u64> {
    let size = std::fs::metadata(format!("/proc/{pid}/fd")).ok()?.len();
    (size > 0).then_some(size)
}

/// Reads a small file of `/proc` at once: its size is not known before. `None` if that fails.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let mut text = Vec::with_capacity(4096);
    File::open(path).ok()?.read_to_end(&mut text).ok()?;
    // The name of a process may be no UTF-8.
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(String::from_utf8(text).unwrap_or_else(|error| lossy(error.as_bytes())))
}

/// Raises the soft limit to the hard limit: a thousand tunnels need two thousand sockets. Child processes inherit it. If raising fails,
/// work that needs more files reports an error later.
pub fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_of_a_process_are_counted_or_unknown() {
        let mut child = std::process::Command::new("sleep")
            .arg("9")
            .stdin(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id() as i32;
        let listed = std::fs::read_dir(format!("/proc/{pid}/fd"))
            .unwrap()
            .count() as u64;
        let counted = open_of(pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(counted.is_none() || counted == Some(listed), "{counted:?}");
        assert_eq!(open_of(pid), None);
    }
}
