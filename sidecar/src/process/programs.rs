//! The executables that processes really run. A process may be a script that has become, or has started, the program in its name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::tree;

/// An executable of a process or of its descendants.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The file's name, without its folder.
    pub file: String,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
}

/// The executables of a process and its descendants, each file once, sorted by path. Processes that have ended meanwhile are left out.
pub fn of(root: i32) -> Vec<Program> {
    let pids =
        std::iter::once(root).chain(tree::descendants(root).into_iter().map(|entry| entry.pid));
    let files: BTreeMap<_, _> = pids
        .filter_map(|pid| {
            // This path leads to the running file even if the file was replaced or removed since.
            let exe = format!("/proc/{pid}/exe");
            Some((std::fs::read_link(&exe).ok()?, exe))
        })
        .collect();
    files
        .into_iter()
        .filter_map(|(path, exe)| {
            let sha256 = hash(File::open(exe).ok()?).ok()?;
            let file = path.file_name()?.to_string_lossy().into_owned();
            Some(Program { file, sha256 })
        })
        .collect()
}

/// A process that lives. Its pid and its start identify it for ever.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Alive {
    pub pid: i32,
    /// Clock ticks from boot.
    pub start: u64,
    /// The executable's name, without its folder.
    pub file: String,
}

/// A process and its descendants, without those that have ended.
pub fn alive(root: i32) -> Vec<Alive> {
    let all = tree::entry(root).into_iter().chain(tree::descendants(root));
    all.filter(|entry| !entry.zombie)
        .filter_map(|entry| {
            let path = std::fs::read_link(format!("/proc/{}/exe", entry.pid)).ok()?;
            let file = path.file_name()?.to_string_lossy().into_owned();
            let (pid, start) = (entry.pid, entry.start);
            Some(Alive { pid, start, file })
        })
        .collect()
}

/// The SHA-256 of a file, hexadecimal.
pub fn hash(mut file: File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            count => hash.update(&chunk[..count]),
        }
    }
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn a_script_is_what_it_has_become_and_what_it_started() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 60 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut line)
            .unwrap();
        // A child of sh is sh itself until it has become sleep.
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut found = of(child.id() as i32);
        while found.len() < 2 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
            found = of(child.id() as i32);
        }
        let _ = Command::new("pkill")
            .args(["-P", &child.id().to_string()])
            .status();
        let _ = (child.kill(), child.wait());
        let path = std::fs::canonicalize("/bin/sleep").unwrap();
        let known = Command::new("sha256sum").arg(&path).output().unwrap();
        let known = String::from_utf8(known.stdout).unwrap();
        let sha256 = known.split(' ').next().unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(
            found
                .iter()
                .any(|one| one.file == name && one.sha256 == sha256),
            "{found:?}, and {sha256}"
        );
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
