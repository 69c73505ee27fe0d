//! Commands that run to their end before the testbed's processes start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::process::log::Log;
use crate::process::protocol::{Exit, Order};
use crate::process::role::{Role, StopSignal};
use crate::process::supervised::Supervised;

/// The longest time of a command.
pub const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// One command with its environment.
pub struct Errand<'a> {
    /// Title for `ps`.
    pub title: String,
    pub command: Vec<String>,
    pub env: &'a BTreeMap<String, String>,
    pub work: &'a Path,
    /// The file of the command's network namespace; `None` means this process's own.
    pub namespace: Option<PathBuf>,
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Errand<'_> {
    /// Runs the command under a guard, like the testbed's processes, and stops everything that it started. Returns `None` if it was
    /// cancelled or did not end within [`PATIENCE`]. If it could not be started, the error is a message.
    pub fn run(self, log: Arc<Log>) -> Result<Option<Exit>, String> {
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
        let supervised = Supervised::start(&self.title, Role::Support, &order, log, None)?;
        let deadline = Instant::now() + PATIENCE;
        let exit = loop {
            let exit = supervised.wait_exit(LOOK_EVERY);
            if exit.is_some() || (self.cancelled)() || Instant::now() >= deadline {
                break exit;
            }
        };
        supervised.stop();
        Ok(exit)
    }
}
