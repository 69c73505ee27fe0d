//! One object that a window measures: the processes of a source, their CPU time and their memory.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde::Serialize;

use super::descriptors::{Descriptors, Kinds};
use super::known::Known;
use super::part::TargetBefore;
use super::reading::Reading;
use super::scheduling::{Counts, Scheduling};
use super::tree::Births;
use super::usage::{Source, percent, reset_high_water, rounded};
use crate::process::role::Role;

fn counts(reading: &Reading) -> Counts {
    Counts::of(
        reading
            .members
            .iter()
            .map(|member| (member.pid, member.start)),
    )
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct ProcessUsage {
    pub name: String,
    pub role: Role,
    pub cpu_s: f64,
    /// Percent of one core: 200 means two busy cores.
    pub cpu_percent: f64,
    pub peak_rss_bytes: u64,
    /// Peak of the process's own memory: resident memory without file pages (RssFile of proc_pid_status(5)). The kernel's page cache
    /// decides how many file pages are mapped.
    pub peak_anon_bytes: u64,
    /// The most open descriptors of all readings, one each 100 ms and one at each pause; null if unknown.
    pub peak_open_files: Option<u64>,
    /// Their kinds, close to that moment ([`super::peak`]); absent for other roles than system, and if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_descriptors: Option<Descriptors>,
    /// The most threads of all these readings.
    pub peak_threads: u64,
    /// While the window ran; absent for a window without peaks, which must cost nothing, and for a process that ended while it ran: the
    /// kernel keeps no counts of it.
    #[serde(flatten)]
    pub scheduling: Option<Scheduling>,
    /// Resident memory at the last reading.
    pub rss_bytes: u64,
    pub exit: Option<String>,
    /// Time from the opening of the window to the process's end; null while the process lives, and if unknown.
    pub exit_after_s: Option<f64>,
}

/// Pids of the measured processes that the sidecar did not start.
pub fn generators(targets: &[Target]) -> Vec<i32> {
    let pid = |target: &Target| match target.source {
        Source::Pid { pid, .. } => Some(pid),
        _ => None,
    };
    targets.iter().filter_map(pid).collect()
}

pub struct Target {
    name: String,
    role: Role,
    pub source: Source,
    /// Findings of this stretch's samples.
    known: Known,
    /// CPU time of earlier stretches, before a pause.
    cpu_before_s: f64,
    cpu_at_open_s: f64,
    /// CPU time of the present stretch.
    pub cpu_s: f64,
    /// CPU time since the source started, by the last reading.
    pub since_start_s: f64,
    peak_rss_bytes: u64,
    peak_anon_bytes: u64,
    peak_open_files: Option<u64>,
    /// The processes of the last reading, and their open descriptors; 0 if unknown.
    last: (Vec<i32>, u64),
    kinds: Kinds,
    peak_threads: u64,
    /// Whether context switches and page faults are read.
    closely: bool,
    /// Sum of earlier stretches; `None` if unknown.
    scheduling_before: Option<Scheduling>,
    scheduling_at_open: Counts,
    /// Use in the present stretch, by the last close reading; `None` if unknown.
    scheduling: Option<Scheduling>,
    rss_bytes: u64,
    /// Processes whose high-water mark may be from before the window, because it could not be reset.
    unmarked: HashSet<(i32, u64)>,
    /// The most file pages of each process since its mark was reset, bytes. The mark may include that many.
    files: HashMap<(i32, u64), u64>,
}

impl Target {
    pub fn new(name: String, role: Role, source: Source) -> Self {
        Self {
            name,
            role,
            source,
            known: Known::default(),
            cpu_before_s: 0.0,
            cpu_at_open_s: 0.0,
            cpu_s: 0.0,
            since_start_s: 0.0,
            peak_rss_bytes: 0,
            peak_anon_bytes: 0,
            peak_open_files: None,
            last: (Vec::new(), 0),
            kinds: Kinds::default(),
            peak_threads: 0,
            closely: false,
            scheduling_before: Some(Scheduling::default()),
            scheduling_at_open: Counts::default(),
            scheduling: Some(Scheduling::default()),
            rss_bytes: 0,
            unmarked: HashSet::new(),
            files: HashMap::new(),
        }
    }

    /// Begins a stretch. For peaks, it resets the high-water marks, so that earlier peaks do not count.
    pub fn begin(&mut self, peaks: bool) {
        let members = self.source.read().unwrap_or_default().members;
        self.unmarked = members
            .iter()
            .filter(|member| !peaks || !reset_high_water(member.pid))
            .map(|member| (member.pid, member.start))
            .collect();
        self.files.clear();
        // It has the old marks.
        self.forget();
        self.cpu_before_s += self.cpu_s;
        self.cpu_s = 0.0;
        // An ended source has no new usage: all of it is counted already.
        let first = self.source.read().unwrap_or_default();
        self.cpu_at_open_s = first.cpu_s;
        self.take(&first);
        self.scheduling_before = self.scheduling_so_far();
        self.scheduling = Some(Scheduling::default());
        self.closely = peaks;
        if peaks {
            self.scheduling_at_open = counts(&first);
        }
    }

    /// Also reads context switches and page faults, of each thread, unless the window has no peaks. A sample of a running window leaves
    /// them out: they only rise.
    pub fn look_closely(&mut self) {
        let reading = self.source.read();
        if let Some(reading) = &reading {
            self.take(reading);
        }
        if !self.closely {
            return;
        }
        let now = reading.as_ref().map(counts).unwrap_or_default();
        let root = self.source.root();
        let ended = self.scheduling_at_open.has(root) && !now.has(root);
        self.scheduling = (!ended).then(|| now.since(&self.scheduling_at_open));
    }

    /// Closes the files that samples keep open.
    pub fn forget(&mut self) {
        self.known = Known::default();
    }

    /// Whether a process but this one lives.
    pub fn look(&mut self) -> bool {
        let reading = self.source.read();
        self.takes(reading.map(Some))
    }

    /// Like a look, but cheaper ([`Source::sample`]).
    pub fn sample(&mut self, births: &Births) -> bool {
        let reading = self.source.sample(&mut self.known, births);
        self.takes(reading)
    }

    fn takes(&mut self, reading: Option<Option<Reading>>) -> bool {
        let Some(reading) = reading else {
            return false;
        };
        if let Some(reading) = reading {
            self.take(&reading);
        }
        let (pids, _) = &self.last;
        !pids.is_empty() && !matches!(self.source, Source::Own)
    }

    fn take(&mut self, reading: &Reading) {
        self.since_start_s = self.since_start_s.max(reading.cpu_s);
        self.cpu_s = self.cpu_s.max(reading.cpu_s - self.cpu_at_open_s);
        self.rss_bytes = reading.rss_bytes;
        self.peak_rss_bytes = self.peak_rss_bytes.max(reading.rss_bytes);
        self.peak_anon_bytes = self.peak_anon_bytes.max(reading.anon_bytes);
        self.peak_open_files = self.peak_open_files.max(reading.open_files);
        let (pids, open) = &mut self.last;
        *open = reading.open_files.unwrap_or(0);
        pids.clear();
        pids.extend(reading.members.iter().map(|member| member.pid));
        self.peak_threads = self.peak_threads.max(reading.threads);
        for member in &reading.members {
            let id = (member.pid, member.start);
            let files = self.files.entry(id).or_default();
            *files = member.file_bytes.max(*files);
            if self.unmarked.contains(&id) {
                continue;
            }
            let mark = member.high_water_bytes;
            self.peak_rss_bytes = self.peak_rss_bytes.max(mark);
            self.peak_anon_bytes = self.peak_anon_bytes.max(mark.saturating_sub(*files));
        }
    }

    /// Reads CPU time, whether or not the window runs. It records no peak.
    pub fn look_at_cpu(&mut self) {
        if let Some(reading) = self.source.read() {
            self.since_start_s = self.since_start_s.max(reading.cpu_s);
        }
    }

    /// The processes if the kinds of their descriptors are worth a reading ([`Kinds::is_new`]).
    pub fn new_kinds(&self, closely: bool) -> Option<&[i32]> {
        let (pids, open) = &self.last;
        (self.is_system() && self.kinds.is_new(*open, closely)).then_some(pids.as_slice())
    }

    pub fn note_kinds(&mut self, found: Option<Descriptors>) {
        let (_, open) = self.last;
        self.kinds.note(open, found);
        let all = self.kinds.found.as_ref().map(|found| found.all);
        self.peak_open_files = self.peak_open_files.max(all);
    }

    pub fn is_system(&self) -> bool {
        self.role == Role::System
    }

    /// The name and pid, for sampling while idle; `None` if the process has ended, or is this process.
    pub fn living(&self) -> Option<(String, i32)> {
        let is_own = matches!(self.source, Source::Own);
        (!is_own && !self.source.gone()).then(|| (self.name.clone(), self.source.root()))
    }

    /// The same with the role.
    pub fn root(&self) -> Option<(String, Role, i32)> {
        self.living().map(|(name, pid)| (name, self.role, pid))
    }

    fn scheduling_so_far(&self) -> Option<Scheduling> {
        let mut sum = self.scheduling_before?;
        sum += self.scheduling?;
        Some(sum)
    }

    pub fn so_far(&self) -> TargetBefore {
        TargetBefore {
            cpu_s: self.cpu_before_s + self.cpu_s,
            peak_rss_bytes: self.peak_rss_bytes,
            peak_anon_bytes: self.peak_anon_bytes,
            peak_open_files: self.peak_open_files,
            kinds: self.kinds.clone(),
            peak_threads: self.peak_threads,
            scheduling: self.scheduling_so_far(),
        }
    }

    /// Returns to an earlier state, to which the next stretch adds.
    pub fn return_to(&mut self, before: TargetBefore) {
        self.cpu_before_s = before.cpu_s;
        self.cpu_s = 0.0;
        self.peak_rss_bytes = before.peak_rss_bytes;
        self.peak_anon_bytes = before.peak_anon_bytes;
        self.peak_open_files = before.peak_open_files;
        self.kinds = before.kinds;
        self.peak_threads = before.peak_threads;
        self.scheduling_before = before.scheduling;
        self.scheduling = Some(Scheduling::default());
    }

    pub fn usage(&self, duration_s: f64, opened: Instant) -> ProcessUsage {
        let after = |ended: Instant| ended.saturating_duration_since(opened).as_secs_f64();
        ProcessUsage {
            name: self.name.clone(),
            role: self.role,
            cpu_s: rounded(self.cpu_before_s + self.cpu_s),
            cpu_percent: percent(self.cpu_before_s + self.cpu_s, duration_s),
            peak_rss_bytes: self.peak_rss_bytes,
            peak_anon_bytes: self.peak_anon_bytes,
            peak_open_files: self.peak_open_files,
            peak_descriptors: self.kinds.found.clone(),
            peak_threads: self.peak_threads,
            scheduling: self.scheduling_so_far().filter(|_| self.closely),
            rss_bytes: self.rss_bytes,
            exit: self.source.ending(),
            exit_after_s: self.source.ended().map(after),
        }
    }
}
