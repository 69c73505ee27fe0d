//! A private folder that is removed when the sidecar ends, even after a SIGKILL.
//!
//! A keeper makes and removes the folder. The keeper is a re-executed sidecar in its own session, at the end of a pipe whose other end only
//! the sidecar has. So files in the folder, including secrets, never outlive the sidecar.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signalfd::SfdFlags;
use nix::unistd::setsid;

use super::signals::{END, Signals};

/// The hidden subcommand's name. Its argument is the beginning of the folder's name.
pub const NAME: &str = "__folder";

/// Dropping this value removes the folder with its content.
pub struct Folder {
    path: PathBuf,
    keeper: Child,
}

impl Folder {
    /// Makes the folder in the folder for temporary files, for this user only.
    pub fn create(prefix: &str) -> io::Result<Self> {
        let mut keeper = Command::new("/proc/self/exe")
            .arg0("sidecar")
            .args([NAME, prefix])
            .env_clear()
            .env("TMPDIR", std::env::temp_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let path = keeper
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("its keeper has no output"))
            .and_then(answer);
        match path {
            Ok(path) => Ok(Self { path, keeper }),
            Err(error) => {
                end(&mut keeper);
                Err(error)
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        end(&mut self.keeper);
    }
}

/// Ends a keeper whose folder is removed: it has no further work.
fn end(keeper: &mut Child) {
    let _ = keeper.kill();
    let _ = keeper.wait();
}

/// The one line that a keeper prints.
type Answer = Result<PathBuf, String>;

fn answer(output: impl Read) -> io::Result<PathBuf> {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let answer: Answer = serde_json::from_str(&line).map_err(io::Error::other)?;
    answer.map_err(io::Error::other)
}

/// The keeper: makes the folder, prints its path, and removes it when the sidecar has ended.
pub fn run(prefix: &str) -> io::Result<()> {
    setsid()?;
    // A signal that ends the sidecar must not end its keeper first.
    let _signals = Signals::block(&END, SfdFlags::SFD_NONBLOCK)?;
    let folder = tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir();
    let answer: Answer = folder
        .as_ref()
        .map(|folder| folder.path().to_owned())
        .map_err(ToString::to_string);
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    // If the sidecar has ended already, its end of the keeper's input is closed as well.
    let _ = io::stdout()
        .write_all(&line)
        .and_then(|()| io::stdout().flush());
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    folder?.close()
}
