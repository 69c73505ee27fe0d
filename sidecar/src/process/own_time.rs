//! The CPU time of all processes of a run, and the CPUs on which their threads used it. The processes are the sidecar with its descendants,
//! its parent, and the generators.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, metadata, read_dir};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use super::files;
use super::tree::{self, Births, Id, Node, Sampled, Source};

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
    /// By thread id.
    threads: HashMap<i32, Thread>,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    start: u64,
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
    roots: Vec<(i32, Sampled<Tasks>)>,
    parent: Option<Node<Tasks>>,
}

impl Trees {
    /// `generators` are pids of processes that the sidecar did not start.
    pub fn new(generators: &[i32]) -> Self {
        let me = std::process::id() as i32;
        let roots = generators.iter().chain([&me]);
        Self {
            roots: roots.map(|root| (*root, Sampled::default())).collect(),
            parent: None,
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
        let trees = self.roots.iter_mut().flat_map(|(_, tree)| &mut tree.nodes);
        trees
            .chain(&mut self.parent)
            .for_each(|node| node.kept = Tasks::default());
    }
}

/// The threads of a process by id, once it has used CPU time. The last ones to run come first. Their files `schedstat` stay open, because
/// opening one costs more than reading it.
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

    /// Whether a thread more has begun than ended, or the other way round.
    fn are_others(&self, pid: i32) -> bool {
        // The folder has two more links than threads.
        let links = metadata(format!("/proc/{pid}/task")).map(|folder| folder.nlink());
        links.is_ok_and(|links| links != self.0.len() as u64 + 2)
    }

    /// Reads threads until all of the time `to_find` since `known` is found. `None` if a thread has ended or is unknown.
    fn changed(
        &mut self,
        pid: i32,
        known: &Process,
        mut to_find: u64,
    ) -> Option<HashMap<i32, Thread>> {
        let mut threads = known.threads.clone();
        for index in 0..self.0.len() {
            let (tid, file) = &self.0[index];
            let thread = threads.get_mut(tid)?;
            let used_ns = used_ns(file)?;
            if used_ns == thread.used_ns {
                continue;
            }
            to_find = to_find.saturating_sub(used_ns.saturating_sub(thread.used_ns));
            *thread = Thread::read(pid, *tid, used_ns)?;
            self.0[..=index].rotate_right(1);
            if to_find == 0 {
                break;
            }
        }
        Some(threads)
    }

    /// Lists the threads, and reads each.
    fn all(&mut self, pid: i32, known: Option<&Process>) -> HashMap<i32, Thread> {
        *self = Self::list(pid);
        let read = |(tid, file): &(i32, Arc<File>)| {
            let used_ns = used_ns(file)?;
            let known = known.and_then(|process| process.threads.get(tid));
            let same = known.filter(|thread| thread.used_ns == used_ns).copied();
            Some((*tid, same.or_else(|| Thread::read(pid, *tid, used_ns))?))
        };
        let threads: HashMap<_, _> = self.0.iter().filter_map(read).collect();
        // A thread may end between the two.
        self.0.retain(|(tid, _)| threads.contains_key(tid));
        if self.0.len() > KEPT_MOST {
            self.0.clear();
        }
        threads
    }
}

fn used_ns(schedstat: &File) -> Option<u64> {
    files::line(schedstat)?.split(' ').next()?.parse().ok()
}

impl Thread {
    fn read(pid: i32, tid: i32, used_ns: u64) -> Option<Self> {
        let stat = files::line_of(format!("/proc/{pid}/task/{tid}/stat"))?;
        let (_, fields) = tree::stat_fields(&stat)?;
        let field = |number: usize| u64::try_from(*fields.get(number - 4)?).ok();
        Some(Self {
            start: field(22)?,
            used_ns,
            cpu: usize::try_from(field(39)?).ok()?,
        })
    }
}

impl Process {
    /// A process that has used no time since `known` is copied from there, and so is a thread: its CPU need not be read. `None` once the
    /// process has ended.
    fn read(node: &mut Node<Tasks>, known: Option<&Self>, has_threads: bool) -> Option<Self> {
        let pid = node.entry.pid;
        let now_ns = tree::Kernel.clock_ns(pid)?.max(node.entry.own_ns);
        node.entry.own_ns = now_ns;
        let tasks = &mut node.kept;
        let threads = match known {
            Some(known) if known.used_ns == now_ns => return Some(known.clone()),
            Some(_) if tasks.0.is_empty() || (has_threads && tasks.are_others(pid)) => None,
            Some(known) => {
                let used_ns = now_ns.saturating_sub(known.used_ns);
                // A new thread may have taken the place of another one.
                tasks.changed(pid, known, if has_threads { u64::MAX } else { used_ns })
            }
            None => None,
        };
        Some(Self {
            used_ns: now_ns,
            threads: threads.unwrap_or_else(|| tasks.all(pid, known)),
        })
    }
}

impl Look {
    /// Without `births`, all trees are walked through.
    pub fn take(trees: &mut Trees, before: Option<&Self>, births: Option<&Births>) -> Self {
        let has_threads = births.is_none_or(|births| births.has_threads);
        let mut look = Self::default();
        for (root, tree) in &mut trees.roots {
            tree.look(&tree::Kernel, *root, 0, births);
            let mut live = true;
            for node in &mut tree.nodes {
                live &= look.read(node, before, has_threads);
            }
            if !live {
                // The children of a process that has ended have another parent.
                tree.forget();
            }
        }
        let parent = nix::unistd::getppid().as_raw();
        if !matches!(&trees.parent, Some(node) if node.entry.pid == parent) {
            trees.parent = tree::entry(parent).map(Node::from);
        }
        if let Some(node) = &mut trees.parent {
            look.read(node, before, has_threads);
        }
        look
    }

    /// False if the process has ended.
    fn read(&mut self, node: &mut Node<Tasks>, before: Option<&Self>, has_threads: bool) -> bool {
        let id = node.entry.id();
        if self.0.contains_key(&id) {
            return true;
        }
        let known = before.and_then(|look| look.0.get(&id));
        let read = Process::read(node, known, has_threads);
        read.map(|process| self.0.insert(id, process)).is_some()
    }

    pub fn since(&self, before: &Self) -> Used {
        let mut used = Used::default();
        let none = Process::default();
        for (id, now) in &self.0 {
            // A new process or thread used all of its time since `before`.
            let then = before.0.get(id).unwrap_or(&none);
            let mut known_ns = 0;
            for (tid, thread) in &now.threads {
                let then = then.threads.get(tid);
                let then = then.filter(|then| then.start == thread.start);
                let earlier = then.map_or(0, |thread| thread.used_ns);
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
        let mut node = Node::from(tree::entry(pid).unwrap());
        let mut known = None;
        let mut last = 0;
        for _ in 0..3 {
            let new: i32 = python.ask("next").parse().unwrap();
            // The thread that ended may still be there for a moment.
            let found = loop {
                let now = Process::read(&mut node, known.as_ref(), true).unwrap();
                let ids: Vec<_> = now.threads.keys().copied().collect();
                // The next reading reads all threads.
                known = Some(Process { used_ns: 0, ..now });
                if !ids.contains(&last) {
                    break ids;
                }
            };
            assert!(found.len() == 2 && found.contains(&new), "{found:?}");
            assert_eq!(node.kept.0.len(), 2);
            last = new;
        }
        drop(python);
        assert!(Process::read(&mut node, None, true).is_none());
    }

    /// Other tests of this process run meanwhile, so only a lower bound is known.
    #[test]
    fn a_pinned_thread_s_time_is_on_its_cpu_and_an_ended_one_s_anywhere() {
        let last = *cpus::allowed().unwrap().last().unwrap();
        let mut trees = Trees::new(&[]);
        let before = Look::take(&mut trees, None, None);
        let ended = std::thread::spawn(|| spin(30));
        ended.join().unwrap();
        let (spun, wait) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let pinned = std::thread::spawn(move || {
            cpus::bind(&BTreeSet::from([last])).unwrap();
            for ms in [50, 20] {
                spin(ms);
                spun.send(()).unwrap();
                let _ = ends.recv();
            }
        });
        wait.recv().unwrap();
        let now = Look::take(&mut trees, Some(&before), None);
        let used = now.since(&before);
        end.send(()).unwrap();
        wait.recv().unwrap();
        // It has seen no new threads, and reads no more than it needs.
        let more = Look::take(&mut trees, Some(&now), Some(&Births::default())).since(&now);
        end.send(()).unwrap();
        pinned.join().unwrap();
        assert!(more.by_cpu[&last] >= 0.019, "{more:?}");
        assert!(used.by_cpu[&last] >= 0.049, "{used:?}");
        assert!(used.anywhere_s > 0.005, "{used:?}");
    }
}
