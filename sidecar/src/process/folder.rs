//! A private folder that goes away with the sidecar, whatever death that dies.
//!
//! It is made and removed by a keeper: a re-executed sidecar in a session of its own, at the end of
//! a pipe whose other end only the sidecar has. So what is written there, secrets too, never outlives
//! the sidecar, from the first moment on.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signalfd::SfdFlags;
use nix::unistd::setsid;

use super::signals::{END, Signals};

/// The hidden subcommand's name; its argument is the beginning of the folder's name.
pub const NAME: &str = "__folder";

/// Dropping it removes the folder and all that is in it.
pub struct Folder {
    path: PathBuf,
    keeper: Child,
}

impl Folder {
    /// In the folder for temporary files, for this user only.
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

/// A keeper whose folder is removed has nothing to do any more.
fn end(keeper: &mut Child) {
    let _ = keeper.kill();
    let _ = keeper.wait();
}

/// What a keeper says in its one line.
type Answer = Result<PathBuf, String>;

fn answer(output: impl Read) -> io::Result<PathBuf> {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let answer: Answer = serde_json::from_str(&line).map_err(io::Error::other)?;
    answer.map_err(io::Error::other)
}

/// The keeper: makes the folder, says where it is, and removes it when the sidecar is gone.
pub fn run(prefix: &str) -> io::Result<()> {
    setsid()?;
    // A signal that ends the sidecar must not end its keeper before it.
    let _signals = Signals::block(&END, SfdFlags::SFD_NONBLOCK)?;
    let made = tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir();
    let answer: Answer = made
        .as_ref()
        .map(|folder| folder.path().to_owned())
        .map_err(ToString::to_string);
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    // Where the sidecar is gone already, its end of the input is closed too.
    let _ = io::stdout()
        .write_all(&line)
        .and_then(|()| io::stdout().flush());
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    made?.close()
}
