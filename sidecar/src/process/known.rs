//! Samples of a source that read only what can have changed since the last one.

use std::collections::HashMap;

use super::files;
use super::memory::Memory;
use super::tree::{self, Entry, Sampled};
use super::usage::{Look, Reading, reading_of};

/// Findings of a source's samples, so that the next one reads only what can have changed.
#[derive(Default)]
pub struct Known {
    tree: Sampled,
    /// By pid and start. `at_ns` is the process's CPU time at the reading.
    sizes: HashMap<(i32, u64), Size>,
}

#[derive(Clone, Copy)]
pub struct Size {
    at_ns: u64,
    pub memory: Memory,
    pub open_files: Option<u64>,
}

impl Size {
    pub fn of(entry: &Entry) -> Option<Self> {
        Some(Self {
            at_ns: entry.own_ns,
            memory: Memory::of(entry.pid)?,
            open_files: files::open_of(entry.pid),
        })
    }
}

impl Known {
    /// `None` once the root has ended. A process that has used no CPU time has the memory, descriptors and threads of its last reading. A
    /// walk reads all again, since the kernel can join pages of an idle process.
    pub fn read(
        &mut self,
        source: &impl tree::Source,
        root: i32,
        start: Option<u64>,
        newest: Option<u64>,
    ) -> Option<Reading> {
        if self
            .tree
            .look(source, root, std::process::id() as i32, newest)
        {
            self.sizes.clear();
        }
        let look = Look::of(self.tree.entries(), root, start);
        let lives = |entry: &Entry| entry.pid == root && start == Some(entry.start);
        if start.is_some() && !look.entries.iter().any(lives) {
            return None;
        }
        let mut ended = false;
        let reading = reading_of(look.cpu_ns, &look.entries, |entry| {
            let id = (entry.pid, entry.start);
            let known = self.sizes.get(&id).copied();
            let size = known
                .filter(|size| size.at_ns == entry.own_ns)
                .or_else(|| Size::of(entry));
            ended |= size.is_none();
            if let Some(size) = size {
                self.sizes.insert(id, size);
            }
            size
        });
        if ended {
            // The children of a process that has ended have another parent.
            self.tree.forget();
        }
        Some(reading)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::process::usage::Source;

    /// Takes memory and gives it back, and starts a child that does, each when it is asked.
    const GROWING: &str = "
import subprocess, sys
for size in sys.stdin:
    if size.strip() == 'child':
        child = subprocess.Popen([sys.executable, '-c', 'import sys; x = bytearray(48 << 20); print(1, flush=True); sys.stdin.read()'],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()
    else:
        memory = bytearray(int(size) << 20)
        del memory
    print('done', flush=True)
";

    #[test]
    fn samples_find_peaks_and_children_as_full_readings_do() {
        let mut child = Command::new("python3")
            .args(["-c", GROWING])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let source = Source::pid(child.id() as i32).unwrap_or_else(|error| panic!("{error:?}"));
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut ask = |what: &str| {
            writeln!(input, "{what}").unwrap();
            lines.next().unwrap().unwrap()
        };
        let mut known = Known::default();
        let mut sample = || source.sample(&mut known, tree::newest()).unwrap();
        let mark = |reading: &Reading| reading.members.iter().map(|one| one.high_water_bytes).max();
        ask("1");
        let before = sample();
        ask("96");
        let grown = sample();
        assert!(mark(&grown) > mark(&before).map(|mark| mark + (90 << 20)));
        assert!(grown.cpu_s > before.cpu_s);
        ask("child");
        let both = sample();
        assert_eq!((before.members.len(), both.members.len()), (1, 2));
        assert!(both.anon_bytes > before.anon_bytes + (40 << 20));
        let full = source.read().unwrap();
        let last = sample();
        assert_eq!(
            (last.threads, last.open_files, last.rss_bytes),
            (full.threads, full.open_files, full.rss_bytes)
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(source.sample(&mut known, tree::newest()).is_none());
    }
}
