//! Waiting until a process is ready.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::ports;
use crate::process::namespace::Namespace;
use crate::process::protocol::Exit;
use crate::process::supervised::Supervised;
use crate::process::tree;

const TRY_EVERY: Duration = Duration::from_millis(25);
const TRY_PATIENCE: Duration = Duration::from_secs(2);
/// A process without a check counts as started after this time.
const SETTLE: Duration = Duration::from_millis(100);

/// A check with its template rendered.
#[derive(Debug, Clone)]
pub enum Check {
    /// The process lives for a short time.
    None,
    Http(String),
    Tcp(String),
    /// A socket listens on this TCP port. The kernel is asked, so no connection is made.
    Listens(u16),
    /// The log has seen the awaited line.
    Log,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    Exited(Exit),
    /// The check succeeded, but another process answered it.
    Stranger {
        port: u16,
    },
    /// The time ran out; with the last reason.
    TimedOut(String),
    Cancelled,
}

/// Returns once the check succeeds and the process lives. The check runs in the process's `namespace`.
pub fn wait(
    supervised: &Supervised,
    check: &Check,
    namespace: Option<&Namespace>,
    timeout: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), NotReady> {
    let began = Instant::now();
    let mut reason = String::from("not yet");
    loop {
        if let Some(exit) = supervised.exit() {
            return Err(NotReady::Exited(exit));
        }
        if cancelled() {
            return Err(NotReady::Cancelled);
        }
        let tried = match namespace {
            Some(namespace) => namespace
                .run(|| attempt(supervised, check, began))
                .map_err(|error| error.to_string())
                .and_then(|tried| tried),
            None => attempt(supervised, check, began),
        };
        match tried {
            // A namespace of the testbed has no other processes.
            Ok(()) if namespace.is_some() => return Ok(()),
            Ok(()) => return settle(supervised, check),
            Err(error) => reason = if error.is_empty() { reason } else { error },
        }
        if began.elapsed() >= timeout {
            return Err(NotReady::TimedOut(reason));
        }
        if let Some(exit) = supervised.wait_exit(TRY_EVERY) {
            return Err(NotReady::Exited(exit));
        }
    }
}

fn attempt(supervised: &Supervised, check: &Check, began: Instant) -> Result<(), String> {
    match check {
        Check::None if began.elapsed() >= SETTLE => Ok(()),
        Check::None => Err(String::new()),
        Check::Http(url) => http(url),
        Check::Tcp(address) => tcp(address),
        Check::Listens(port) if !ports::listening(*port).is_empty() => Ok(()),
        Check::Listens(port) => Err(format!("nothing listens on port {port}")),
        Check::Log if supervised.log.matched() => Ok(()),
        Check::Log => Err("no line of its output matched".to_owned()),
    }
}

/// If the process failed to get its port and is about to end, another process may have answered.
fn settle(supervised: &Supervised, check: &Check) -> Result<(), NotReady> {
    let port_of = |address: &str| address.rsplit(':').next()?.parse().ok();
    let port = match check {
        Check::Http(url) => url
            .trim_start_matches("http://")
            .split(['/', '?'])
            .next()
            .and_then(port_of),
        Check::Tcp(address) => port_of(address),
        Check::Listens(port) => Some(*port),
        Check::None | Check::Log => None,
    };
    let Some(port) = port else { return Ok(()) };
    let sockets = ports::sockets(port);
    let ours = tree::descendants(supervised.guard_pid)
        .iter()
        .any(|entry| ports::owns(entry.pid, &sockets));
    if sockets.is_empty() || ours {
        return Ok(());
    }
    match supervised.wait_exit(Duration::from_secs(2)) {
        Some(exit) => Err(NotReady::Exited(exit)),
        None => Err(NotReady::Stranger { port }),
    }
}

fn http(url: &str) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TRY_PATIENCE))
        .max_redirects(0)
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    match agent.get(url).call() {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("{url} answers {}", answer.status().as_u16())),
        Err(error) => Err(format!("{url}: {error}")),
    }
}

fn tcp(address: &str) -> Result<(), String> {
    let mut reason = format!("{address}: not HOST:PORT");
    for resolved in address
        .to_socket_addrs()
        .map_err(|error| format!("{address}: {error}"))?
    {
        match TcpStream::connect_timeout(&resolved, TRY_PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => reason = format!("{address}: {error}"),
        }
    }
    Err(reason)
}
