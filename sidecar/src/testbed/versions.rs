//! The versions of what a testbed starts, as its programs tell them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::errand::Errand;
use crate::process::log::Log;
use crate::process::protocol::Exit;
use crate::process::redact::Redactor;

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
