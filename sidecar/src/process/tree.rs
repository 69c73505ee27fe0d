//! Processes and their descendants, read from `/proc`.

use std::fs::File;
use std::sync::LazyLock;

use nix::time::{ClockId, clock_gettime};

use super::files;

/// Whether the kernel was built with CONFIG_PROC_CHILDREN.
static KERNEL_LISTS_CHILDREN: LazyLock<bool> = LazyLock::new(|| {
    let pid = std::process::id();
    std::path::Path::new(&format!("/proc/{pid}/task/{pid}/children")).exists()
});

/// A pid, or the id of a thread, with its start.
pub type Id = (i32, u64);

/// A process at one moment. CPU times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub pid: i32,
    /// Clock ticks from boot.
    pub start: u64,
    pub parent: i32,
    pub session: i32,
    pub group: i32,
    pub zombie: bool,
    /// Own CPU time, all threads, user and system. It is exact while the process lives, and in steps of 10 ms afterwards.
    pub own_ns: u64,
    /// CPU time of the children that it waited for, and of their children, in steps of 10 ms.
    pub reaped_ns: u64,
}

impl Entry {
    /// Identifies a process for ever.
    pub fn id(&self) -> Id {
        (self.pid, self.start)
    }
}

/// The origin of processes: the kernel, or a test.
pub trait Source {
    /// One process; `None` if it does not exist.
    fn entry(&self, pid: i32) -> Option<Entry>;
    /// The pids of the children of all threads of a process.
    fn children(&self, pid: i32) -> Vec<i32>;
    /// Own CPU time alone; `None` for a thread, and once the parent has waited for the process.
    fn clock_ns(&self, pid: i32) -> Option<u64>;
}

pub struct Kernel;

impl Source for Kernel {
    fn entry(&self, pid: i32) -> Option<Entry> {
        entry(pid)
    }

    fn children(&self, pid: i32) -> Vec<i32> {
        children(pid)
    }

    fn clock_ns(&self, pid: i32) -> Option<u64> {
        cpu_clock_ns(pid)
    }
}

/// One process; `None` if it does not exist, or if its parent waits for it at this moment (state X): the kernel then gives its time to the
/// parent, and the time would count twice.
pub fn entry(pid: i32) -> Option<Entry> {
    let text = files::line_of(format!("/proc/{pid}/stat"))?;
    let (state, fields) = stat_fields(&text)?;
    let field = |number: usize| fields.get(number - 4).copied();
    let ticks = |first: usize| Some(u64::try_from(field(first)? + field(first + 1)?).unwrap_or(0));
    (state != "X").then_some(Entry {
        pid,
        start: u64::try_from(field(22)?).ok()?,
        parent: i32::try_from(field(4)?).ok()?,
        session: i32::try_from(field(6)?).ok()?,
        group: i32::try_from(field(5)?).ok()?,
        zombie: state == "Z",
        own_ns: cpu_clock_ns(pid).unwrap_or(0).max(ticks(14)? * tick_ns()),
        reaped_ns: ticks(16)? * tick_ns(),
    })
}

/// The state in `/proc/PID/stat` or `/proc/PID/task/TID/stat`, and the fields from the fourth to the 39th (proc_pid_stat(5)).
pub fn stat_fields(text: &str) -> Option<(&str, Vec<i64>)> {
    // A name may contain spaces and brackets.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    // Some addresses and limits between them are beyond the range.
    let number = |field: &str| field.parse().unwrap_or(i64::MAX);
    Some((state, fields.take(36).map(number).collect()))
}

/// The process's own CPU clock, which is not limited to ticks. Its number is as clock_getcpuclockid(3) makes it, which asks the kernel first
/// whether the process exists.
fn cpu_clock_ns(pid: i32) -> Option<u64> {
    const ALL_THREADS_BY_THE_SCHEDULER: i32 = 2;
    let clock = ClockId::from_raw((!pid << 3) | ALL_THREADS_BY_THE_SCHEDULER);
    let time = clock_gettime(clock).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

fn tick_ns() -> u64 {
    1_000_000_000 / procfs::ticks_per_second()
}

/// The process `pid`, if it still is the one that started at `start`.
pub fn same(pid: i32, start: u64) -> Option<Entry> {
    entry(pid).filter(|entry| entry.start == start)
}

/// The pids of the children of all threads of a process.
pub fn children(pid: i32) -> Vec<i32> {
    if !*KERNEL_LISTS_CHILDREN {
        return scan(pid);
    }
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    // A thread that has ended has no file.
    let lists = tasks
        .flatten()
        .filter_map(|task| files::read(task.path().join("children")));
    lists
        .flat_map(|list| {
            let pids = list.split_ascii_whitespace();
            pids.flat_map(str::parse).collect::<Vec<_>>()
        })
        .collect()
}

fn scan(parent: i32) -> Vec<i32> {
    let Ok(all) = procfs::process::all_processes() else {
        return Vec::new();
    };
    all.flatten()
        .filter_map(|process| process.stat().ok())
        .filter(|stat| stat.ppid == parent)
        .map(|stat| stat.pid)
        .collect()
}

/// All descendants of a process, including zombies, without the process itself.
pub fn descendants(root: i32) -> Vec<Entry> {
    descendants_without(&Kernel, root, 0)
}

/// The root, if it lives, and its descendants.
pub fn whole(source: &impl Source, root: i32, left_out: i32) -> Vec<Entry> {
    let mut all: Vec<_> = source.entry(root).into_iter().collect();
    all.extend(descendants_without(source, root, left_out));
    all
}

/// All descendants, without the process `left_out` and its descendants. Each process is read before its children, so that no child counts
/// both alone and through its parent.
fn descendants_without(source: &impl Source, root: i32, left_out: i32) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut next = source.children(root);
    while let Some(pid) = next.pop() {
        if pid == left_out || found.iter().any(|known| known.pid == pid) {
            continue;
        }
        if let Some(entry) = source.entry(pid) {
            next.extend(source.children(pid));
            found.push(entry);
        }
    }
    found
}

/// The pid or thread id that the kernel gave last (proc_loadavg(5)); `None` if unknown. A container may show an old one: then it is unknown.
pub fn newest() -> Option<u64> {
    static FOLLOWS: LazyLock<bool> = LazyLock::new(|| {
        (0..3).all(|_| {
            let before = shown_newest();
            let after = std::thread::spawn(shown_newest).join();
            after.is_ok_and(|after| after != before)
        })
    });
    shown_newest().filter(|_| *FOLLOWS)
}

fn shown_newest() -> Option<u64> {
    static LOADAVG: LazyLock<Option<File>> = LazyLock::new(|| File::open("/proc/loadavg").ok());
    let text = files::line(LOADAVG.as_ref()?)?;
    let newest = text.split_ascii_whitespace().nth(4)?.parse().ok()?;
    (newest > 0).then_some(newest)
}

/// The most new ids that one look asks for.
const IDS_MOST: u64 = 1_000;

/// The processes that began between two looks. The kernel gives ids one after the other, so each look asks for the ids since the look before.
/// One look serves all trees, however many threads they have.
#[derive(Debug, Default)]
pub struct Births {
    /// The number of this look.
    look: u64,
    /// The newest ids at this look, and at the look before.
    newest: [Option<u64>; 2],
    /// `None` if unknown, as the first two times.
    found: Option<Vec<Entry>>,
    /// Whether threads may have begun since the look before.
    pub has_threads: bool,
}

impl Births {
    /// The caller has read `newest` just before ([`newest`]). Ids of the look before are asked for twice: a process may have had its id, and
    /// not been its parent's child yet.
    pub fn look(&mut self, source: &impl Source, newest: Option<u64>) {
        let [last, before] = self.newest;
        let known = self.found.take().unwrap_or_default();
        self.look += 1;
        self.newest = [newest, last];
        self.has_threads = newest.is_none() || newest != before;
        let follows =
            |(before, newest): &(u64, u64)| (*before..=before + IDS_MOST).contains(newest);
        let Some((before, newest)) = before.zip(newest).filter(follows) else {
            return;
        };
        let ids = (before + 1..=newest).filter_map(|id| i32::try_from(id).ok());
        let is_new = |pid: &i32| known.iter().all(|one| one.pid != *pid);
        // A thread has no clock of a process.
        let lives = |pid: &i32| source.clock_ns(*pid).is_some();
        let new = ids.filter(is_new).filter(lives);
        self.found = Some(new.filter_map(|pid| source.entry(pid)).collect());
    }

    /// The newest id at this look.
    pub fn newest(&self) -> Option<u64> {
        self.newest[0]
    }
}

/// Looks at a tree until it is walked through again in any case: one in ten seconds.
const LOOKS_OF_A_WALK: u32 = 100;

/// A process, and what its reader keeps of it between two looks.
#[derive(Debug, Clone)]
pub struct Node<T> {
    pub entry: Entry,
    pub kept: T,
}

/// A tree that is looked at often. A walk reads the children of each thread. Other looks only add new processes whose parent is in the tree.
/// An entry is as the walk or the birth told it.
#[derive(Debug, Clone, Default)]
pub struct Sampled<T> {
    pub nodes: Vec<Node<T>>,
    /// The last look at births.
    look: u64,
    looks_left: u32,
}

impl<T: Default> Sampled<T> {
    /// Finds the root and its descendants without `left_out`. Returns whether it walked: without births, if it has not seen the births before,
    /// after [`Sampled::forget`], and now and then.
    pub fn look(
        &mut self,
        source: &impl Source,
        root: i32,
        left_out: i32,
        births: Option<&Births>,
    ) -> bool {
        let last = self.look;
        self.look = births.map_or(last, |births| births.look);
        let next = births.filter(|births| births.look == last + 1);
        let known = next.filter(|_| self.looks_left > 0 && !self.nodes.is_empty());
        if let Some(found) = known.and_then(|births| births.found.as_ref()) {
            self.looks_left -= 1;
            for entry in found.iter().filter(|entry| entry.pid != left_out) {
                let has = |pid| self.nodes.iter().any(|node| node.entry.pid == pid);
                if has(entry.parent) && !has(entry.pid) {
                    self.nodes.push(Node::from(*entry));
                }
            }
            return false;
        }
        self.looks_left = LOOKS_OF_A_WALK - 1;
        let entries = whole(source, root, left_out).into_iter();
        let mut nodes: Vec<_> = entries.map(Node::from).collect();
        for node in &mut nodes {
            let same = |old: &&mut Node<T>| old.entry.id() == node.entry.id();
            if let Some(old) = self.nodes.iter_mut().find(same) {
                node.kept = std::mem::take(&mut old.kept);
            }
        }
        self.nodes = nodes;
        true
    }

    /// Makes the next look a walk.
    pub fn forget(&mut self) {
        self.looks_left = 0;
    }
}

impl<T: Default> From<Entry> for Node<T> {
    fn from(entry: Entry) -> Self {
        Self {
            entry,
            kept: T::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::process::{Command, Stdio};

    use super::*;

    /// Processes by pid, with their parents. It counts the questions for children.
    #[derive(Default)]
    struct Family {
        parents: RefCell<BTreeMap<i32, i32>>,
        asked: Cell<u32>,
    }

    const ROOT: i32 = 5;

    impl Source for Family {
        fn entry(&self, pid: i32) -> Option<Entry> {
            let parent = *self.parents.borrow().get(&pid)?;
            Some(Entry {
                pid,
                start: 1,
                parent,
                session: 0,
                group: 0,
                zombie: false,
                own_ns: 0,
                reaped_ns: 0,
            })
        }

        fn children(&self, pid: i32) -> Vec<i32> {
            self.asked.set(self.asked.get() + 1);
            let parents = self.parents.borrow();
            let of = parents.iter().filter(|(_, parent)| **parent == pid);
            of.map(|(child, _)| *child).collect()
        }

        fn clock_ns(&self, pid: i32) -> Option<u64> {
            self.entry(pid).map(|entry| entry.own_ns)
        }
    }

    #[test]
    fn a_tree_takes_the_births_and_is_walked_through_now_and_then() {
        let family = Family::default();
        let born = |pid, parent| family.parents.borrow_mut().insert(pid, parent);
        born(ROOT, 1);
        let mut births = Births::default();
        let mut tree = Sampled::<u32>::default();
        let mut look = |newest| {
            births.look(&family, newest);
            let before = family.asked.get();
            let walked = tree.look(&family, ROOT, 99, Some(&births));
            assert_eq!(walked, family.asked.get() > before);
            for node in &mut tree.nodes {
                node.kept += 1;
            }
            let nodes = tree.nodes.iter();
            let found: Vec<_> = nodes.map(|one| (one.entry.pid, one.kept)).collect();
            (walked, births.has_threads, found)
        };
        assert_eq!(look(Some(5)), (true, true, vec![(ROOT, 1)]));
        assert_eq!(look(Some(5)), (true, true, vec![(ROOT, 2)]));
        assert_eq!(look(Some(5)), (false, false, vec![(ROOT, 3)]));
        // A child, its child, a child of another process, and one that is left out; then one that had its id before.
        for (pid, parent) in [(6, ROOT), (7, 6), (9, 1), (99, ROOT)] {
            born(pid, parent);
        }
        let all = |kept| vec![(ROOT, kept), (6, kept - 3), (7, kept - 3)];
        assert_eq!(look(Some(99)), (false, true, all(4)));
        born(8, 7);
        let mut with_late = all(5);
        with_late.push((8, 1));
        assert_eq!(look(Some(99)), (false, true, with_late));
        family.parents.borrow_mut().remove(&8);
        assert!(!look(Some(99)).0);
        let walks = (0..LOOKS_OF_A_WALK).filter(|_| look(Some(99)).0).count();
        assert_eq!(walks, 1, "births are not believed for ever");
        assert_eq!(look(Some(99)).2.len(), 3);
        for jump in [Some(5_000), Some(5), None] {
            assert!(look(jump).0, "unknown births");
        }
    }

    #[test]
    fn each_new_process_has_a_newer_pid() {
        let before = newest();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let after = newest();
        let found = children(std::process::id() as i32).contains(&(child.id() as i32));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found && before != after, "{before:?} {after:?}");
    }
}
