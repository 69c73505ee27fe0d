//! The guard: the parent of one supervised process. It outlives the sidecar just long enough to stop that process.
//!
//! The guard is a re-executed sidecar in its own session, and the reaper of all processes that its program starts. It holds one end of a
//! pipe whose other end only the sidecar has. When that pipe closes, however the sidecar died, the guard stops the program with every
//! descendant, and ends.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::signalfd::SfdFlags;
use nix::sys::time::TimeValLike;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};

use super::exec;
use super::protocol::{Exit, Order, Report, STOP};
use super::signals::{END, Signals};
use super::tree;
use crate::limits::group;
use crate::process::role::StopSignal;

/// The hidden subcommand's name. Its argument is the process's name, which only `ps` shows.
pub const NAME: &str = "__guard";

/// Time between two looks at the descendants while they are being stopped.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long the guard waits until other guards have emptied a group that they share.
const GROUP_PATIENCE: Duration = Duration::from_secs(2);

struct Guard {
    order: Order,
    program: Pid,
    exit: Option<Exit>,
    /// Set while the descendants are being stopped.
    kill_at: Option<Instant>,
    /// The sidecar asked for the stop, or has ended. The guard need not wait any longer.
    released: bool,
    orphaned: bool,
    done: bool,
}

/// Runs until the program and all of its descendants have ended.
pub fn run() -> io::Result<()> {
    setsid()?;
    set_child_subreaper(true)?;
    let mut signals = END.to_vec();
    signals.push(Signal::SIGCHLD);
    let signals = Signals::block(&signals, SfdFlags::SFD_NONBLOCK)?;
    let mut input = Vec::new();
    let Some(order) = read_order(&mut input)? else {
        return Ok(());
    };
    let program = match start(&order) {
        Ok(program) => program,
        Err(error) => {
            report(&Report::NotStarted {
                error: error.to_string(),
            });
            return Ok(());
        }
    };
    report(&Report::Started {
        pid: program.as_raw(),
    });
    set_nonblocking()?;
    let mut guard = Guard {
        order,
        program,
        exit: None,
        kill_at: None,
        released: false,
        orphaned: false,
        done: false,
    };
    guard.watch(&signals, input)
}

fn read_order(input: &mut Vec<u8>) -> io::Result<Option<Order>> {
    let mut chunk = [0; 4096];
    loop {
        if let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let rest = input.split_off(end + 1);
            let line = std::mem::replace(input, rest);
            return serde_json::from_slice(&line)
                .map(Some)
                .map_err(io::Error::other);
        }
        match io::stdin().lock().read(&mut chunk) {
            Ok(0) => return Ok(None),
            Ok(count) => input.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn start(order: &Order) -> io::Result<Pid> {
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let child = exec::command(
        Signal::SIGKILL,
        &order.cpus,
        order.namespace.as_deref(),
        &order.groups,
        &order.command,
    )
    .env_clear()
    .envs(&order.env)
    .current_dir(&order.work)
    .stdin(Stdio::null())
    .stdout(output)
    .process_group(0)
    .spawn()?;
    i32::try_from(child.id())
        .map(Pid::from_raw)
        .map_err(io::Error::other)
}

fn report(report: &Report) {
    // If the sidecar has ended, nobody reads the report.
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = io::stdout()
            .write_all(&line)
            .and_then(|()| io::stdout().flush());
    }
}

fn set_nonblocking() -> io::Result<()> {
    let stdin = io::stdin();
    let flags = OFlag::from_bits_retain(fcntl(stdin.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(stdin.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

impl Guard {
    fn watch(&mut self, signals: &Signals, mut input: Vec<u8>) -> io::Result<()> {
        loop {
            self.read_input(&mut input);
            while let Some(arrived) = signals.next() {
                if arrived.signal != Signal::SIGCHLD {
                    self.stop();
                }
            }
            self.reap();
            self.press();
            if self.done && self.released {
                if self.orphaned {
                    // The sidecar normally removes the folder. Other guards may be removing it as well.
                    let _ = std::fs::remove_dir_all(&self.order.work);
                    for group in &self.order.groups {
                        group::remove(group, GROUP_PATIENCE);
                    }
                }
                return Ok(());
            }
            self.sleep(signals)?;
        }
    }

    fn sleep(&self, signals: &Signals) -> io::Result<()> {
        let stdin = io::stdin();
        let mut descriptors = vec![PollFd::new(signals.descriptor().as_fd(), PollFlags::POLLIN)];
        if !self.released {
            descriptors.push(PollFd::new(stdin.as_fd(), PollFlags::POLLIN));
        }
        let timeout = if self.kill_at.is_some() && !self.done {
            PollTimeout::try_from(LOOK_EVERY).unwrap_or(PollTimeout::ZERO)
        } else {
            PollTimeout::NONE
        };
        match poll(&mut descriptors, timeout) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn read_input(&mut self, input: &mut Vec<u8>) {
        if self.released {
            return;
        }
        let mut chunk = [0; 64];
        loop {
            if input.starts_with(STOP) {
                self.released = true;
                return self.stop();
            }
            match io::stdin().lock().read(&mut chunk) {
                Ok(0) => {
                    self.released = true;
                    self.orphaned = true;
                    return self.stop();
                }
                Ok(count) => input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Collects the status of every child that ended.
    fn reap(&mut self) {
        loop {
            let exit = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) if pid == self.program => Exit::Status(status),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.program => {
                    Exit::Signal(signal as i32)
                }
                Ok(WaitStatus::StillAlive) | Err(_) => return,
                Ok(_) => continue,
            };
            self.exit = Some(exit);
            report(&Report::Ended { exit });
            self.stop();
        }
    }

    /// Sends the stop signal to all descendants, once.
    fn stop(&mut self) {
        if self.kill_at.is_some() {
            return;
        }
        let signal = match self.order.stop_signal {
            StopSignal::Term => Signal::SIGTERM,
            StopSignal::Int => Signal::SIGINT,
            StopSignal::Quit => Signal::SIGQUIT,
            StopSignal::Kill => Signal::SIGKILL,
        };
        self.kill_at = Some(Instant::now() + Duration::from_secs_f64(self.order.stop_timeout_s));
        if self.exit.is_none() {
            let _ = killpg(self.program, signal);
        }
        for entry in tree::descendants(std::process::id() as i32) {
            let already = self.exit.is_none() && entry.group == self.program.as_raw();
            if !entry.zombie && !already {
                let _ = kill(Pid::from_raw(entry.pid), signal);
            }
        }
    }

    /// While stopping: kills the remaining descendants after the time limit, and notices when all have ended.
    fn press(&mut self) {
        let Some(kill_at) = self.kill_at else { return };
        if self.done {
            return;
        }
        let left = tree::descendants(std::process::id() as i32);
        if left.is_empty() && self.exit.is_some() {
            self.done = true;
            report(&Report::Done {
                cpu_s: children_cpu_s(),
            });
        } else if Instant::now() >= kill_at {
            for entry in left.iter().filter(|entry| !entry.zombie) {
                let _ = kill(Pid::from_raw(entry.pid), Signal::SIGKILL);
            }
        }
    }
}

/// CPU seconds of all descendants that were waited for.
fn children_cpu_s() -> f64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0.0, |usage| {
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
    })
}
