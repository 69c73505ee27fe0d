//! Commands that run to their end before anything is started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::process::log::Log;
use crate::process::protocol::{Exit, Order};
use crate::process::role::{Role, StopSignal};
use crate::process::supervised::Supervised;

/// How long a command may take.
pub const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// One command with what it runs in.
pub struct Errand<'a> {
    /// For `ps`.
    pub title: String,
    pub command: Vec<String>,
    pub env: &'a BTreeMap<String, String>,
    pub work: &'a Path,
    /// The file of its network namespace; none: this process's own.
    pub namespace: Option<PathBuf>,
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Errand<'_> {
    /// Runs it, guarded as the testbed's processes are, and ends all that it started. None where it did
    /// not end within [`PATIENCE`] or was cancelled; the error, in words, where it could not be started.
    pub fn run(self, log: Arc<Log>) -> Result<Option<Exit>, String> {
        let order = Order {
            command: self.command,
            env: self.env.clone(),
            work: self.work.to_owned(),
            cpus: String::new(),
            namespace: self.namespace,
            stop_signal: StopSignal::Kill,
            stop_timeout_s: 0.0,
        };
        let supervised = Supervised::start(&self.title, Role::Support, &order, log)?;
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
