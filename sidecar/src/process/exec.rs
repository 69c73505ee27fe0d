//! The last step before a program: `sidecar __exec PARENT DEATH CPUS NAMESPACE -- PROGRAM ARGUMENTS…`.
//!
//! It sets what a program must be born with and cannot be given from outside without unsafe code:
//! that it dies with its parent, the CPUs that it may use, its network, and clean signal settings.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::getppid;

use super::{cpus, namespace};

/// The hidden subcommand's name.
pub const NAME: &str = "__exec";

/// A program whose parent is this process. `death` is the signal that it gets when the thread
/// that starts it ends, `cpus` a list of the CPUs that it and what it starts may use, empty for all,
/// `namespace` the file of the network namespace that it runs in, none for this process's own.
pub fn command(
    death: Signal,
    cpus: &str,
    namespace: Option<&Path>,
    program: &[impl AsRef<std::ffi::OsStr>],
) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("sidecar")
        .args([NAME, &std::process::id().to_string()])
        .args([death.as_str(), cpus])
        .arg(namespace.unwrap_or(Path::new("")))
        .arg("--")
        .args(program);
    command
}

/// Becomes the program. Returns the exit code where that fails: 127.
pub fn run(arguments: &[OsString]) -> u8 {
    let [parent, death, cpus, network, _, program, rest @ ..] = arguments else {
        eprintln!("sidecar {NAME}: for the sidecar's own use");
        return 2;
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

/// Whoever started the sidecar may have had signals ignored (a shell's `&` does so with SIGINT), and
/// that would pass on. A handled signal becomes a default one on exec, so a handler is set.
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
        // Only a signal that cannot be handled fails, and none of these is one.
        let _ = signal_hook::flag::register(signal as i32, Arc::clone(&flag));
    }
    let _ = SigSet::all().thread_unblock();
}
