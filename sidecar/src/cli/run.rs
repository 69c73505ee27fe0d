//! `sidecar testbed run`.

use std::io::IsTerminal;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::Args;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};

use super::table;
use super::up::{Interrupts, Start};
use crate::failure::{Failure, Result};
use crate::process::exec;
use crate::process::protocol::Exit;
use crate::process::role::Role;
use crate::process::signals::Arrived;
use crate::process::tree::{self, Entry};
use crate::process::usage::Source;
use crate::process::windows::Manner;
use crate::testbed::instance::Instance;
use crate::testbed::supervisor::Supervisor;

/// A repeated signal within this time counts once: `timeout` and similar programs signal a process and then its group.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    start: Start,
    /// The command; its environment has the testbed's outputs
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Run {
    pub fn run(self) -> Result<u8> {
        self.start.then(|supervisor, instance, interrupts| {
            command_on(&self.command, supervisor, instance, interrupts)
        })?
    }
}

fn command_on(
    words: &[String],
    supervisor: &Supervisor,
    instance: &Instance,
    interrupts: &Interrupts,
) -> Result<u8> {
    let on_terminal = on_terminal();
    let mut command = exec::command(Signal::SIGTERM, "", None, &[], words);
    command
        .envs(&instance.outputs)
        .envs(&instance.secret_outputs);
    if !on_terminal {
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(Failure::of_limits(format!(
        "{} cannot be started",
        words[0]
    )))?;
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    let mut sources = instance.sources();
    sources.extend(source_of(pid).map(|source| ("command".to_owned(), Role::Generator, source)));
    let window = supervisor.windows.open(sources, Manner::PEAKS)?;
    let status = wait(&mut child, pid, on_terminal, interrupts);
    let mut usage = supervisor.windows.close(&window)?;
    let mut processes = usage.processes.iter_mut();
    let command = processes.find(|process| process.role == Role::Generator);
    if let (Ok(status), Some(command)) = (&status, command) {
        command.exit = Some(ended(*status).to_string());
    }
    eprint!("{}", table::usage(&usage));
    let status =
        status.map_err(|error| Failure::setup(format!("{}: {error}", words[0]), "run it again"))?;
    Ok(code(status))
}

/// The command, also if it has ended already, or runs as another user.
fn source_of(pid: i32) -> Option<Source> {
    tree::entry(pid).map(|Entry { start, .. }| Source::Pid { pid, start })
}

/// On a terminal, the command stays in the foreground group: it may read, and Ctrl-C reaches it from the terminal. Otherwise it gets its
/// own group, and the sidecar forwards each signal once.
fn on_terminal() -> bool {
    let stdin = std::io::stdin();
    stdin.is_terminal() && tcgetpgrp(stdin).is_ok_and(|group| group == getpgrp())
}

fn wait(
    child: &mut Child,
    pid: i32,
    on_terminal: bool,
    interrupts: &Interrupts,
) -> std::io::Result<ExitStatus> {
    let mut last: Option<(Signal, Instant)> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        match interrupts.arrived.recv_timeout(Duration::from_millis(20)) {
            Ok(arrived) => {
                let repeated = last.is_some_and(|(signal, at)| {
                    signal == arrived.signal && at.elapsed() < ONE_SIGNAL
                });
                last = Some((arrived.signal, Instant::now()));
                if !repeated {
                    hand_on(arrived, pid, on_terminal);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return child.wait(),
        }
    }
}

fn hand_on(arrived: Arrived, pid: i32, on_terminal: bool) {
    let pid = Pid::from_raw(pid);
    if !on_terminal {
        let _ = killpg(pid, arrived.signal);
    } else if !arrived.from_terminal {
        let _ = nix::sys::signal::kill(pid, arrived.signal);
    }
}

fn ended(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Status(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = match ended(status) {
        Exit::Status(code) => code,
        Exit::Signal(signal) => 128 + signal,
        Exit::Unknown => 1,
    };
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ledger::Ledger;
    use crate::process::windows::Windows;

    #[test]
    fn a_command_that_ends_at_once_has_its_row() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        while !tree::entry(pid).unwrap().zombie {
            std::thread::sleep(Duration::from_millis(1));
        }
        let windows = Windows::new(Ledger::new(None));
        let command = (
            "command".to_owned(),
            Role::Generator,
            source_of(pid).unwrap(),
        );
        let window = windows.open(vec![command], Manner::PEAKS).unwrap();
        child.wait().unwrap();
        let usage = windows.close(&window).unwrap();
        assert_eq!(usage.processes[0].name, "command");
    }
}
