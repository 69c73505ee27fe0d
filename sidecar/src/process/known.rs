//! Samples of a source that read only what can have changed since the last one.

use std::collections::HashMap;
use std::fs::File;

use super::files;
use super::memory::Resident;
use super::reading::{Look, Reading, Size, reading_of};
use super::tree::{self, Entry, Sampled, Source};

/// Samples of a process until its high-water mark is read again, if it is in use. A process above its last mark does not wait, and neither
/// does one with other file pages.
const SAMPLES_OF_A_MARK: u32 = 10;

/// Findings of a source's samples, so that the next one reads only what can have changed.
#[derive(Default)]
pub struct Known {
    tree: Sampled,
    own: Option<Entry>,
    /// By pid and start.
    processes: HashMap<(i32, u64), Process>,
}

impl Known {
    /// `None` once the root has ended.
    pub fn read(
        &mut self,
        source: &impl Source,
        root: i32,
        start: Option<u64>,
        newest: Option<u64>,
    ) -> Option<Reading> {
        let me = std::process::id() as i32;
        let walked = self.tree.look(source, root, me, newest);
        let look = Look::of(self.tree.entries(), root, start);
        let lives = |entry: &Entry| entry.pid == root && start == Some(entry.start);
        if start.is_some() && !look.entries.iter().any(lives) {
            return None;
        }
        let mut ended = false;
        let reading = reading_of(look.cpu_ns, &look.entries, |entry| {
            let size = self.size(entry);
            ended |= size.is_none();
            size
        });
        if ended {
            // The children of a process that has ended have another parent.
            self.tree.forget();
        }
        if walked {
            let lives =
                |id: &(i32, u64)| look.entries.iter().any(|one| (one.pid, one.start) == *id);
            self.processes.retain(|id, _| lives(id));
        }
        Some(reading)
    }

    /// Reads this process alone.
    pub fn read_own(&mut self) -> Option<Reading> {
        let me = std::process::id() as i32;
        let mut entry = self.own.or_else(|| tree::entry(me))?;
        entry.own_ns = tree::Kernel.clock_ns(me)?;
        self.own = Some(entry);
        Some(reading_of(entry.own_ns, &[entry], |entry| self.size(entry)))
    }

    fn size(&mut self, entry: &Entry) -> Option<Size> {
        let id = (entry.pid, entry.start);
        if let Some(known) = self.processes.get_mut(&id) {
            return known.size(entry);
        }
        let Some(new) = Process::new(entry) else {
            // This process may have no descriptors left.
            return Size::of(entry);
        };
        let size = new.size;
        self.processes.insert(id, new);
        Some(size)
    }
}

/// A process with files that stay open, because opening them costs more than reading them.
struct Process {
    memory: File,
    descriptors: Option<File>,
    threads: File,
    /// The last findings.
    size: Size,
    resident: Resident,
    /// CPU time when the mark was read.
    marked_at_ns: u64,
    samples_left: u32,
}

impl Process {
    fn new(entry: &Entry) -> Option<Self> {
        let path = |name: &str| format!("/proc/{}/{name}", entry.pid);
        let memory = File::open(path("statm")).ok()?;
        Some(Self {
            resident: Resident::of(&memory)?,
            memory,
            descriptors: files::keep(&path("fd")),
            threads: files::keep(&path("task"))?,
            size: Size::of(entry)?,
            marked_at_ns: entry.own_ns,
            // Not all processes have their turn in the same sample.
            samples_left: entry.pid as u32 % SAMPLES_OF_A_MARK,
        })
    }

    /// `None` once it has ended. A process that has used no CPU time has its last descriptors and threads, but the kernel can join its
    /// pages or swap them.
    fn size(&mut self, entry: &Entry) -> Option<Size> {
        let turn = self.samples_left == 0;
        self.samples_left = self
            .samples_left
            .checked_sub(1)
            .unwrap_or(SAMPLES_OF_A_MARK - 1);
        let unused = entry.own_ns == self.size.at_ns;
        if unused && !turn {
            return Some(self.size);
        }
        let now = Resident::of(&self.memory)?;
        let before = std::mem::replace(&mut self.resident, now);
        let is_same = now == before && entry.own_ns == self.marked_at_ns;
        let has_grown = now.all > self.size.memory.high_water;
        let has_other_files = now.files_and_shared != before.files_and_shared;
        if has_grown || has_other_files || (turn && !is_same) {
            self.size = Size::of(entry)?;
            self.marked_at_ns = entry.own_ns;
            return Some(self.size);
        }
        self.size.at_ns = entry.own_ns;
        self.size.memory.rss = now.all;
        if !unused {
            self.size.open_files = self.descriptors.as_ref().and_then(files::open_in);
            self.size.memory.threads = files::links(&self.threads)?.checked_sub(2)?;
        }
        Some(self.size)
    }
}
