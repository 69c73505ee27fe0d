//! Memory and threads of one process, read from `/proc/PID/status` or, for less, its memory from `/proc/PID/statm`.

use std::fs::File;

use super::files;

/// The most bytes of a status, unless the user is in hundreds of groups, and then.
const STATUS_MOST: usize = 4 << 10;
const LONG_STATUS_MOST: usize = 64 << 10;

/// Memory of a process, bytes, and its threads (proc_pid_status(5)).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Memory {
    pub rss: u64,
    /// Peak since the mark was last reset.
    pub high_water: u64,
    /// File pages, mainly the program's own text. The kernel decides how many are mapped: if the page cache has a file in larger pieces, a
    /// fault maps more of it.
    pub files: u64,
    pub swapped: u64,
    pub threads: u64,
}

impl Memory {
    pub fn of(pid: i32) -> Option<Self> {
        Self::read(&File::open(format!("/proc/{pid}/status")).ok()?)
    }

    /// Reads a kept `/proc/PID/status`.
    pub fn read(status: &File) -> Option<Self> {
        let text = files::text::<STATUS_MOST>(status)?;
        match text.len() < STATUS_MOST {
            true => Self::in_status(&text),
            false => Self::in_status(&files::text::<LONG_STATUS_MOST>(status)?),
        }
    }

    /// `None` for a process that has no memory, such as a zombie.
    fn in_status(status: &str) -> Option<Self> {
        let number = |text: &str| text.split_ascii_whitespace().next()?.parse().ok();
        let mut memory = Self::default();
        let mut has_memory = false;
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            match name {
                "VmHWM" => memory.high_water = number(value)? * 1024,
                "VmRSS" => (memory.rss, has_memory) = (number(value)? * 1024, true),
                "RssFile" => memory.files = number(value)? * 1024,
                "VmSwap" => memory.swapped = number(value)? * 1024,
                "Threads" => {
                    memory.threads = number(value)?;
                    break;
                }
                _ => {}
            }
        }
        has_memory.then_some(memory)
    }

    /// Resident memory without file pages.
    pub fn anon(&self) -> u64 {
        self.rss.saturating_sub(self.files)
    }

    /// The process's own memory, wherever it is: swapped memory may come back at any time.
    pub fn own(&self) -> u64 {
        self.anon() + self.swapped
    }
}

/// Resident memory, bytes (proc_pid_statm(5)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resident {
    pub all: u64,
    /// File pages and shared memory together.
    pub files_and_shared: u64,
}

impl Resident {
    /// Reads a kept `/proc/PID/statm`; `None` for a process that has no memory, such as a zombie.
    pub fn of(statm: &File) -> Option<Self> {
        let line = files::text::<128>(statm)?;
        let mut pages = line.split_ascii_whitespace().skip(1);
        let mut bytes = || Some(pages.next()?.parse::<u64>().ok()? * procfs::page_size());
        let resident = Self {
            all: bytes()?,
            files_and_shared: bytes()?,
        };
        (resident.all > 0).then_some(resident)
    }
}

#[cfg(test)]
mod tests {
    use procfs::process::Process;

    use super::*;

    #[test]
    fn memory_is_that_of_the_kernel_s_own_reader() {
        let me = std::process::id() as i32;
        let found = Memory::of(me).unwrap();
        let status = Process::new(me).unwrap().status().unwrap();
        let kib = |value: Option<u64>| value.unwrap() * 1024;
        // Other tests of this process use memory meanwhile.
        let near = |one: u64, other: u64| one.abs_diff(other) < 64 << 20;
        assert!(near(found.high_water, kib(status.vmhwm)), "{found:?}");
        assert!(near(found.rss, kib(status.vmrss)), "{found:?}");
        assert!(near(found.files, kib(status.rssfile)), "{found:?}");
        assert!(found.threads.abs_diff(status.threads) < 64 && found.rss > 0);
        let statm = File::open("/proc/self/statm").unwrap();
        assert!(near(Resident::of(&statm).unwrap().all, found.rss));
        let swaps = "VmHWM:\t9 kB\nVmRSS:\t7 kB\nRssFile:\t3 kB\nVmSwap:\t5 kB\nThreads:\t1\n";
        let swaps = Memory::in_status(swaps).unwrap();
        assert_eq!((swaps.anon(), swaps.own()), (4 << 10, 9 << 10));
        let zombie = "Name:\tVmRSS: 7\nState:\tZ (zombie)\nThreads:\t1\n";
        assert_eq!(Memory::in_status(zombie), None);
    }
}
