//! A busy machine decides no test. This module measures the load of others, repeats timed tests, and
//! lengthens waits.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use procfs::{CurrentSI, KernelStats};

/// Tests in Go, Rust and JavaScript share these limits: tests/support/others.js, timely.js and patience.js describe them.
#[derive(serde::Deserialize)]
pub struct Limits {
    /// Percent of all CPUs over a whole test.
    busy_percent: f64,
    /// Percent of all CPUs in `burst_s`.
    burst_percent: f64,
    burst_s: f64,
    sample_ms: u64,
    pub tries: usize,
    /// The last try begins at most this time after the first one.
    last_begins_s: u64,
    /// Time that the computation of `slowness` takes on an idle machine of 2024.
    usual_ms: f64,
    pub most_slowness: f64,
}

pub static LIMITS: LazyLock<Limits> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../tests/support/busy.json")).unwrap()
});

/// The share of all CPUs that others took: over the whole time, and in one second of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    pub percent: f64,
    pub most: f64,
    pub busy: bool,
}

impl std::fmt::Display for Busy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "the machine was busy ({:.0} % used by others, at most {:.0} %)",
            self.percent, self.most
        )
    }
}

/// Stretches of a second or more, and the CPU time that others took in each. Only the last one may be shorter.
pub fn judged(parts: &[(f64, f64)], cpus: usize) -> Busy {
    let percent_of = |some: &[(f64, f64)]| {
        let seconds: f64 = some.iter().map(|part| part.0).sum();
        let others: f64 = some.iter().map(|part| part.1.max(0.0)).sum();
        100.0 * others / (cpus as f64 * seconds).max(f64::MIN_POSITIVE)
    };
    let percent = percent_of(parts);
    let most = parts
        .iter()
        .filter(|part| part.0 >= LIMITS.burst_s)
        .map(|part| percent_of(&[*part]))
        .fold(percent, f64::max);
    Busy {
        percent,
        most,
        busy: percent >= LIMITS.busy_percent || most >= LIMITS.burst_percent,
    }
}

const KTHREADD: i32 = 2;

/// CPU time of a process, ticks.
#[derive(Clone, Copy)]
struct Times {
    parent: i32,
    ticks: u64,
    /// Ticks of all children that the process has waited for.
    reaped: u64,
    /// The parent waits for the process, and so counts its ticks.
    waited: bool,
}

/// A pid and the start of its process: pids are used again.
type Key = (i32, u64);

/// All processes, zombies too, since no process has waited for a zombie.
fn processes() -> HashMap<Key, Times> {
    procfs::process::all_processes()
        .unwrap()
        .flatten()
        .filter_map(|process| process.stat().ok())
        .map(|stat| {
            let times = Times {
                parent: stat.ppid,
                ticks: stat.utime + stat.stime,
                reaped: (stat.cutime + stat.cstime) as u64,
                waited: false,
            };
            ((stat.pid, stat.starttime), times)
        })
        .collect()
}

/// The ticks of a tree of processes, whose members stay in it when they lose their parent.
struct Own {
    root: i32,
    seen: HashMap<Key, Times>,
    /// Ticks of members that ended, and that no member has waited for.
    lost: u64,
}

impl Own {
    /// Counts all until now. Kernel threads work for any program, and so count too.
    fn ticks(&mut self) -> u64 {
        let all = processes();
        let mut pids = HashSet::from([self.root]);
        for (key, times) in &self.seen {
            if all.contains_key(key) {
                pids.insert(key.0);
            } else if !times.waited {
                self.lost += times.ticks + times.reaped;
            }
        }
        let mut before = 0;
        while before != pids.len() {
            before = pids.len();
            for (key, times) in &all {
                if pids.contains(&times.parent) {
                    pids.insert(key.0);
                }
            }
        }
        self.seen.clear();
        let mut sum = self.lost;
        for (key, mut times) in all {
            if pids.contains(&key.0) {
                times.waited = pids.contains(&times.parent) || key.0 == self.root;
                sum += times.ticks + times.reaped;
                self.seen.insert(key, times);
            } else if times.parent == KTHREADD || key.0 == KTHREADD {
                sum += times.ticks;
            }
        }
        sum
    }
}

/// Ticks that processes and the hypervisor took of all CPUs. A test's own traffic causes interrupts: they are left out.
fn taken() -> u64 {
    let time = KernelStats::current().unwrap().total;
    time.user + time.nice + time.system + time.steal.unwrap_or(0)
}

struct Look {
    at: Instant,
    taken: u64,
    own: u64,
}

impl Look {
    fn now(own: &mut Own) -> Self {
        Self {
            at: Instant::now(),
            taken: taken(),
            own: own.ticks(),
        }
    }

    /// Seconds until `now`, and what others took in them.
    fn part(&self, now: &Self) -> (f64, f64) {
        let others = (now.taken as f64 - self.taken as f64) - (now.own as f64 - self.own as f64);
        (
            (now.at - self.at).as_secs_f64(),
            others / procfs::ticks_per_second() as f64,
        )
    }
}

/// Watches others until its end.
pub struct Watch {
    over: Sender<()>,
    watcher: JoinHandle<Busy>,
}

impl Watch {
    /// The process of this test and all that it has started do not count as others.
    pub fn others() -> Self {
        Self::of(std::process::id() as i32)
    }

    /// `root` and all that it has started do not count as others.
    pub fn of(root: i32) -> Self {
        let (over, ended) = channel();
        let mut own = Own {
            root,
            seen: HashMap::new(),
            lost: 0,
        };
        let mut last = Look::now(&mut own);
        let watcher = std::thread::spawn(move || {
            let mut parts = Vec::new();
            loop {
                let wait = ended.recv_timeout(Duration::from_millis(LIMITS.sample_ms));
                let now = Look::now(&mut own);
                let part = last.part(&now);
                let is_over = wait != Err(RecvTimeoutError::Timeout);
                if part.0 >= LIMITS.burst_s || is_over {
                    parts.push(part);
                    last = now;
                }
                if is_over {
                    return judged(&parts, cpus());
                }
            }
        });
        Self { over, watcher }
    }

    pub fn end(self) -> Busy {
        drop(self.over);
        self.watcher.join().unwrap()
    }
}

/// All CPUs of this machine: affinity narrows `available_parallelism`.
pub fn cpus() -> usize {
    KernelStats::current().unwrap().cpu_time.len()
}

struct Late(String);

/// Asserts a time, a rate, or an order that a time decides, in a test that is `undisturbed`.
pub fn timely(holds: bool, what: impl Into<String>) {
    if !holds {
        resume_unwind(Box::new(Late(what.into())));
    }
}

/// Runs a test's body, again if a time in it does not hold. The tests of one program run side by side and disturb each other, but a
/// fault is in each try. The test fails if the machine was quiet in any try. It is skipped if others were busy in each.
pub fn undisturbed(body: impl Fn()) {
    if let Some(why) = tried(body, Watch::others, Watch::end) {
        // Not `eprintln`, which the test program keeps for itself.
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        let _ = writeln!(std::io::stderr(), "skipped: {why} ({test})");
    }
}

/// The reason to skip the test, if it is skipped.
pub fn tried<W>(body: impl Fn(), begin: impl Fn() -> W, end: impl Fn(W) -> Busy) -> Option<String> {
    let began = Instant::now();
    let mut tries = Vec::new();
    loop {
        let watch = begin();
        let caught = catch_unwind(AssertUnwindSafe(&body));
        tries.push(end(watch));
        let late = match caught {
            Ok(()) => return None,
            Err(cause) => match cause.downcast::<Late>() {
                Ok(late) => late.0,
                Err(other) => resume_unwind(other),
            },
        };
        let last = tries[tries.len() - 1];
        if tries.len() < LIMITS.tries && began.elapsed().as_secs() < LIMITS.last_begins_s {
            continue;
        }
        assert!(tries.iter().all(|one| one.busy), "not in time: {late}");
        return Some(format!("{last}: {late}"));
    }
}

/// A program that is not optimized takes the usual time for them.
const STEPS: u32 = 1_000_000;

/// Time of a fixed computation, divided by its usual time, waits for a CPU included. At least 1.
pub fn slowness() -> f64 {
    let began = Instant::now();
    let (mut state, mut step) = (1_u32, 0);
    while step < STEPS {
        state = std::hint::black_box(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        step += 1;
    }
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    (took / LIMITS.usual_ms).clamp(1.0, LIMITS.most_slowness)
}

/// The last measurement, a thousandfold; 0 before the first one.
static FACTOR: AtomicU64 = AtomicU64::new(0);
static MEASURES: Mutex<()> = Mutex::new(());

fn measure() -> f64 {
    // Measurements at the same time would slow each other down.
    let _alone = MEASURES.lock();
    let slow = slowness();
    FACTOR.store((slow * 1_000.0) as u64, Ordering::Relaxed);
    slow
}

fn last() -> f64 {
    match FACTOR.load(Ordering::Relaxed) {
        0 => measure(),
        thousandfold => thousandfold as f64 / 1_000.0,
    }
}

/// A wait, which grows where the machine is slow.
pub struct Patience<M = fn() -> f64> {
    began: Instant,
    limit: Duration,
    slow: f64,
    measure: M,
}

impl Patience {
    pub fn of(limit: Duration) -> Self {
        Self::measured(limit, last(), measure)
    }
}

impl<M: Fn() -> f64> Patience<M> {
    pub fn measured(limit: Duration, slow: f64, measure: M) -> Self {
        Self {
            began: Instant::now(),
            limit,
            slow,
            measure,
        }
    }

    /// Whether to go on waiting.
    pub fn waits(&mut self) -> bool {
        self.waits_after(self.began.elapsed())
    }

    /// Whether to go on after this time.
    pub fn waits_after(&mut self, waited: Duration) -> bool {
        if waited < self.limit.mul_f64(self.slow) {
            return true;
        }
        self.slow = self.slow.max((self.measure)());
        waited < self.limit.mul_f64(self.slow)
    }
}

/// A limit that takes only a number, as long as the machine is slow.
pub fn patient(limit: Duration) -> Duration {
    limit.mul_f64(measure())
}

/// The longest timeout that probes take.
const LONGEST_TIMEOUT_MS: f64 = 60_000.0;

/// A probe's timeout.
pub fn patient_ms(ms: u64) -> u64 {
    (ms as f64 * measure()).min(LONGEST_TIMEOUT_MS) as u64
}
