//! All windows, and the thread that samples the open ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::holding::{self, Holding};
use super::interference::Sample;
use super::kept::Kept;
use super::part::Part;
use super::rest::Watch;
use super::scheduling::Counts;
use super::target::Target;
use super::tree::{self, Births};
use super::usage::Source;
use super::window::{Usage, Window};
use crate::failure::{Failure, Kind, Result};
use crate::limits::ledger::Ledger;
use crate::lock::{lock, wait};
use crate::process::role::Role;

/// Time between two samples of an open window. Between samples, the kernel's high-water mark keeps the peak of a living process.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);
/// The most windows that are open at once. Each one costs CPU time of the measured machine.
pub const MAX_OPEN: usize = 16;
/// The most closed windows that are kept; the oldest are dropped first.
const KEPT: usize = 1_000;

/// How a window measures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// The window begins paused.
    pub paused: bool,
    /// Whether to measure peak memory, for which the window takes samples continuously.
    pub peaks: bool,
    /// Whether to record the use of each CPU, at each sample.
    pub by_cpu: bool,
}

impl Manner {
    pub const PEAKS: Self = Self {
        paused: false,
        peaks: true,
        by_cpu: false,
    };
    pub const PAUSED: Self = Self {
        paused: true,
        ..Self::PEAKS
    };
}

/// How long to wait after a load, and for what.
#[derive(Debug, Clone, Copy)]
pub struct Calm {
    pub quiet: Duration,
    pub rest: Duration,
    pub settle: Duration,
    /// Whether the system must close its files too ([`Kept::settle`]).
    pub closes_all: bool,
}

#[derive(Default)]
pub struct Windows {
    all: Mutex<Numbered>,
    opened: Condvar,
    /// Limits of the systems under test.
    ledger: Arc<Ledger>,
}

#[derive(Default)]
struct Numbered {
    last: u64,
    windows: BTreeMap<u64, Window>,
    births: Births,
}

impl Numbered {
    fn is_open(&self, number: u64) -> bool {
        self.windows.get(&number).is_some_and(Window::is_open)
    }

    /// Resuming resets the high-water marks, so the other windows read them first.
    fn resume(&mut self, number: u64) {
        self.windows.values_mut().for_each(Window::look);
        if let Some(window) = self.windows.get_mut(&number) {
            window.resume();
        }
    }
}

fn number(id: &str) -> Option<u64> {
    id.strip_prefix('w')?.parse().ok()
}

impl Windows {
    /// Also starts the sampling thread.
    pub fn new(ledger: Arc<Ledger>) -> Arc<Self> {
        let windows = Arc::new(Self {
            ledger,
            ..Self::default()
        });
        let sampler = Arc::downgrade(&windows);
        std::thread::spawn(move || {
            while let Some(windows) = sampler.upgrade() {
                windows.sample();
                drop(windows);
                std::thread::sleep(SAMPLE_EVERY);
            }
        });
        windows
    }

    fn sample(&self) {
        let sampled = |window: &Window| window.looks() && window.has_peaks();
        let idle = |all: &mut Numbered| !all.windows.values().any(sampled);
        let mut all = wait(&self.opened, lock(&self.all), Duration::from_secs(1), idle);
        let Numbered {
            windows, births, ..
        } = &mut *all;
        births.look(&tree::Kernel, tree::newest());
        let windows = windows.values_mut().filter(|window| window.has_peaks());
        windows.for_each(|window| window.sample(births));
    }

    /// Opens a window, paused or running, and returns its id. It is a conflict if [`MAX_OPEN`] windows are open.
    pub fn open(&self, sources: Vec<(String, Role, Source)>, manner: Manner) -> Result<String> {
        let targets: Vec<_> = sources
            .into_iter()
            .map(|(name, role, source)| Target::new(name, role, source))
            .collect();
        let before = if manner.peaks {
            let system = targets.iter().filter(|target| target.is_system());
            holding::read(system.filter_map(Target::root).collect())
        } else {
            Vec::new()
        };
        let mut all = lock(&self.all);
        let open = all.windows.values().filter(|window| window.is_open());
        if open.count() >= MAX_OPEN {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{MAX_OPEN} windows are open, which is the limit"),
                "close one with POST /windows/ID/close",
            ));
        }
        all.last += 1;
        let number = all.last;
        let id = format!("w{number}");
        let ledger = Arc::clone(&self.ledger);
        let mut window = Window::new(id.clone(), targets, manner.peaks, ledger);
        window.note_before(before);
        if manner.by_cpu {
            window.watch_cpus();
            for other in all.windows.values_mut().filter(|other| other.is_open()) {
                window.runs_beside(&other.generators());
                other.runs_beside(&window.generators());
            }
        }
        all.windows.insert(number, window);
        if !manner.paused {
            all.resume(number);
        }
        if all.windows.len() > KEPT {
            let closed = all.windows.iter().find(|(_, window)| !window.is_open());
            if let Some(oldest) = closed.map(|(number, _)| *number) {
                all.windows.remove(&oldest);
            }
        }
        drop(all);
        self.opened.notify_all();
        Ok(id)
    }

    /// Resumes a paused window; false if no open window has this id.
    pub fn resume(&self, id: &str) -> bool {
        let mut all = lock(&self.all);
        let known = number(id).filter(|number| all.is_open(*number));
        if let Some(number) = known {
            all.resume(number);
        }
        drop(all);
        self.opened.notify_all();
        known.is_some()
    }

    /// Pauses a running window. An unknown id does nothing.
    pub fn pause(&self, id: &str) {
        let _ = self.with(id, Window::pause);
    }

    /// Records the use of each CPU even while the window is paused; false if no open window has this id.
    pub fn watch(&self, id: &str) -> bool {
        let mut all = lock(&self.all);
        let known = number(id).filter(|number| all.is_open(*number));
        let window = known.and_then(|number| all.windows.get_mut(&number));
        let watched = window.map(Window::watch).is_some();
        drop(all);
        self.opened.notify_all();
        watched
    }

    pub fn unwatch(&self, id: &str) {
        let _ = self.with(id, Window::unwatch);
    }

    pub fn is_open(&self, id: &str) -> bool {
        number(id).is_some_and(|number| lock(&self.all).is_open(number))
    }

    pub fn usage(&self, id: &str) -> Result<Usage> {
        self.with(id, Window::show)
    }

    /// The use of each CPU over time.
    pub fn samples(&self, id: &str) -> Result<Vec<Sample>> {
        self.with(id, |window| window.samples())
    }

    /// Memory, descriptors and threads of the living processes now, without this process.
    pub fn holding(&self, id: &str) -> Result<Vec<Holding>> {
        self.with(id, |window| window.living()).map(holding::read)
    }

    /// Counts of the scheduler until now, by name of the living processes, without this process.
    pub fn counts(&self, id: &str) -> Result<BTreeMap<String, Counts>> {
        let living = self.with(id, |window| window.living())?;
        let read = |(name, _, pid)| Some((name, holding::counts(pid)?));
        Ok(living.into_iter().filter_map(read).collect())
    }

    pub fn begin_part(&self, id: &str, name: String) -> Result<()> {
        self.with(id, |window| window.begin_part(name))?
    }

    /// The last part.
    pub fn part(&self, id: &str) -> Result<Part> {
        self.with(id, |window| window.part())?
    }

    /// Discards the measurements of the last part.
    pub fn drop_part(&self, id: &str) -> Result<Part> {
        self.with(id, Window::drop_part)?
    }

    pub fn close(&self, id: &str) -> Result<Usage> {
        self.with(id, Window::close)
    }

    /// Waits for a quiet period after the load of a closed window, if a process of the system lives. The answer has the CPU time of the
    /// system from the first start of the load on. Unless `rest` is zero, the idle processes are sampled meanwhile, for the longer of the
    /// two times. Unless `settle` is zero, the descriptors are then read, for at most so long after the load
    /// ([`Kept::settle`]). A second call changes nothing.
    pub fn quiet(&self, id: &str, calm: Calm) -> Result<Usage> {
        let Some(processes) = self.with(id, Window::begin_quiet)?? else {
            return self.usage(id);
        };
        let since = Instant::now();
        let watch = Watch::begin(processes.clone());
        std::thread::sleep(calm.quiet);
        self.with(id, |window| window.end_quiet(calm.quiet))?;
        if !calm.rest.is_zero() {
            std::thread::sleep(calm.rest.saturating_sub(calm.quiet));
            let at_rest = watch.end();
            self.with(id, |window| window.note_rest(at_rest))?;
        }
        let before = self.with(id, |window| window.before())?;
        if !calm.settle.is_zero() && !before.is_empty() {
            let kept = Kept::settle(&before, &processes, since, calm.settle, calm.closes_all);
            self.with(id, |window| window.note_kept(kept))?;
        }
        self.usage(id)
    }

    /// The names of the last parts of all open windows.
    pub fn parts_now(&self) -> Vec<String> {
        let all = lock(&self.all);
        let names = all.windows.values().filter_map(Window::part_name);
        names.map(str::to_owned).collect()
    }

    fn with<T>(&self, id: &str, what: impl FnOnce(&mut Window) -> T) -> Result<T> {
        let mut all = lock(&self.all);
        let window = number(id).and_then(|number| all.windows.get_mut(&number));
        window.map(what).ok_or_else(|| {
            Failure::not_found(
                format!("there is no window {id:?}"),
                "POST /windows opens one",
            )
        })
    }

    /// Samples all open windows now, because processes are about to end.
    pub fn look(&self) {
        lock(&self.all).windows.values_mut().for_each(Window::look);
    }
}

#[cfg(test)]
mod tests;
