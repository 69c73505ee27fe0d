//! The limit of open files and sockets of this process, and small files of the kernel.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The limit of open files and sockets of this process, and of each process that it starts; `None` if unknown.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE)
        .ok()
        .map(|(soft, _)| soft)
}

/// Open descriptors of a process; `None` if unknown. Linux 6.2 and later tell the number as the size of `/proc/PID/fd`, without a walk
/// through it. An older kernel tells 0, and they are counted.
pub fn open_of(pid: i32) -> Option<u64> {
    let path = format!("/proc/{pid}/fd");
    number_in(&std::fs::metadata(&path).ok()?).or_else(|| listed(&path))
}

/// The same of a kept `/proc/PID/fd` ([`keep`]).
pub fn open_in(folder: &File) -> Option<u64> {
    let path = || format!("/proc/self/fd/{}", folder.as_raw_fd());
    number_in(&folder.metadata().ok()?).or_else(|| listed(path()))
}

/// The links of a kept folder. `/proc/PID/task` has two more than the process has threads.
pub fn links(folder: &File) -> Option<u64> {
    Some(folder.metadata().ok()?.nlink())
}

fn number_in(folder: &Metadata) -> Option<u64> {
    (folder.len() > 0).then_some(folder.len())
}

fn listed(folder: impl AsRef<Path>) -> Option<u64> {
    let all = std::fs::read_dir(folder).ok()?.count() as u64;
    (all > 0).then_some(all)
}

/// A file or folder that stays the one of this process, even if another one gets its pid. It can be asked for its metadata only.
pub fn keep(path: &str) -> Option<File> {
    let only_metadata = OFlag::O_PATH.bits();
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(only_metadata);
    options.open(path).ok()
}

/// Reads a small file of one line from its begin, at most 1,024 bytes. The file may be a kept one.
pub fn line(file: &File) -> Option<String> {
    text::<1024>(file)
}

/// Reads the first `MOST` bytes of a small file.
pub fn text<const MOST: usize>(file: &File) -> Option<String> {
    let mut text = [0; MOST];
    let length = file.read_at(&mut text, 0).ok()?;
    // The name of a process may be no UTF-8.
    Some(String::from_utf8_lossy(&text[..length]).into_owned())
}

pub fn line_of(path: impl AsRef<Path>) -> Option<String> {
    line(&File::open(path).ok()?)
}

/// Reads a small file of `/proc` at once. `None` if that fails.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let mut text = Vec::with_capacity(4096);
    // The limit keeps the library from asking for the size, which is not known before.
    let mut file = File::open(path).ok()?.take(u64::MAX);
    file.read_to_end(&mut text).ok()?;
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
    fn descriptors_of_a_process_are_told_or_counted_until_it_ends() {
        let mut child = std::process::Command::new("sleep")
            .arg("9")
            .stdin(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id() as i32;
        let folder = format!("/proc/{pid}/fd");
        let all = std::fs::read_dir(&folder).unwrap().count() as u64;
        let kept = keep(&folder).unwrap();
        let again = format!("/proc/self/fd/{}", kept.as_raw_fd());
        let found = || {
            [
                open_of(pid),
                open_in(&kept),
                listed(&folder),
                listed(&again),
            ]
        };
        let living = found();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((living, found()), ([Some(all); 4], [None; 4]));
    }
}
