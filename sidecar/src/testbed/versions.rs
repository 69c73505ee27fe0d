//! The versions of what a testbed starts, as its programs tell them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::process::exec;

const PATIENCE: Duration = Duration::from_secs(10);
const MAX_CHARS: usize = 200;

/// Runs each command and takes the first line that it prints; `unknown` where it prints none.
pub fn learn(
    commands: &BTreeMap<String, Vec<String>>,
    env: &BTreeMap<String, String>,
    work: &Path,
) -> BTreeMap<String, String> {
    commands
        .iter()
        .map(|(name, command)| {
            let version = first_line(command, env, work).unwrap_or_else(|| "unknown".to_owned());
            (name.clone(), version)
        })
        .collect()
}

fn first_line(command: &[String], env: &BTreeMap<String, String>, work: &Path) -> Option<String> {
    let (mut output, writer) = std::io::pipe().ok()?;
    let mut child = exec::command(Signal::SIGKILL, command)
        .env_clear()
        .envs(env)
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(writer.try_clone().ok()?)
        .stderr(writer)
        .spawn()
        .ok()?;
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    if !status.success() {
        return None;
    }
    // One read: a descendant that keeps the pipe open must not keep this from ending.
    let mut text = vec![0; 4096];
    let count = output.read(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text[..count]).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_CHARS).collect())
}
