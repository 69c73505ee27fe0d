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

/// A process at one moment. CPU times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub pid: i32,
    /// Clock ticks from boot. Together with `pid`, it identifies a process for ever.
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

/// The origin of processes: the kernel, or a test.
pub trait Source {
    /// One process; `None` if it does not exist.
    fn entry(&self, pid: i32) -> Option<Entry>;
    /// The pids of the children of all threads of a process.
    fn children(&self, pid: i32) -> Vec<i32>;
    /// Own CPU time alone; `None` once the parent has waited for the process.
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

/// All descendants, without the process `left_out` and its descendants. Each process is read before its children, so that no child counts
/// both alone and through its parent.
pub fn descendants_without(source: &impl Source, root: i32, left_out: i32) -> Vec<Entry> {
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

/// Looks at a tree until it is walked through again in any case: one in ten seconds.
const LOOKS_OF_A_WALK: u32 = 100;

/// A tree that is looked at often. A walk reads the children of each thread. While the kernel has given no new pid since the last look, no
/// process has joined the tree, and none has waited for a child outside of it. Then only CPU clocks are read. After a new pid, only processes
/// that have used CPU time are read: no other one can have a new child.
#[derive(Debug, Clone, Default)]
pub struct Sampled {
    entries: Vec<Entry>,
    newest: Option<u64>,
    /// The kernel gave a new pid before the last look. That process may not have been its parent's child yet.
    is_fresh: bool,
    looks_left: u32,
}

impl Sampled {
    /// Reads the root and its descendants without `left_out`. The caller has read `newest` just before. Returns whether it walked.
    pub fn look(
        &mut self,
        source: &impl Source,
        root: i32,
        left_out: i32,
        newest: Option<u64>,
    ) -> bool {
        let before = std::mem::replace(&mut self.newest, newest);
        let was_fresh = std::mem::replace(&mut self.is_fresh, newest != before);
        let known = newest.is_some() && self.looks_left > 0 && !self.entries.is_empty();
        if known
            && match self.is_fresh || was_fresh {
                true => self.read_changed(source, left_out),
                false => self.read_clocks(source),
            }
        {
            self.looks_left -= 1;
            return false;
        }
        self.looks_left = LOOKS_OF_A_WALK - 1;
        // The root is read first: a child that it waits for during the walk is then missed, and not counted twice.
        self.entries = source.entry(root).into_iter().collect();
        self.entries
            .extend(descendants_without(source, root, left_out));
        true
    }

    /// False if a process has ended, or is unknown.
    fn read_clocks(&mut self, source: &impl Source) -> bool {
        let read = |entry: &mut Entry| {
            let now = source.clock_ns(entry.pid);
            entry.own_ns = entry.own_ns.max(now.unwrap_or(0));
            now.is_some()
        };
        self.entries.iter_mut().all(read)
    }

    /// Also finds new processes. False if a process has ended.
    fn read_changed(&mut self, source: &impl Source, left_out: i32) -> bool {
        let mut children = Vec::new();
        for entry in &mut self.entries {
            match source.clock_ns(entry.pid) {
                None => return false,
                Some(now) if now == entry.own_ns => continue,
                Some(_) => {}
            }
            let now = source.entry(entry.pid);
            let Some(now) = now.filter(|now| now.start == entry.start) else {
                return false;
            };
            *entry = now;
            children.extend(source.children(entry.pid));
        }
        let is_new =
            |pid: &i32| *pid != left_out && self.entries.iter().all(|known| known.pid != *pid);
        children.retain(is_new);
        for pid in children {
            self.entries.extend(source.entry(pid));
            self.entries
                .extend(descendants_without(source, pid, left_out));
        }
        true
    }

    /// Makes the next look a walk.
    pub fn forget(&mut self) {
        self.looks_left = 0;
    }

    /// The root, if it lives, and its descendants.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::process::{Command, Stdio};

    use super::*;

    /// A root with children that a test adds and ends. It counts the questions for them.
    #[derive(Default)]
    struct Family {
        children: RefCell<Vec<i32>>,
        used_ns: Cell<u64>,
        asked: Cell<u32>,
    }

    const ROOT: i32 = 3_999_990;

    impl Source for Family {
        fn entry(&self, pid: i32) -> Option<Entry> {
            let own_ns = self.clock_ns(pid)?;
            Some(Entry {
                pid,
                start: 1,
                parent: 0,
                session: 0,
                group: 0,
                zombie: false,
                own_ns,
                reaped_ns: 0,
            })
        }

        fn children(&self, pid: i32) -> Vec<i32> {
            if pid != ROOT {
                return Vec::new();
            }
            self.asked.set(self.asked.get() + 1);
            self.children.borrow().clone()
        }

        fn clock_ns(&self, pid: i32) -> Option<u64> {
            let lives = pid == ROOT || self.children.borrow().contains(&pid);
            lives.then(|| self.used_ns.get())
        }
    }

    #[test]
    fn a_tree_is_walked_through_if_a_process_went_and_now_and_then() {
        let family = Family::default();
        let mut tree = Sampled::default();
        let mut look = |newest| {
            let walked = tree.look(&family, ROOT, 0, newest);
            let found: Vec<_> = tree.entries().iter().map(|one| one.pid).collect();
            let used: u64 = tree.entries().iter().map(|one| one.own_ns).sum();
            (walked, found, used)
        };
        assert_eq!(look(Some(5)), (true, vec![ROOT], 0));
        family.used_ns.set(7);
        assert_eq!(look(Some(5)), (false, vec![ROOT], 7));
        assert_eq!(family.asked.get(), 2, "a child may come a little later");
        family.used_ns.set(8);
        assert_eq!(look(Some(5)), (false, vec![ROOT], 8));
        assert_eq!(family.asked.get(), 2);
        family.children.borrow_mut().push(6);
        family.used_ns.set(9);
        assert_eq!(look(Some(6)), (false, vec![ROOT, 6], 18));
        assert_eq!(look(Some(7)), (false, vec![ROOT, 6], 18));
        assert_eq!(family.asked.get(), 3, "none can have a new child");
        family.children.borrow_mut().clear();
        assert_eq!(look(Some(7)), (true, vec![ROOT], 9));
        assert!((0..LOOKS_OF_A_WALK - 1).all(|_| !look(Some(7)).0));
        assert!(look(Some(7)).0, "an old number is not believed for ever");
        assert!(look(None).0 && look(None).0, "an unknown one never is");
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
