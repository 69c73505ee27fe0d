//! Samples of a source that read only what can have changed since the last one.

use std::collections::HashMap;

use super::reading::{Look, Reading, Size, reading_of};
use super::tree::{self, Entry, Sampled};

/// Findings of a source's samples, so that the next one reads only what can have changed.
#[derive(Default)]
pub struct Known {
    tree: Sampled,
    /// By pid and start.
    sizes: HashMap<(i32, u64), Size>,
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
