//! The CPU time of all processes of a run, and the CPUs on which their threads used it. The processes are the sidecar with its descendants,
//! its parent, and the generators.

use std::collections::{BTreeMap, HashMap};

use super::tree;

/// Identifies a process or a thread for ever: its id and its start time, in clock ticks from boot.
type Id = (i32, u64);

/// A reading of all processes.
#[derive(Debug, Clone, Default)]
pub struct Look(HashMap<Id, Process>);

/// Times are nanoseconds since the start of the process or thread.
#[derive(Debug, Clone, Default)]
struct Process {
    /// Includes threads that have ended.
    used_ns: u64,
    threads: HashMap<Id, Thread>,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    used_ns: u64,
    /// The CPU on which the thread ran last.
    cpu: usize,
}

/// CPU time between two readings, seconds.
#[derive(Debug, Default, PartialEq)]
pub struct Used {
    /// Time of living threads, on the CPU on which each ran last.
    pub by_cpu: BTreeMap<usize, f64>,
    /// Time of threads that have ended: their CPUs are unknown.
    pub anywhere_s: f64,
}

impl Look {
    /// `generators` are pids of processes that the sidecar did not start. If a process has used no time since `before`, its threads are
    /// copied from `before`.
    pub fn take(generators: &[i32], before: Option<&Self>) -> Self {
        let me = std::process::id() as i32;
        let parent = nix::unistd::getppid().as_raw();
        let mut all: Vec<_> = [me, parent]
            .iter()
            .chain(generators)
            .filter_map(|pid| tree::entry(*pid))
            .collect();
        for root in generators.iter().chain([&me]) {
            all.extend(tree::descendants(*root));
        }
        let read = |entry: &tree::Entry| {
            let id = (entry.pid, entry.start);
            let known = before.and_then(|look| look.0.get(&id));
            let process = match known.filter(|known| known.used_ns == entry.own_ns) {
                Some(known) => known.clone(),
                None => Process {
                    used_ns: entry.own_ns,
                    threads: threads(entry.pid),
                },
            };
            (id, process)
        };
        Self(all.iter().map(read).collect())
    }

    pub fn since(&self, before: &Self) -> Used {
        let mut used = Used::default();
        let none = Process::default();
        for (id, now) in &self.0 {
            // A new process or thread used all of its time since `before`.
            let then = before.0.get(id).unwrap_or(&none);
            let mut known_ns = 0;
            for (id, thread) in &now.threads {
                let earlier = then.threads.get(id).map_or(0, |thread| thread.used_ns);
                let used_ns = thread.used_ns.saturating_sub(earlier);
                known_ns += used_ns;
                *used.by_cpu.entry(thread.cpu).or_default() += seconds(used_ns);
            }
            let all_ns = now.used_ns.saturating_sub(then.used_ns);
            used.anywhere_s += seconds(all_ns.saturating_sub(known_ns));
        }
        used
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn threads(pid: i32) -> HashMap<Id, Thread> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return HashMap::new();
    };
    let found = tasks.flatten().filter_map(|task| {
        let tid = task.file_name().to_str()?.parse().ok()?;
        let path = task.path();
        let schedstat = std::fs::read_to_string(path.join("schedstat")).ok()?;
        let used_ns = schedstat.split(' ').next()?.parse().ok()?;
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        // A name may contain spaces and brackets. The fields behind it begin with the third (proc_pid_stat(5)).
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let start = fields.get(22 - 3)?.parse().ok()?;
        let cpu = fields.get(39 - 3)?.parse().ok()?;
        Some(((tid, start), Thread { used_ns, cpu }))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::net::clock::thread_cpu_ns;
    use crate::process::cpus;

    /// Uses this much CPU time, however long that takes on a busy machine.
    fn spin(ms: u64) {
        let begin = thread_cpu_ns();
        while thread_cpu_ns() - begin < ms * 1_000_000 {
            std::hint::black_box((0..1_000).sum::<u64>());
        }
    }

    /// Other tests of this process run meanwhile, so only a lower bound is known.
    #[test]
    fn a_pinned_thread_s_time_is_on_its_cpu_and_an_ended_one_s_anywhere() {
        let last = *cpus::allowed().unwrap().last().unwrap();
        let before = Look::take(&[], None);
        let ended = std::thread::spawn(|| spin(30));
        ended.join().unwrap();
        let (spun, wait) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let pinned = std::thread::spawn(move || {
            cpus::bind(&BTreeSet::from([last])).unwrap();
            spin(50);
            spun.send(()).unwrap();
            let _ = ends.recv();
        });
        wait.recv().unwrap();
        let used = Look::take(&[], Some(&before)).since(&before);
        end.send(()).unwrap();
        pinned.join().unwrap();
        assert!(used.by_cpu[&last] >= 0.049, "{used:?}");
        assert!(used.anywhere_s > 0.005, "{used:?}");
    }
}
