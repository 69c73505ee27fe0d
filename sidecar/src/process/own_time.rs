//! The CPU time of all processes of a run, and the CPUs on which their threads used it. The processes are the sidecar with its descendants,
//! its parent, and the generators.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, metadata, read_dir};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use super::files;
use super::tree::{self, Sampled};

/// Identifies a process or a thread for ever: its id and its start time, in clock ticks from boot.
type Id = (i32, u64);

/// Threads of a process whose files stay open. A process with more has none that stay open.
const KEPT_MOST: usize = 64;

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

/// The trees of the processes of a run.
#[derive(Debug, Clone)]
pub struct Trees {
    roots: Vec<(i32, Sampled)>,
    /// Only a process that has used CPU time has an entry.
    tasks: HashMap<Id, Tasks>,
}

impl Trees {
    /// `generators` are pids of processes that the sidecar did not start.
    pub fn new(generators: &[i32]) -> Self {
        let me = std::process::id() as i32;
        let roots = generators.iter().chain([&me]);
        Self {
            roots: roots.map(|root| (*root, Sampled::default())).collect(),
            tasks: HashMap::new(),
        }
    }

    /// Adds the trees of these processes.
    pub fn add(&mut self, generators: &[i32]) {
        for root in generators {
            if self.roots.iter().all(|(known, _)| known != root) {
                self.roots.push((*root, Sampled::default()));
            }
        }
    }

    /// Closes the files that stay open.
    pub fn forget(&mut self) {
        self.tasks.clear();
    }
}

/// The threads of a process by id. Their files `schedstat` stay open, because opening one costs more than reading it.
#[derive(Debug, Clone, Default)]
struct Tasks(Vec<(i32, Arc<File>)>);

impl Tasks {
    fn list(pid: i32) -> Self {
        let folder = read_dir(format!("/proc/{pid}/task"));
        let tasks = folder.into_iter().flatten().flatten().filter_map(|task| {
            let tid = task.file_name().to_str()?.parse().ok()?;
            let file = File::open(task.path().join("schedstat")).ok()?;
            Some((tid, Arc::new(file)))
        });
        Self(tasks.collect())
    }

    /// The CPU time of each thread; `None` for one that has ended.
    fn times(&self) -> impl Iterator<Item = Option<(i32, u64)>> {
        self.0.iter().map(|(tid, file)| {
            let schedstat = files::line(file)?;
            Some((*tid, schedstat.split(' ').next()?.parse().ok()?))
        })
    }

    /// Lists the threads again if one has ended or begun.
    fn read(&mut self, pid: i32) -> Vec<(i32, u64)> {
        // The folder has two more links than threads.
        let links = metadata(format!("/proc/{pid}/task")).map(|folder| folder.nlink());
        if links.is_ok_and(|links| links == self.0.len() as u64 + 2)
            && let Some(times) = self.times().collect()
        {
            return times;
        }
        *self = Self::list(pid);
        let times = self.times().flatten().collect();
        if self.0.len() > KEPT_MOST {
            self.0.clear();
        }
        times
    }
}

impl Look {
    /// A process that has used no time since `before` is copied from there, and so is a thread.
    pub fn take(trees: &mut Trees, before: Option<&Self>) -> Self {
        let newest = tree::newest();
        let Trees { roots, tasks } = trees;
        for (root, tree) in roots.iter_mut() {
            tree.look(&tree::Kernel, *root, 0, newest);
        }
        let parent = tree::entry(nix::unistd::getppid().as_raw());
        let trees = roots.iter().flat_map(|(_, tree)| tree.entries());
        let read = |entry: &tree::Entry| {
            let id = (entry.pid, entry.start);
            let known = before.and_then(|look| look.0.get(&id));
            let process = match known.filter(|known| known.used_ns == entry.own_ns) {
                Some(known) => known.clone(),
                None => Process {
                    used_ns: entry.own_ns,
                    threads: threads(entry.pid, tasks.entry(id).or_default(), known),
                },
            };
            (id, process)
        };
        let look = Self(trees.chain(&parent).map(read).collect());
        tasks.retain(|id, _| look.0.contains_key(id));
        look
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

/// A thread that has used no time since `before` is copied from there: its CPU need not be read.
fn threads(pid: i32, tasks: &mut Tasks, before: Option<&Process>) -> HashMap<Id, Thread> {
    let before = before.iter().flat_map(|process| &process.threads);
    let known: HashMap<i32, (Id, Thread)> = before.map(|(id, one)| (id.0, (*id, *one))).collect();
    let found = tasks.read(pid).into_iter().filter_map(|(tid, used_ns)| {
        let known = known.get(&tid).copied();
        if let Some(same) = known.filter(|(_, thread)| thread.used_ns == used_ns) {
            return Some(same);
        }
        let stat = files::line_of(format!("/proc/{pid}/task/{tid}/stat"))?;
        let (_, fields) = tree::stat_fields(&stat)?;
        let field = |number: usize| u64::try_from(*fields.get(number - 4)?).ok();
        let cpu = usize::try_from(field(39)?).ok()?;
        Some(((tid, field(22)?), Thread { used_ns, cpu }))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::net::clock::thread_cpu_ns;
    use crate::process::cpus;
    use crate::process::python::Python;

    /// Uses this much CPU time, however long that takes on a busy machine.
    fn spin(ms: u64) {
        let begin = thread_cpu_ns();
        while thread_cpu_ns() - begin < ms * 1_000_000 {
            std::hint::black_box((0..1_000).sum::<u64>());
        }
    }

    /// Begins a thread for each line, and ends the one before.
    const SWAPPING: &str = "
import sys, threading
last = None
for line in sys.stdin:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    if last:
        last[0].set()
        last[1].join()
    last = (end, thread)
    print(thread.native_id, flush=True)
";

    #[test]
    fn a_thread_that_took_the_place_of_another_is_found() {
        let mut python = Python::start(SWAPPING);
        let pid = python.pid();
        let mut tasks = Tasks::default();
        let mut last = 0;
        for _ in 0..3 {
            let new: i32 = python.ask("next").parse().unwrap();
            // The thread that ended may still be there for a moment.
            let found = loop {
                let times = tasks.read(pid);
                let ids: Vec<_> = times.into_iter().map(|(id, _)| id).collect();
                if !ids.contains(&last) {
                    break ids;
                }
            };
            assert!(found.len() == 2 && found.contains(&new), "{found:?}");
            assert_eq!(tasks.0.len(), 2);
            last = new;
        }
        drop(python);
        assert_eq!(tasks.read(pid), []);
    }

    /// Other tests of this process run meanwhile, so only a lower bound is known.
    #[test]
    fn a_pinned_thread_s_time_is_on_its_cpu_and_an_ended_one_s_anywhere() {
        let last = *cpus::allowed().unwrap().last().unwrap();
        let mut trees = Trees::new(&[]);
        let before = Look::take(&mut trees, None);
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
        let used = Look::take(&mut trees, Some(&before)).since(&before);
        end.send(()).unwrap();
        pinned.join().unwrap();
        assert!(used.by_cpu[&last] >= 0.049, "{used:?}");
        assert!(used.anywhere_s > 0.005, "{used:?}");
    }
}
