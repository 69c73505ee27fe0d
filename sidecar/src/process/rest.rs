//! CPU use and wakeups of idle processes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use procfs::process::Process;
use serde::Serialize;

use super::scheduling::Scheduling;
use super::tree;

/// One process with its descendants, over some time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtRest {
    pub name: String,
    /// Percent of one CPU, so 100 is a whole CPU.
    pub cpu_percent: f64,
    /// How often its threads slept and were woken, per second (voluntary context switches, proc(5)).
    pub wakeups_per_s: f64,
}

#[derive(Clone, Copy, Default)]
struct Look {
    cpu_ns: u64,
    wakeups: u64,
}

/// Reads the processes now, and again after `time`. Processes that end meanwhile are left out.
pub fn watch(processes: Vec<(String, i32)>, time: Duration) -> Vec<AtRest> {
    let watch = Watch::begin(processes);
    std::thread::sleep(time);
    watch.end()
}

/// Processes under observation.
pub struct Watch {
    begin: Instant,
    processes: Vec<Watched>,
}

struct Watched {
    name: String,
    pid: i32,
    /// The process and its descendants by pid; `None` if it had ended.
    before: Option<HashMap<i32, Look>>,
}

impl Watch {
    pub fn begin(processes: Vec<(String, i32)>) -> Self {
        let looked = |(name, pid)| Watched {
            name,
            pid,
            before: look(pid),
        };
        let processes = processes.into_iter().map(looked).collect();
        Self {
            begin: Instant::now(),
            processes,
        }
    }

    pub fn end(self) -> Vec<AtRest> {
        let seconds = self.begin.elapsed().as_secs_f64();
        self.processes
            .into_iter()
            .filter_map(|Watched { name, pid, before }| {
                let (before, after) = (before?, look(pid)?);
                let used = |of: fn(&Look) -> u64| {
                    // A new process made all of its wakeups since the first reading.
                    after
                        .iter()
                        .map(|(pid, now)| {
                            let then = before.get(pid).copied().unwrap_or_default();
                            of(now).saturating_sub(of(&then))
                        })
                        .sum::<u64>() as f64
                };
                Some(AtRest {
                    name,
                    cpu_percent: used(|look| look.cpu_ns) / 1e7 / seconds,
                    wakeups_per_s: used(|look| look.wakeups) / seconds,
                })
            })
            .collect()
    }
}

/// Readings by pid; `None` once the process has ended.
fn look(root: i32) -> Option<HashMap<i32, Look>> {
    let entry_of_root = tree::entry(root).filter(|entry| !entry.zombie)?;
    let mut all = tree::descendants(root);
    all.push(entry_of_root);
    let look = |entry: &tree::Entry| Look {
        cpu_ns: entry.own_ns,
        wakeups: wakeups(entry.pid),
    };
    Some(all.iter().map(|entry| (entry.pid, look(entry))).collect())
}

fn wakeups(pid: i32) -> u64 {
    let scheduling = Process::new(pid).and_then(|process| Scheduling::of(&process));
    scheduling.map_or(0, |counts| counts.voluntary_switches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::busy::{timely, undisturbed};
    use std::process::{Child, Command};

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = (self.0.kill(), self.0.wait());
        }
    }

    fn shell(script: &str) -> Ended {
        Ended(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    #[test]
    fn burning_waking_and_sleeping_processes_are_distinguished() {
        undisturbed(|| {
            let all = [
                // The shell's child burns a CPU.
                shell("sh -c 'while :; do :; done' & wait"),
                shell("exec python3 -c 'import time\nwhile True: time.sleep(0.01)'"),
                shell("exec sleep 60"),
            ];
            std::thread::sleep(Duration::from_millis(500));
            let named: Vec<_> = all
                .iter()
                .map(|child| ("p".to_owned(), child.0.id() as i32))
                .collect();
            // Other programs take CPU from the burning process, and delay the waking one. One undisturbed second is enough.
            let distinguished = (0..2).any(|_| {
                let watched = watch(named.clone(), Duration::from_secs(1));
                let [burns, wakes, sleeps] = &watched[..] else {
                    panic!("{watched:?}")
                };
                assert!(
                    sleeps.cpu_percent < 1.0 && sleeps.wakeups_per_s < 2.0,
                    "{watched:?}"
                );
                assert!(wakes.wakeups_per_s < 110.0, "{watched:?}");
                burns.cpu_percent > 2.0 * wakes.cpu_percent.max(2.0)
                    && burns.wakeups_per_s < wakes.wakeups_per_s / 2.0
                    && wakes.wakeups_per_s > 20.0
            });
            // Dropping `all` kills only the shell. Its burning child must be killed as well.
            let _ = Command::new("pkill")
                .args(["-P", &all[0].0.id().to_string()])
                .status();
            timely(distinguished, "the three look alike");
        });
    }

    #[test]
    fn what_has_ended_is_left_out() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        child.wait().unwrap();
        assert!(watch(vec![("gone".into(), pid)], Duration::ZERO).is_empty());
    }
}
