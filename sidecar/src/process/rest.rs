//! CPU use and wakeups of idle processes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::holding::living;
use super::scheduling::Counts;
use super::tree::Entry;

/// One process with its descendants, over some time.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AtRest {
    pub name: String,
    /// Percent of one CPU, so 100 is a whole CPU.
    pub cpu_percent: f64,
    /// How often its threads slept and were woken, per second (voluntary context switches, proc(5)).
    pub wakeups_per_s: f64,
}

struct Look {
    /// CPU time of each process by pid.
    cpu_ns: HashMap<i32, u64>,
    counts: Counts,
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
    /// The process and its descendants; `None` if it had ended.
    before: Option<Look>,
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
                // A new process had all of its use since the first reading.
                let used = after.cpu_ns.iter().map(|(pid, now)| {
                    let then = before.cpu_ns.get(pid).copied().unwrap_or_default();
                    now.saturating_sub(then)
                });
                let wakeups = after.counts.since(&before.counts).voluntary_switches;
                Some(AtRest {
                    name,
                    cpu_percent: used.sum::<u64>() as f64 / 1e7 / seconds,
                    wakeups_per_s: wakeups as f64 / seconds,
                })
            })
            .collect()
    }
}

/// `None` once the process has ended.
fn look(root: i32) -> Option<Look> {
    let all: Vec<_> = living(root)?.collect();
    Some(Look {
        cpu_ns: all.iter().map(|entry| (entry.pid, entry.own_ns)).collect(),
        counts: Counts::of(all.iter().map(Entry::id)),
    })
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
