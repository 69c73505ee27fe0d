//! The last step before a program: `sidecar __exec PARENT DEATH CPUS NAMESPACE GROUP… -- PROGRAM ARGUMENTS…`.
//!
//! It sets what another process could set only with unsafe code: the program dies with its parent, and gets its CPUs, its network, its
//! control groups and clean signal settings.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::getppid;

use super::{cpus, namespace};
use crate::limits::group;

/// The hidden subcommand's name.
pub const NAME: &str = "__exec";

/// A program whose parent is this process. `death` is the signal that the program gets when the thread that started it ends. `cpus` is a
/// list of the CPUs for the program and its children; an empty list means all. `namespace` is the file of the program's network namespace;
/// `None` means this process's own. `groups` are folders of control groups that the program joins.
pub fn command(
    death: Signal,
    cpus: &str,
    namespace: Option<&Path>,
    groups: &[PathBuf],
    program: &[impl AsRef<std::ffi::OsStr>],
) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("sidecar")
        .args([NAME, &std::process::id().to_string()])
        .args([death.as_str(), cpus])
        .arg(namespace.unwrap_or(Path::new("")))
        .args(groups)
        .arg("--")
        .args(program);
    command
}

/// Becomes the program. If that fails, returns the exit code 127.
pub fn run(arguments: &[OsString]) -> u8 {
    let [parent, death, cpus, network, rest @ ..] = arguments else {
        return not_for_others();
    };
    let mut parts = rest.splitn(2, |argument| argument == "--");
    let (Some(groups), Some([program, rest @ ..])) = (parts.next(), parts.next()) else {
        return not_for_others();
    };
    let death = death
        .to_str()
        .and_then(|name| name.parse::<Signal>().ok())
        .unwrap_or(Signal::SIGKILL);
    if let Err(error) = set_pdeathsig(death) {
        eprintln!(
            "sidecar: cannot tie {} to its parent: {error}",
            program.display()
        );
        return 127;
    }
    if parent.to_str() != Some(getppid().to_string().as_str()) {
        return 127;
    }
    if !network.is_empty()
        && let Err(error) = namespace::enter(Path::new(network))
    {
        eprintln!(
            "sidecar: cannot move {} into its network namespace: {error}",
            program.display()
        );
        return 127;
    }
    if let Err(error) = group::join(groups.iter().map(Path::new)) {
        eprintln!(
            "sidecar: cannot move {} into its control group: {error}",
            program.display()
        );
        return 127;
    }
    let list = cpus.to_str().unwrap_or_default();
    let bound = cpus::parse(list)
        .and_then(|cpus| cpus::bind(&cpus).map_err(|error| format!("CPUs {list}: {error}")));
    if let Err(error) = bound {
        eprintln!("sidecar: cannot bind {}: {error}", program.display());
        return 127;
    }
    reset_signals();
    let error = Command::new(program).args(rest).exec();
    eprintln!("sidecar: cannot start {}: {error}", program.display());
    127
}

fn not_for_others() -> u8 {
    eprintln!("sidecar {NAME}: for the sidecar's own use");
    2
}

/// The parent of the sidecar may have made it ignore signals (a shell's `&` does so with SIGINT), and the program would inherit that. On
/// exec, a handled signal becomes a default one, so a handler is set.
fn reset_signals() {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGHUP,
        Signal::SIGTERM,
        Signal::SIGCHLD,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
    ] {
        // Registration fails only for signals that cannot be handled. These signals can be.
        let _ = signal_hook::flag::register(signal as i32, Arc::clone(&flag));
    }
    let _ = SigSet::all().thread_unblock();
}
