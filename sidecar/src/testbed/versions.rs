//! The versions of a testbed's programs, as the programs report them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::errand::Errand;
use crate::process::log::Log;
use crate::process::protocol::Exit;
use crate::process::redact::Redactor;

const MAX_CHARS: usize = 200;

/// The start was cancelled while the sidecar asked for the named version.
#[derive(Debug)]
pub struct Cancelled(pub String);

/// Runs each command and takes the first line of its output, or `unknown` if it prints none. Each command runs under a guard, like the
/// testbed's processes, so that no process remains.
pub fn learn(
    commands: BTreeMap<String, Vec<String>>,
    env: &BTreeMap<String, String>,
    work: &Path,
    redactor: &Redactor,
    cancelled: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, String>, Cancelled> {
    let mut versions = BTreeMap::new();
    for (name, command) in commands {
        let errand = Errand {
            title: format!("version {name}"),
            command,
            env,
            work,
            namespace: None,
            cancelled,
        };
        let version = first_line(errand, redactor);
        if cancelled() {
            return Err(Cancelled(name));
        }
        versions.insert(name, version.unwrap_or_else(|| "unknown".to_owned()));
    }
    Ok(versions)
}

fn first_line(errand: Errand<'_>, redactor: &Redactor) -> Option<String> {
    let log = Arc::new(Log::without_file(redactor.clone()));
    if errand.run(Arc::clone(&log)) != Ok(Some(Exit::Status(0))) {
        return None;
    }
    let line = log.first_line()?;
    Some(line.chars().take(MAX_CHARS).collect())
}
