//! Commands that run to their end before the testbed's processes start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::setting::Setting;
use crate::failure::{Failure, Result};
use crate::process::log::Log;
use crate::process::protocol::{Exit, Order};
use crate::process::redact::Redactor;
use crate::process::role::{Role, StopSignal};
use crate::process::supervised::Supervised;

/// The longest time of a command.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// The longest quoted part of a command's output, characters.
const MAX_CHARS: usize = 300;

/// One command with its environment.
pub struct Errand<'a> {
    /// The part of the testbed that needs the command, for `ps` and for messages.
    pub what: &'a str,
    pub command: Vec<String>,
    pub env: &'a BTreeMap<String, String>,
    pub work: &'a Path,
    /// The file of the command's network namespace; `None` means this process's own.
    pub namespace: Option<PathBuf>,
    pub redactor: &'a Redactor,
    pub cancelled: &'a dyn Fn() -> bool,
}

/// A command that was run.
pub struct Done<'a> {
    /// `None` if it did not end within [`PATIENCE`].
    pub exit: Option<Exit>,
    /// Its output, up to 64 KiB, including secrets.
    pub printed: String,
    redactor: &'a Redactor,
}

impl Setting<'_> {
    pub fn errand<'e>(&'e self, what: &'e str, command: Vec<String>) -> Errand<'e> {
        Errand {
            what,
            command,
            env: &self.env,
            work: self.work.path(),
            namespace: None,
            redactor: &self.redactor,
            cancelled: self.launch.cancelled,
        }
    }
}

impl<'a> Errand<'a> {
    /// Runs the command under a guard, like the testbed's processes, and stops everything that it started.
    pub fn run(self) -> Result<Done<'a>> {
        let failed = format!("{}: {} cannot be started", self.what, self.command[0]);
        let order = Order {
            command: self.command,
            env: self.env.clone(),
            work: self.work.to_owned(),
            cpus: String::new(),
            namespace: self.namespace,
            groups: Vec::new(),
            stop_signal: StopSignal::Kill,
            stop_timeout_s: 0.0,
        };
        let log = Arc::new(Log::keeping_all(self.redactor.clone()));
        let supervised =
            Supervised::start(self.what, Role::Support, &order, Arc::clone(&log), None)
                .map_err(Failure::of_limits(failed))?;
        let deadline = Instant::now() + PATIENCE;
        let exit = loop {
            let exit = supervised.wait_exit(LOOK_EVERY);
            if exit.is_some() || (self.cancelled)() || Instant::now() >= deadline {
                break exit;
            }
        };
        supervised.stop();
        if (self.cancelled)() {
            return Err(Failure::given_up(self.what));
        }
        Ok(Done {
            exit,
            printed: log.all(),
            redactor: self.redactor,
        })
    }
}

impl Done<'_> {
    /// Why the command failed, with the last line that may be quoted; `None` if it succeeded.
    pub fn wrong(&self, may_be_quoted: impl Fn(&str) -> bool) -> Option<String> {
        let exit = match self.exit {
            Some(Exit::Status(0)) => return None,
            None => return Some(format!("did not end within {} s", PATIENCE.as_secs())),
            Some(exit) => exit,
        };
        let mut lines = self.printed.lines();
        let said = lines.rfind(|line| !line.trim().is_empty() && may_be_quoted(line));
        let said = said.map_or("it printed nothing".to_owned(), |line| {
            let line: String = line.trim().chars().take(MAX_CHARS).collect();
            format!("it printed: {}", self.redactor.text(&line))
        });
        Some(format!("failed ({exit}); {said}"))
    }
}
