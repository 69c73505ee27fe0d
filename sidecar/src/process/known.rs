//! Samples of a source, ten times a second. Each figure has its own rate, by what the kernel keeps of it.
//!
//! - Open descriptors: at each sample. The kernel keeps no peak of them.
//! - Threads: at each sample before which the kernel gave a new id. Otherwise no thread has begun.
//! - New processes: at each sample ([`Births`]).
//! - Memory of several processes: at each sample, because their sum has no mark.
//! - Memory of one process: at each second sample. The kernel's high-water mark keeps its peak, but not how much of it are file pages.
//! - The mark: once a second if the process has used CPU time. A process above its last mark, or with other file pages, does not wait.
//! - CPU time: once a second, for a process that ends before the stretch does. The stretch's end reads all of it.
//!
//! Two figures of a process's last second may be missed: a short peak of memory, and its CPU time if the sidecar did not start it.

use std::fs::File;
use std::sync::LazyLock;

use super::files;
use super::memory::{Memory, Resident};
use super::reading::{Measured, Reading, Size, reading_of};
use super::tree::{self, Births, Entry, Node, Sampled, Source};

static OWN_PID: LazyLock<i32> = LazyLock::new(|| std::process::id() as i32);

/// Samples until the mark and the CPU time are read again. Not all processes have their turn in the same sample.
const SAMPLES_OF_A_TURN: u32 = 10;
/// Samples until the memory of a process without others is read again.
const SAMPLES_OF_MEMORY: u32 = 2;

/// The processes of a source, with findings of its samples.
#[derive(Default)]
pub struct Known(Sampled<Option<Process>>);

impl Known {
    /// `None` once the root has ended, and `Some(None)` if the last reading still holds.
    pub fn read(&mut self, measured: Measured, births: &Births) -> Option<Option<Reading>> {
        let Measured { root, start } = measured;
        let mut walked = self.0.look(&tree::Kernel, root, *OWN_PID, Some(births));
        let mut found = self.sizes(measured, births);
        if found.is_none() && !walked {
            // The children of a process that has ended have another parent.
            walked = self.0.look(&tree::Kernel, root, *OWN_PID, None);
            found = self.sizes(measured, births);
        }
        if found.is_none() {
            self.0.forget();
        }
        let is_root = |node: &Node<_>| node.entry.pid == root && measured.has(&node.entry);
        if start.is_some() && !self.0.nodes.iter().any(is_root) {
            return None;
        }
        let is_same = found == Some(false) && !walked;
        Some((!is_same).then(|| self.reading(measured)))
    }

    /// Reads this process alone.
    pub fn read_own(&mut self, births: &Births) -> Option<Option<Reading>> {
        let nodes = &mut self.0.nodes;
        if nodes.is_empty() {
            nodes.extend(tree::entry(*OWN_PID).map(Node::from));
        }
        let Entry { pid, start, .. } = nodes.first()?.entry;
        let measured = Measured {
            root: pid,
            start: Some(start),
        };
        let is_same = self.sizes(measured, births) == Some(false);
        // Children that have ended were measured separately.
        let own_ns = self.0.nodes.first()?.entry.own_ns;
        Some((!is_same).then(|| Reading {
            cpu_s: own_ns as f64 / 1e9,
            ..self.reading(measured)
        }))
    }

    /// Reads each process. Returns whether a figure has changed, and `None` if a process has ended.
    fn sizes(&mut self, measured: Measured, births: &Births) -> Option<bool> {
        let is_living = |node: &Node<_>| measured.has(&node.entry) && !node.entry.zombie;
        let nodes = &mut self.0.nodes;
        let is_alone = nodes.iter().filter(|node| is_living(node)).count() == 1;
        let mut all = Some(false);
        for node in nodes.iter_mut().filter(|node| is_living(node)) {
            let one = match &mut node.kept {
                Some(process) => process.look(&mut node.entry, is_alone, births),
                None => {
                    node.kept = Process::new(&node.entry, births);
                    node.kept.is_some().then_some(true)
                }
            };
            if one.is_none() {
                node.kept = None;
            }
            all = all.zip(one).map(|(all, one)| all | one);
        }
        all
    }

    fn reading(&self, measured: Measured) -> Reading {
        let nodes = &self.0.nodes;
        let living = nodes.iter().filter(|node| !node.entry.zombie);
        reading_of(
            measured.cpu_ns(nodes.iter().map(|node| &node.entry)),
            living.filter_map(|node| Some((node.entry, node.kept.as_ref()?.size))),
        )
    }
}

struct Process {
    /// `None` if this process has no descriptors left.
    files: Option<Files>,
    /// The last findings.
    size: Size,
    file_pages: u64,
    /// The newest id when the CPU time was read.
    newest: Option<u64>,
    samples: u32,
}

/// Files that stay open, because opening them costs more than reading them.
struct Files {
    descriptors: File,
    memory: File,
    status: File,
    threads: File,
}

impl Files {
    fn open(pid: i32) -> Option<Self> {
        let path = |name: &str| format!("/proc/{pid}/{name}");
        Some(Self {
            descriptors: files::keep(&path("fd"))?,
            memory: File::open(path("statm")).ok()?,
            status: File::open(path("status")).ok()?,
            threads: files::keep(&path("task"))?,
        })
    }
}

impl Process {
    fn new(entry: &Entry, births: &Births) -> Option<Self> {
        Some(Self {
            files: Files::open(entry.pid),
            size: Size::of(entry.pid)?,
            file_pages: 0,
            newest: births.newest(),
            samples: entry.pid as u32 % SAMPLES_OF_A_TURN,
        })
    }

    /// Returns whether a figure has changed, and `None` once the process has ended.
    fn look(&mut self, entry: &mut Entry, is_alone: bool, births: &Births) -> Option<bool> {
        let before = (self.size, *entry);
        self.samples = (self.samples + 1) % SAMPLES_OF_A_TURN;
        let Some(files) = &self.files else {
            self.size = Size::of(entry.pid)?;
            return Some(before.0 != self.size);
        };
        let Size { memory, open_files } = &mut self.size;
        *open_files = files::open_in(&files.descriptors);
        if births.has_threads {
            memory.threads = files::links(&files.threads)?.checked_sub(2)?;
        }
        let mut has_new_mark = false;
        // A process without descriptors may have ended.
        if !is_alone || open_files.is_none() || self.samples.is_multiple_of(SAMPLES_OF_MEMORY) {
            let now = Resident::of(&files.memory)?;
            let file_pages = std::mem::replace(&mut self.file_pages, now.files_and_shared);
            has_new_mark = now.all > memory.high_water || now.files_and_shared != file_pages;
            memory.rss = now.all;
        }
        if self.samples == 0 {
            let own_ns = tree::Kernel.clock_ns(entry.pid)?;
            let newest = std::mem::replace(&mut self.newest, births.newest());
            if own_ns != entry.own_ns {
                has_new_mark = true;
                // A process without a new child can only have waited for a known one, whose end made a walk.
                *entry = match newest == births.newest() {
                    true => Entry { own_ns, ..*entry },
                    false => tree::same(entry.pid, entry.start)?,
                };
            }
        }
        if has_new_mark {
            *memory = Memory::read(&files.status)?;
        }
        Some(before != (self.size, *entry))
    }
}
