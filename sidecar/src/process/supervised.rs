//! The sidecar's side of a guard: one supervised process.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::guard;
use super::protocol::{Exit, Order, Report, STOP};
use super::tree::{self, Entry};
use crate::limits::group::Group;
use crate::lock::{lock, wait};
use crate::process::log::Log;
use crate::process::role::Role;

/// How long a guard may exceed its own time limit before it is killed.
const GUARD_PATIENCE: Duration = Duration::from_secs(5);

pub struct Supervised {
    pub name: String,
    pub role: Role,
    pub log: Arc<Log>,
    /// The program's pid.
    pub pid: i32,
    pub guard_pid: i32,
    /// The CPUs of the program and its children; empty means all.
    pub cpus: String,
    /// Its control group, if it has limits.
    group: Option<Arc<Group>>,
    stop_timeout: Duration,
    work: PathBuf,
    control: Mutex<Option<ChildStdin>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    exit: Option<Exit>,
    ended: Option<Instant>,
    cpu_s: Option<f64>,
    /// The guard and all processes under it have ended.
    finished: bool,
    /// The last known descendants. If the guard is killed, these must be found and stopped.
    known: Vec<(i32, u64)>,
}

impl State {
    fn end(&mut self, exit: Exit) {
        self.exit = Some(exit);
        self.ended = Some(Instant::now());
    }
}

impl Supervised {
    /// Starts a guard and, through it, the program. The error is a message.
    pub fn start(
        name: &str,
        role: Role,
        order: &Order,
        log: Arc<Log>,
        group: Option<Arc<Group>>,
    ) -> Result<Arc<Self>, String> {
        let mut guard = Command::new("/proc/self/exe")
            .arg0("sidecar")
            .args([guard::NAME, name])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("its guard cannot be started: {error}"))?;
        let guard_pid = i32::try_from(guard.id()).unwrap_or(i32::MAX);
        let mut control = guard.stdin.take();
        let output = guard.stdout.take();
        if let Some(printed) = guard.stderr.take() {
            let log = Arc::clone(&log);
            std::thread::spawn(move || log.follow(printed));
        }
        let mut line = serde_json::to_vec(order).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let sent = control
            .as_mut()
            .map_or(Ok(()), |control| control.write_all(&line));
        sent.map_err(|error| format!("its guard does not listen: {error}"))?;

        let mut reports = BufReader::new(output.ok_or("its guard has no output")?);
        let pid = match first_report(&mut reports) {
            Some(Report::Started { pid }) => pid,
            Some(Report::NotStarted { error }) => {
                let _ = guard.wait();
                return Err(error);
            }
            _ => {
                let _ = guard.kill();
                let _ = guard.wait();
                return Err("its guard ended before the program started".to_owned());
            }
        };
        let supervised = Arc::new(Self {
            name: name.to_owned(),
            role,
            log,
            pid,
            guard_pid,
            cpus: order.cpus.clone(),
            group,
            stop_timeout: Duration::from_secs_f64(order.stop_timeout_s),
            work: order.work.clone(),
            control: Mutex::new(control),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let follower = Arc::clone(&supervised);
        std::thread::spawn(move || follower.follow(guard, reports));
        Ok(supervised)
    }

    fn follow(&self, mut guard: Child, reports: BufReader<ChildStdout>) {
        let mut done = false;
        for line in reports.lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Report::Ended { exit }) => lock(&self.state).end(exit),
                Ok(Report::Done { cpu_s }) => {
                    lock(&self.state).cpu_s = Some(cpu_s);
                    done = true;
                }
                Ok(Report::Started { .. } | Report::NotStarted { .. }) | Err(_) => {}
            }
            self.changed.notify_all();
        }
        let _ = guard.wait();
        if !done {
            self.clear_up();
            let mut state = lock(&self.state);
            if state.exit.is_none() {
                state.end(Exit::Signal(Signal::SIGKILL as i32));
            }
        }
        lock(&self.state).finished = true;
        self.changed.notify_all();
    }

    /// Stops the remaining processes of a killed guard. Its program died with the guard. The program's descendants became children of the
    /// next reaper upwards, which is this process.
    fn clear_up(&self) {
        let me = std::process::id() as i32;
        let deadline = Instant::now() + GUARD_PATIENCE;
        while Instant::now() < deadline {
            let known = lock(&self.state).known.clone();
            let mut left: Vec<Entry> = known
                .iter()
                .filter_map(|(pid, start)| tree::same(*pid, *start))
                .collect();
            let handed = tree::children(me).into_iter().filter_map(tree::entry);
            left.extend(handed.filter(|entry| self.started_by_us(entry)));
            if left.is_empty() {
                return;
            }
            for entry in left.clone() {
                left.extend(tree::descendants(entry.pid));
            }
            for entry in left {
                if entry.zombie {
                    let _ = waitpid(Pid::from_raw(entry.pid), Some(WaitPidFlag::WNOHANG));
                } else {
                    let _ = kill(Pid::from_raw(entry.pid), Signal::SIGKILL);
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn started_by_us(&self, entry: &Entry) -> bool {
        if entry.session == self.guard_pid || entry.pid == self.pid {
            return true;
        }
        let process = procfs::process::Process::new(entry.pid);
        let Ok(environment) = process.and_then(|process| process.environ()) else {
            return false;
        };
        environment
            .get(OsStr::new("TMPDIR"))
            .is_some_and(|folder| *folder == self.work)
    }

    /// Records the present descendants.
    pub fn remember(&self) {
        if self.finished() {
            return;
        }
        let now = tree::descendants(self.guard_pid);
        let mut state = lock(&self.state);
        let known = now.iter().map(|entry| (entry.pid, entry.start)).collect();
        // A guard that was just killed has no descendants any more, so the last known ones count.
        if !now.is_empty() {
            state.known = known;
        }
    }

    /// How the program ended; `None` while it lives.
    pub fn exit(&self) -> Option<Exit> {
        lock(&self.state).exit
    }

    /// How the program ended, in words; `None` while it lives.
    pub fn ending(&self) -> Option<String> {
        self.exit().map(|exit| self.words(exit))
    }

    /// The kernel kills for memory by SIGKILL.
    fn words(&self, exit: Exit) -> String {
        let killed = exit == Exit::Signal(Signal::SIGKILL as i32);
        let killing = self.group.as_ref().filter(|_| killed);
        match killing.and_then(|group| group.killing()) {
            Some(killing) => format!("{killing}, {exit}"),
            None => exit.to_string(),
        }
    }

    /// When the program ended; `None` while it lives.
    pub fn ended(&self) -> Option<Instant> {
        lock(&self.state).ended
    }

    /// CPU seconds of all processes under the guard; `None` until all have ended.
    pub fn final_cpu_s(&self) -> Option<f64> {
        lock(&self.state).cpu_s
    }

    pub fn finished(&self) -> bool {
        lock(&self.state).finished
    }

    /// Waits at most `patience` for the program's end.
    pub fn wait_exit(&self, patience: Duration) -> Option<Exit> {
        let state = wait(&self.changed, lock(&self.state), patience, |state| {
            state.exit.is_none()
        });
        state.exit
    }

    /// Stops the program and its descendants, and waits until all have ended.
    pub fn stop(&self) -> String {
        let control = lock(&self.control).take();
        if let Some(mut control) = control {
            let _ = control.write_all(STOP);
        }
        if !self.wait_finished(self.stop_timeout + GUARD_PATIENCE) {
            let _ = kill(Pid::from_raw(self.guard_pid), Signal::SIGKILL);
            self.wait_finished(2 * GUARD_PATIENCE);
        }
        self.log.wait_end(Duration::from_secs(1));
        self.words(self.exit().unwrap_or(Exit::Unknown))
    }

    fn wait_finished(&self, patience: Duration) -> bool {
        let state = wait(&self.changed, lock(&self.state), patience, |state| {
            !state.finished
        });
        state.finished
    }
}

fn first_report(reports: &mut BufReader<ChildStdout>) -> Option<Report> {
    let mut line = String::new();
    reports.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}
