//! A measuring window: the resource usage of processes between two moments, or while the window runs. A paused window measures nothing
//! until it is resumed. A window without peaks costs almost nothing between two requests: it takes no samples and resets no high-water
//! marks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::holding::Holding;
use super::host_time::HostTime;
use super::interference::{CpuUsage, Interference, Sample};
use super::kept::Kept;
use super::part::{Before, DROPPED_MOST, Part, Parts, used_since};
use super::peak::Peaks;
use super::rest::AtRest;
use super::target::{ProcessUsage, Target, generators};
use super::tree::Births;
use super::usage::{Source, percent, rounded};
use super::whole::{Moment, Whole, WholeCpu};
use crate::failure::{Failure, Kind, Result};
use crate::limits::ledger::Ledger;
use crate::limits::watch::{Shown, Watch};
use crate::process::role::Role;

/// The results of a window, or its results so far. Field names contain their units.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Usage {
    pub id: String,
    pub closed: bool,
    pub duration_s: f64,
    pub host: HostUsage,
    pub processes: Vec<ProcessUsage>,
    /// All processes of role system.
    pub total: TotalUsage,
    /// Dropped parts, which the other fields exclude, and the parts that replaced them.
    pub repeated: Vec<Part>,
    pub limits: Shown,
    /// CPU time of the system from the first start to the end of the quiet period; absent without a quiet period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeCpu>,
    /// The processes of the system in the quiet period, if the caller asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Vec<AtRest>>,
    /// Holdings of the system before the load and after it, if the caller asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Kept>,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct HostUsage {
    /// Null if unknown. This also holds for the next two fields.
    pub cpus: Option<usize>,
    /// Percent of all cores, 0 to 100.
    pub busy_percent: Option<f64>,
    /// Sum over all cores.
    pub busy_s: Option<f64>,
    /// The use of each CPU, including time in which the window was only watched. Empty if the window does not record it.
    pub by_cpu: Vec<CpuUsage>,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct TotalUsage {
    pub cpu_s: f64,
    pub cpu_percent: f64,
    /// The sum of the processes' peaks.
    pub peak_rss_bytes: u64,
    pub peak_anon_bytes: u64,
    /// The sum of the processes' peaks; null if one is unknown.
    pub peak_open_files: Option<u64>,
}

pub struct Window {
    id: String,
    opened: Instant,
    /// The start of the present stretch; `None` while the window is paused.
    running: Option<(Instant, Option<HostTime>)>,
    /// The number of callers that resumed the window and have not paused it. The window runs until the last of them pauses it.
    resumed: usize,
    /// The number of callers that watch the use of each CPU, also while the window is paused.
    watched: usize,
    /// Duration of earlier stretches.
    elapsed: Duration,
    /// `None` once a reading of the host failed.
    host: Option<HostTime>,
    targets: Vec<Target>,
    peaks: bool,
    kinds: Peaks,
    interference: Option<Interference>,
    parts: Parts,
    whole: Whole,
    limits: Watch,
    /// Holdings of the system when the window opened; empty for a window without peaks.
    before: Vec<Holding>,
    closed: Option<Usage>,
}

impl Window {
    /// A paused window. [`Window::resume`] begins it. Without peaks, peak memory is the highest reading.
    pub fn new(id: String, targets: Vec<Target>, peaks: bool, ledger: Arc<Ledger>) -> Self {
        let system = targets.iter().filter(|target| target.is_system());
        let living = system.filter_map(Target::living).map(|(_, pid)| pid);
        let limits = Watch::new(generators(&targets), living.collect(), ledger);
        Self {
            id,
            opened: Instant::now(),
            running: None,
            resumed: 0,
            watched: 0,
            elapsed: Duration::ZERO,
            host: Some(HostTime::default()),
            targets,
            peaks,
            kinds: Peaks::default(),
            interference: None,
            parts: Parts::default(),
            whole: Whole::default(),
            limits,
            before: Vec::new(),
            closed: None,
        }
    }

    /// Also records the use of each CPU, at each sample. Must be called before the window is resumed.
    pub fn watch_cpus(&mut self) {
        self.interference = Some(Interference::new(&self.generators()));
    }

    pub fn generators(&self) -> Vec<i32> {
        generators(&self.targets)
    }

    /// Takes no program of the other side of a comparison for a neighbour, if both sides run at once.
    pub fn runs_beside(&mut self, generators: &[i32]) {
        if let Some(interference) = &mut self.interference {
            interference.also(generators);
        }
    }

    /// The use of each CPU over time; empty if the window does not record it.
    pub fn samples(&self) -> Vec<Sample> {
        self.interference
            .as_ref()
            .map(Interference::samples)
            .unwrap_or_default()
    }

    /// Begins a stretch. A stretch that runs continues until each resume has had its pause.
    pub fn resume(&mut self) {
        self.resumed += 1;
        if self.running.is_some() || !self.is_open() {
            return;
        }
        for target in &mut self.targets {
            target.begin(self.peaks);
        }
        if let Some(interference) = self.interference.as_mut().filter(|_| self.watched == 0) {
            interference.begin();
        }
        self.limits.begin();
        self.whole.goes_on(self.seen());
        self.running = Some((Instant::now(), HostTime::now()));
    }

    /// The system's processes by their last readings, which were all taken just now.
    fn seen(&self) -> Moment {
        let system = self.targets.iter().filter(|target| target.is_system());
        Moment {
            at: Instant::now(),
            cpu_s: system.map(|target| target.since_start_s).sum(),
        }
    }

    /// The system's processes by new readings, which record no peak.
    fn moment(&mut self) -> Moment {
        let system = self.targets.iter_mut().filter(|target| target.is_system());
        system.for_each(Target::look_at_cpu);
        self.seen()
    }

    /// Ends a stretch if no other caller needs it. The next stretch adds to it.
    pub fn pause(&mut self) {
        self.resumed = self.resumed.saturating_sub(1);
        if self.resumed > 0 || !self.is_open() {
            return;
        }
        let Some((since, host)) = self.running.take() else {
            return;
        };
        self.elapsed += since.elapsed();
        self.limits.pause();
        self.host = HostTime::with_stretch(self.host, host, HostTime::now());
        if let Some(interference) = self.interference.as_mut().filter(|_| self.watched == 0) {
            interference.pause();
        }
        self.look_closely();
        self.targets.iter_mut().for_each(Target::forget);
    }

    fn look_closely(&mut self) {
        self.targets.iter_mut().for_each(Target::look_closely);
        if self.peaks {
            self.kinds.read(&mut self.targets, true);
        }
    }

    /// Records only the use of each CPU, until each caller that watches has stopped.
    pub fn watch(&mut self) {
        self.watched += 1;
        let begins = self.watched == 1 && self.running.is_none() && self.is_open();
        if let Some(interference) = self.interference.as_mut().filter(|_| begins) {
            interference.begin();
        }
    }

    pub fn unwatch(&mut self) {
        self.watched = self.watched.saturating_sub(1);
        let ends = self.watched == 0 && self.running.is_none() && self.is_open();
        if let Some(interference) = self.interference.as_mut().filter(|_| ends) {
            interference.pause();
        }
    }

    /// Begins a part. The part before it now counts.
    pub fn begin_part(&mut self, name: String) -> Result<()> {
        self.between_measurements()?;
        let before = Before {
            elapsed: self.elapsed,
            host: self.host,
            targets: self.targets.iter().map(Target::so_far).collect(),
            interference: self.interference.clone(),
            limits: self.limits.so_far(),
        };
        let last = self.part().ok();
        self.parts.begin(name, before, last);
        let now = self.moment();
        self.whole.begin_part(now);
        Ok(())
    }

    /// The last part, up to now.
    pub fn part(&self) -> Result<Part> {
        let Some((name, before)) = self.parts.current() else {
            let mend = "POST /windows/ID/part begins one";
            return Err(self.conflict("has no part that was begun", mend));
        };
        let by_cpu = |of: &Option<Interference>| of.as_ref().map(Interference::usage);
        let now = by_cpu(&self.interference).unwrap_or_default();
        let then = by_cpu(&before.interference).unwrap_or_default();
        Ok(Part {
            name: name.to_owned(),
            duration_s: rounded((self.elapsed - before.elapsed).as_secs_f64()),
            by_cpu: used_since(&now, &then),
            dropped: false,
        })
    }

    /// Discards the measurements since the part began, and records that it existed.
    pub fn drop_part(&mut self) -> Result<Part> {
        self.between_measurements()?;
        let part = Part {
            dropped: true,
            ..self.part()?
        };
        if self.parts.is_full() {
            let many = format!("has {DROPPED_MOST} dropped parts, which is the limit");
            return Err(self.conflict(&many, "open another window"));
        }
        if let Some(before) = self.parts.drop_current(part.clone()) {
            self.elapsed = before.elapsed;
            self.host = before.host;
            self.interference = before.interference;
            self.limits.return_to(before.limits);
            let targets = self.targets.iter_mut().zip(before.targets);
            targets.for_each(|(target, before)| target.return_to(before));
            self.whole.drop_part();
        }
        Ok(part)
    }

    fn between_measurements(&self) -> Result<()> {
        match (&self.closed, self.looks()) {
            (Some(_), _) => Err(self.conflict("is closed", "open another one")),
            (None, true) => Err(self.conflict(
                "runs",
                "begin and drop parts between two probes, of a window that was opened paused",
            )),
            (None, false) => Ok(()),
        }
    }

    fn conflict(&self, what: &str, mend: &str) -> Failure {
        let what = format!("window {} {what}", self.id);
        Failure::new(Kind::Conflict, what, mend)
    }

    /// The name of the last part; `None` if there is no part, or if the window is closed.
    pub fn part_name(&self) -> Option<&str> {
        let (name, _) = self.parts.current().filter(|_| self.is_open())?;
        Some(name)
    }

    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    pub fn runs(&self) -> bool {
        self.is_open() && self.running.is_some()
    }

    /// Whether the window must take samples: it runs, or a caller watches.
    pub fn looks(&self) -> bool {
        self.is_open() && (self.running.is_some() || self.watched > 0)
    }

    #[cfg(test)]
    pub fn seen_cpu_s(&self) -> f64 {
        self.targets.iter().map(|target| target.cpu_s).sum()
    }

    /// The living measured processes but this one, by name, with their pids.
    pub fn living(&self) -> Vec<(String, Role, i32)> {
        self.targets.iter().filter_map(Target::root).collect()
    }

    pub fn has_peaks(&self) -> bool {
        self.peaks
    }

    /// Reads all if the window runs. The window closes if all measured processes but this one have ended.
    pub fn look(&mut self) {
        self.look_at_each(Target::look, None);
    }

    /// A look that reads each figure at its own rate ([`super::known`]).
    pub fn sample(&mut self, births: &Births) {
        self.look_at_each(|target| target.sample(births), Some(births));
        if self.runs() {
            self.kinds.read(&mut self.targets, false);
        }
    }

    /// `look` says whether a process but this one lives. Asking whether all have ended costs more.
    fn look_at_each(&mut self, mut look: impl FnMut(&mut Target) -> bool, births: Option<&Births>) {
        if !self.is_open() {
            return;
        }
        let mut lives = false;
        if self.runs() {
            for target in &mut self.targets {
                lives |= look(target);
            }
        }
        if let Some(interference) = &mut self.interference {
            interference.look(births);
        }
        if !lives && self.gone() {
            self.close();
        }
    }

    fn gone(&self) -> bool {
        let mut others = self
            .targets
            .iter()
            .filter(|target| !matches!(target.source, Source::Own))
            .peekable();
        others.peek().is_some() && others.all(|target| target.source.gone())
    }

    /// The results up to now, or up to the window's close. A window without samples closes here if all processes have ended.
    pub fn show(&mut self) -> Usage {
        if self.is_open() && !self.peaks && self.gone() {
            return self.close();
        }
        self.usage()
    }

    fn usage(&mut self) -> Usage {
        if let Some(closed) = &self.closed {
            return closed.clone();
        }
        let (mut elapsed, mut host) = (self.elapsed, self.host);
        if let Some((since, host_then)) = self.running {
            self.look_closely();
            elapsed += since.elapsed();
            host = HostTime::with_stretch(host, host_then, HostTime::now());
        }
        if let Some(interference) = &mut self.interference {
            interference.look(None);
        }
        let duration_s = elapsed.as_secs_f64();
        let processes: Vec<_> = self
            .targets
            .iter()
            .map(|target| target.usage(duration_s, self.opened))
            .collect();
        let system = || {
            processes
                .iter()
                .filter(|process| process.role == Role::System)
        };
        let cpu_s: f64 = system().map(|process| process.cpu_s).sum();
        let total = TotalUsage {
            cpu_s: rounded(cpu_s),
            cpu_percent: percent(cpu_s, duration_s),
            peak_rss_bytes: system().map(|process| process.peak_rss_bytes).sum(),
            peak_anon_bytes: system().map(|process| process.peak_anon_bytes).sum(),
            peak_open_files: system().map(|process| process.peak_open_files).sum(),
        };
        let host = HostUsage {
            cpus: crate::host::cpus(),
            busy_percent: host.and_then(HostTime::busy_percent),
            busy_s: host.map(HostTime::busy_s),
            by_cpu: self
                .interference
                .as_ref()
                .map(Interference::usage)
                .unwrap_or_default(),
        };
        Usage {
            id: self.id.clone(),
            closed: false,
            duration_s,
            host,
            processes,
            total,
            repeated: self.parts.with(self.part().ok()),
            limits: self.limits.shown(),
            whole: None,
            at_rest: None,
            held: None,
        }
    }

    /// Closes the window. A second call changes nothing.
    pub fn close(&mut self) -> Usage {
        let usage = Usage {
            closed: true,
            ..self.usage()
        };
        self.targets.iter_mut().for_each(Target::forget);
        if let Some(interference) = &mut self.interference {
            interference.forget();
        }
        self.closed = Some(usage.clone());
        usage
    }

    /// Begins the quiet period. Returns the living processes of the system. Returns `None` if there was no load, if the system has ended,
    /// or if the period has begun before.
    pub fn begin_quiet(&mut self) -> Result<Option<Vec<(String, i32)>>> {
        if self.is_open() {
            let mend = "close it first: a quiet period comes after the load";
            return Err(self.conflict("is open", mend));
        }
        let system = self.targets.iter().filter(|target| target.is_system());
        let living: Vec<_> = system.filter_map(Target::living).collect();
        if living.is_empty() {
            return Ok(None);
        }
        let now = self.moment();
        Ok(self.whole.begin_quiet(now).then_some(living))
    }

    /// `quiet` is the requested length.
    pub fn end_quiet(&mut self, quiet: Duration) {
        let now = self.moment();
        let whole = self.whole.end_quiet(now, quiet);
        if let Some(closed) = &mut self.closed {
            closed.whole = whole;
        }
    }

    pub fn note_before(&mut self, before: Vec<Holding>) {
        self.before = before;
    }

    pub fn before(&self) -> Vec<Holding> {
        self.before.clone()
    }

    pub fn note_kept(&mut self, kept: Kept) {
        if let Some(closed) = &mut self.closed {
            closed.held = Some(kept);
        }
    }

    pub fn note_rest(&mut self, at_rest: Vec<AtRest>) {
        if let Some(closed) = &mut self.closed {
            closed.at_rest = Some(at_rest);
        }
    }
}
