//! CPU time and memory of a process and its descendants, read from the kernel.
//!
//! CPU time of living processes is exact: it comes from the process's CPU clock, in nanoseconds. CPU time survives exits, because a parent
//! that waits for a child takes over the child's time. The kernel reports that time in steps of 10 ms, so the sum over all living processes
//! loses only the part below a step. (The kernel drops the time of children whose parent ignores SIGCHLD.)

use std::sync::Arc;

use procfs::process::Process;

use super::known::Known;
use super::protocol::Exit;
use super::reading::{Measured, Reading, Size, reading_of};
use super::supervised::Supervised;
use super::tree::{self, Births, Entry};
use crate::failure::Failure;

/// The most readings of a tree whose processes change meanwhile.
const LOOKS_AGAIN: usize = 4;

/// The measured processes: a supervised process, or an external one, with its descendants.
#[derive(Clone)]
pub enum Source {
    Supervised(Arc<Supervised>),
    Pid {
        pid: i32,
        start: u64,
    },
    /// This process, without its descendants.
    Own,
}

impl Source {
    /// A process of our own user, by its pid. `field` has the pid.
    pub fn pid(field: &str, pid: i32) -> Result<Self, Failure> {
        let owner = Process::new(pid).and_then(|process| process.uid()).ok();
        if pid <= 1 || owner.is_some_and(|owner| owner != nix::unistd::getuid().as_raw()) {
            return Err(Failure::forbidden(
                format!("{field}: process {pid} belongs to another user"),
                "give the pid of one of your own",
            ));
        }
        match tree::entry(pid).filter(|entry| owner.is_some() && !entry.zombie) {
            Some(Entry { start, .. }) => Ok(Source::Pid { pid, start }),
            None => Err(Failure::invalid(
                format!("{field}: there is no process {pid}"),
                "give the pid of one that runs",
            )),
        }
    }

    /// `None` if the source has ended. Its last reading then stays valid.
    pub fn read(&self) -> Option<Reading> {
        match self {
            Source::Supervised(supervised) => read_supervised(supervised, || {
                Some(read_tree(&tree::Kernel, supervised.guard_pid, None))
            }),
            Source::Pid { pid, start } => {
                tree::same(*pid, *start)?;
                Some(read_tree(&tree::Kernel, *pid, Some(*start)))
            }
            Source::Own => read_own(),
        }
    }

    /// Like [`Source::read`], for readings that follow each other ([`super::known`]). `Some(None)` if the last reading still holds.
    pub fn sample(&self, known: &mut Known, births: &Births) -> Option<Option<Reading>> {
        let mut read = |root, start| known.read(Measured { root, start }, births);
        match self {
            Source::Supervised(supervised) => {
                read_supervised(supervised, || read(supervised.guard_pid, None))
            }
            Source::Pid { pid, start } => read(*pid, Some(*start)),
            Source::Own => known.read_own(births),
        }
    }

    /// Whether all processes of the source have ended, so that its usage no longer changes.
    pub fn gone(&self) -> bool {
        match self {
            Source::Supervised(supervised) => supervised.finished(),
            Source::Pid { pid, start } => tree::same(*pid, *start).is_none(),
            Source::Own => false,
        }
    }

    /// The pid of the process whose descendants count too.
    pub fn root(&self) -> i32 {
        match self {
            Source::Supervised(supervised) => supervised.pid,
            Source::Pid { pid, .. } => *pid,
            Source::Own => std::process::id() as i32,
        }
    }

    /// When the source ended; `None` while it lives, and for external processes.
    pub fn ended(&self) -> Option<std::time::Instant> {
        match self {
            Source::Supervised(supervised) => supervised.ended(),
            Source::Pid { .. } | Source::Own => None,
        }
    }

    /// How the source ended, in words; `None` while it lives.
    pub fn ending(&self) -> Option<String> {
        match self {
            Source::Supervised(supervised) => supervised.ending(),
            _ => self.exit().map(|exit| exit.to_string()),
        }
    }

    /// How the source ended; `None` while it lives.
    pub fn exit(&self) -> Option<Exit> {
        match self {
            Source::Supervised(supervised) => supervised.exit(),
            Source::Pid { pid, start } => match tree::same(*pid, *start) {
                Some(entry) if !entry.zombie => None,
                _ => Some(Exit::Unknown),
            },
            Source::Own => None,
        }
    }
}

fn read_supervised<T: From<Reading>>(
    supervised: &Supervised,
    read: impl FnOnce() -> Option<T>,
) -> Option<T> {
    let ended = |cpu_s| {
        T::from(Reading {
            cpu_s,
            ..Reading::default()
        })
    };
    if let Some(cpu_s) = supervised.final_cpu_s() {
        return Some(ended(cpu_s));
    }
    if supervised.finished() {
        return None;
    }
    let reading = read();
    // The guard may have ended during the reading.
    supervised.final_cpu_s().map(ended).or(reading)
}

/// Reads this process: its threads are the probes and their far ends, its children are measured separately.
fn read_own() -> Option<Reading> {
    let entry = tree::entry(std::process::id() as i32)?;
    let size = Size::of(entry.pid).map(|size| (entry, size));
    Some(reading_of(entry.own_ns, size.into_iter()))
}

/// Reads a tree until two readings find the same processes, or until the limit of readings.
///
/// A reading counts each process at most once, so it is never too high. A process that its parent waits for during a reading is missing
/// from it. So the highest reading is the best.
fn read_tree(source: &impl tree::Source, root: i32, start: Option<u64>) -> Reading {
    let measured = Measured { root, start };
    let (mut last, mut most_ns) = measured.walk(source);
    for _ in 0..LOOKS_AGAIN {
        let (all, cpu_ns) = measured.walk(source);
        most_ns = most_ns.max(cpu_ns);
        let same = all.iter().map(Entry::id).eq(last.iter().map(Entry::id));
        last = all;
        if same {
            break;
        }
    }
    let living = last.into_iter().filter(|entry| !entry.zombie);
    reading_of(
        most_ns,
        living.filter_map(|entry| Some((entry, Size::of(entry.pid)?))),
    )
}

/// Resets the high-water mark of a process's memory to what it has now.
pub fn reset_high_water(pid: i32) -> bool {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok()
}

/// CPU time as percent of one core.
pub fn percent(cpu_s: f64, duration_s: f64) -> f64 {
    if duration_s > 0.0 {
        (cpu_s / duration_s * 1e4).round() / 100.0
    } else {
        0.0
    }
}

/// Seconds, rounded to microseconds.
pub fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::process::python::Python;

    const ROOT: i32 = 3_999_990;
    const MIDDLE: i32 = 3_999_991;
    const LEAF: i32 = 3_999_992;

    /// A tree in which time passes with each question. The middle process waits for the leaf, and the root waits for the middle process,
    /// each at its own moment. The total CPU time is 111 ns.
    struct Passing {
        now: Cell<u64>,
        leaf_ends: u64,
        middle_ends: u64,
    }

    impl tree::Source for Passing {
        fn entry(&self, pid: i32) -> Option<Entry> {
            let now = self.now.replace(self.now.get() + 1);
            let (ends, own_ns, reaped_ns) = match pid {
                ROOT if now >= self.middle_ends => (u64::MAX, 1, 110),
                ROOT => (u64::MAX, 1, 0),
                MIDDLE if now >= self.leaf_ends => (self.middle_ends, 10, 100),
                MIDDLE => (self.middle_ends, 10, 0),
                _ => (self.leaf_ends, 100, 0),
            };
            (now < ends).then_some(Entry {
                pid,
                start: 1,
                parent: 0,
                session: 0,
                group: 0,
                zombie: false,
                own_ns,
                reaped_ns,
            })
        }

        fn children(&self, pid: i32) -> Vec<i32> {
            let now = self.now.replace(self.now.get() + 1);
            match pid {
                ROOT if now < self.middle_ends => vec![MIDDLE],
                MIDDLE if now < self.leaf_ends => vec![LEAF],
                _ => Vec::new(),
            }
        }

        fn clock_ns(&self, pid: i32) -> Option<u64> {
            self.entry(pid).map(|entry| entry.own_ns)
        }
    }

    #[test]
    fn a_child_that_is_waited_for_during_a_look_counts_once() {
        for leaf_ends in 0..30 {
            for middle_ends in leaf_ends..30 {
                let passing = || Passing {
                    now: Cell::new(0),
                    leaf_ends,
                    middle_ends,
                };
                // A guard's own time does not count, but its children's time does.
                for (start, all) in [(Some(1), 111.0), (None, 110.0)] {
                    let (_, one_ns) = Measured { root: ROOT, start }.walk(&passing());
                    assert!(
                        one_ns as f64 <= all,
                        "{leaf_ends} {middle_ends}: one walk says {one_ns}"
                    );
                    let cpu_ns = (read_tree(&passing(), ROOT, start).cpu_s * 1e9).round();
                    assert_eq!(cpu_ns, all, "{leaf_ends} {middle_ends}");
                }
            }
        }
    }

    #[test]
    fn cpu_time_of_what_lives_is_finer_than_a_tick() {
        let me = std::process::id() as i32;
        let own_ns = || tree::entry(me).unwrap().own_ns;
        let step_ns = || {
            let before = own_ns();
            let mut between = 0;
            while between == 0 {
                std::hint::black_box((0..1_000).sum::<u64>());
                between = own_ns() - before;
            }
            between
        };
        // Other tests of this process use CPU meanwhile.
        let least = (0..20).map(|_| step_ns()).min().unwrap();
        assert!(least < 10_000_000, "{least} ns is a whole tick");
    }

    /// A testbed that has ended was such a child.
    #[test]
    fn a_sample_of_this_process_has_no_time_of_children_that_ended() {
        let spin = "import time\nwhile time.process_time() < 0.5: pass";
        let mut child = std::process::Command::new("python3");
        assert!(child.args(["-c", spin]).status().unwrap().success());
        let sampled = Source::Own.sample(&mut Known::default(), &Births::default());
        let sampled = sampled.unwrap().unwrap().cpu_s;
        let read = Source::Own.read().unwrap().cpu_s;
        assert!(sampled <= read, "{sampled} s sampled, {read} s after that");
    }

    #[test]
    fn percent_is_of_one_core() {
        assert_eq!(percent(3.0, 2.0), 150.0);
        assert_eq!(percent(3.0, 0.0), 0.0);
    }

    /// Takes memory and gives it back, keeps shared memory, files and a thread, and starts a child that takes memory, each when it is asked.
    const GROWING: &str = "
import mmap, subprocess, sys, threading, time
for size in sys.stdin:
    if size.strip() == 'child':
        child = subprocess.Popen([sys.executable, '-c', 'import sys; x = bytearray(48 << 20); print(1, flush=True); sys.stdin.read()'],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()
    elif size.strip() == 'keep':
        shared = mmap.mmap(-1, 32 << 20)
        shared.write(bytes(32 << 20))
        files = [open('/dev/null') for _ in range(30)]
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    else:
        memory = bytearray(int(size) << 20)
        del memory
    print('done', flush=True)
";

    #[test]
    fn samples_find_peaks_and_children_as_full_readings_do() {
        let mut python = Python::start(GROWING);
        let source = Source::pid("child", python.pid()).unwrap_or_else(|error| panic!("{error}"));
        let (mut known, mut births) = (Known::default(), Births::default());
        let mut last = None;
        let mut try_sample = || {
            births.look(&tree::Kernel, tree::newest());
            let reading = source.sample(&mut known, &births)?;
            last = reading.or(last.take());
            last.clone()
        };
        let mut sample = || try_sample().unwrap();
        let mark = |reading: &Reading| reading.members.iter().map(|one| one.high_water_bytes).max();
        python.ask("1");
        let before = sample();
        python.ask("96");
        // The memory is gone, and the mark and the CPU time have their turn.
        let grown = (0..10).map(|_| sample()).last().unwrap();
        assert!(grown.cpu_s > before.cpu_s);
        assert!(mark(&grown) > mark(&before).map(|mark| mark + (90 << 20)));
        python.ask("keep");
        let kept = sample();
        assert_eq!(kept.open_files, grown.open_files.map(|files| files + 30));
        assert_eq!(kept.threads, grown.threads + 1);
        assert!(sample().anon_bytes > grown.anon_bytes + (30 << 20));
        python.ask("child");
        let both = sample();
        assert_eq!((before.members.len(), both.members.len()), (1, 2));
        assert!(both.anon_bytes > before.anon_bytes + (40 << 20));
        // A child that has just begun still takes memory, so the sample must lie between two equal readings.
        let sizes = |one: &Reading| (one.threads, one.open_files, one.rss_bytes, one.anon_bytes);
        let (full, last) = loop {
            let (full, last) = (source.read().unwrap(), sample());
            if sizes(&source.read().unwrap()) == sizes(&full) {
                break (full, last);
            }
        };
        assert_eq!(sizes(&last), sizes(&full));
        drop(python);
        assert!(try_sample().is_none());
    }
}
