//! `sidecar testbed up`.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use clap::Args;
use nix::sys::signalfd::SfdFlags;

use super::testbed::read_variables;
use super::{Starts, say};
use crate::failure::{Failure, Result};
use crate::process::signals::{Arrived, END, Signals};
use crate::testbed::hop::{Over, Wanted};
use crate::testbed::instance::Instance;
use crate::testbed::launch::Asked;
use crate::testbed::supervisor::Supervisor;

/// Which testbed to start, and how.
#[derive(Args)]
pub struct Start {
    /// The testbed's name
    name: String,
    /// A variable's value
    #[arg(long = "var", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Put a link between client and server: a name from `sidecar link list`, or items such as rtt:100ms,rate:50mbit,loss:1%
    #[arg(long, value_name = "LINK")]
    link: Option<String>,
    #[command(flatten)]
    starts: Starts,
}

impl Start {
    /// Starts the testbed, and stops it after `work`.
    pub fn then<T>(
        &self,
        work: impl FnOnce(&Supervisor, &Instance, &Interrupts) -> T,
    ) -> Result<T> {
        let interrupts = Interrupts::listen()?;
        let supervisor = self.starts.supervisor()?;
        let variables = read_variables(&supervisor.catalogue.load(&self.name)?, &self.variables)?;
        let over = self.link.clone().map_or(Over::Loopback, |text| {
            let cpus = Vec::new();
            Over::Link(Wanted { text, cpus })
        });
        let asked = Asked {
            variables,
            over,
            ..Asked::default()
        };
        let instance = supervisor.start(&self.name, &asked, &|| interrupts.interrupted())?;
        let result = work(&supervisor, &instance, &interrupts);
        supervisor.end();
        Ok(result)
    }
}

#[derive(Args)]
pub struct Up {
    #[command(flatten)]
    start: Start,
    /// Write all outputs, including secret ones, to this file (mode 0600); it is removed at the end
    #[arg(long, value_name = "FILE")]
    env_file: Option<PathBuf>,
}

/// Cancels the start when the user interrupts it.
pub struct Interrupts {
    pub arrived: mpsc::Receiver<Arrived>,
    interrupted: Arc<AtomicBool>,
}

impl Interrupts {
    /// Must be called before any thread starts.
    pub fn listen() -> Result<Self> {
        let signals =
            Signals::block(&END, SfdFlags::empty()).map_err(Failure::of_limits("signals"))?;
        let (sender, arrived) = mpsc::channel();
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        std::thread::spawn(move || {
            while let Some(signal) = signals.next() {
                flag.store(true, Ordering::SeqCst);
                if sender.send(signal).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            arrived,
            interrupted,
        })
    }

    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Removes the file when the value is dropped.
struct EnvFile<'a>(&'a Path);

impl Drop for EnvFile<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

impl Up {
    pub fn run(self) -> Result<u8> {
        let result = self
            .start
            .then(|_, instance, interrupts| keep(instance, self.env_file.as_deref(), interrupts))?;
        eprintln!("sidecar: {} is stopped", self.start.name);
        result
    }
}

fn keep(instance: &Instance, env_file: Option<&Path>, interrupts: &Interrupts) -> Result<u8> {
    let _written = match env_file {
        Some(path) => {
            write_env_file(path, [&instance.outputs, &instance.secret_outputs])?;
            Some(EnvFile(path))
        }
        None => None,
    };
    for (name, value) in &instance.outputs {
        say(format_args!("export {name}={}", quoted(value)));
    }
    let at = env_file.map_or_else(
        || "use --env-file FILE to get it".to_owned(),
        |path| format!("it is in {}", path.display()),
    );
    for name in instance.secret_outputs.keys() {
        say(format_args!("# {name} is secret: {at}"));
    }
    eprintln!(
        "sidecar: {} is up, its logs are in {}; Ctrl-C stops it",
        instance.testbed,
        instance.log_dir.display()
    );
    loop {
        let look_after = Duration::from_millis(200);
        if interrupts.arrived.recv_timeout(look_after).is_ok() {
            return Ok(0);
        }
        let mut processes = instance.processes.iter();
        if let Some((ended, exit)) = processes.find_map(|process| Some((process, process.exit()?)))
        {
            return Err(Failure::setup(
                format!(
                    "process {} of testbed {} ended unexpectedly ({exit})",
                    ended.name, instance.testbed
                ),
                format!("its log is in {}", instance.log_dir.display()),
            ));
        }
    }
}

fn write_env_file(path: &Path, outputs: [&BTreeMap<String, String>; 2]) -> Result<()> {
    let failed = Failure::of_setup(
        format!("--env-file {}", path.display()),
        "give a file that does not exist in a folder that does",
    );
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(&failed)?;
    for (name, value) in outputs.into_iter().flatten() {
        writeln!(file, "export {name}={}", quoted(value)).map_err(&failed)?;
    }
    Ok(())
}

/// Quotes a value for a shell.
fn quoted(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte);
    if !value.is_empty() && value.bytes().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn values_are_quoted_for_a_shell_where_they_need_it() {
        assert_eq!(quoted("http://127.0.0.1:80/a"), "http://127.0.0.1:80/a");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
