//! The versions of what a testbed starts, as its programs tell them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::file::{Role, StopSignal};
use super::logs::Log;
use super::redact::Redactor;
use crate::process::protocol::{Exit, Order};
use crate::process::supervised::Supervised;

const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(25);
const MAX_CHARS: usize = 200;

/// It was cancelled while the named version was asked for.
#[derive(Debug)]
pub struct Cancelled(pub String);

/// Runs each command and takes the first line that it prints; `unknown` where it prints none. Each
/// is guarded as the testbed's processes are, so that nothing of it is left behind.
pub fn learn(
    commands: BTreeMap<String, Vec<String>>,
    env: &BTreeMap<String, String>,
    work: &Path,
    redactor: &Redactor,
    cancelled: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, String>, Cancelled> {
    let mut versions = BTreeMap::new();
    for (name, command) in commands {
        let order = Order {
            command,
            env: env.clone(),
            work: work.to_owned(),
            cpus: String::new(),
            stop_signal: StopSignal::Kill,
            stop_timeout_s: 0.0,
        };
        let version = first_line(&name, &order, redactor, cancelled);
        if cancelled() {
            return Err(Cancelled(name));
        }
        versions.insert(name, version.unwrap_or_else(|| "unknown".to_owned()));
    }
    Ok(versions)
}

fn first_line(
    name: &str,
    order: &Order,
    redactor: &Redactor,
    cancelled: &dyn Fn() -> bool,
) -> Option<String> {
    let log = Arc::new(Log::without_file(redactor.clone()));
    let supervised =
        Supervised::start(&format!("version {name}"), Role::Support, order, log).ok()?;
    let deadline = Instant::now() + PATIENCE;
    let exit = loop {
        let exit = supervised.wait_exit(LOOK_EVERY);
        if exit.is_some() || cancelled() || Instant::now() >= deadline {
            break exit;
        }
    };
    supervised.stop();
    if exit != Some(Exit::Status(0)) {
        return None;
    }
    let line = supervised.log.first_line()?;
    Some(line.chars().take(MAX_CHARS).collect())
}
