//! Memory, descriptors by kind and threads of a process and its descendants at one moment. Also their use since their start: CPU time,
//! context switches and page faults.

use serde::Serialize;

use super::descriptors::{self, Descriptors};
use super::memory::Memory;
use super::role::Role;
use super::scheduling::{Counts, Scheduling};
use super::tree::{self, Entry};

/// A process with its descendants. Counts from the start of each process are of living processes alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Held {
    /// Own memory: resident memory without file pages, and swapped memory, bytes (RssAnon, RssShmem and VmSwap of proc_pid_status(5)).
    pub anon_bytes: u64,
    pub threads: u64,
    /// Null if unknown: only root may read the descriptors of a program with capabilities.
    pub descriptors: Option<Descriptors>,
    /// CPU time since the start, seconds.
    pub cpu_s: f64,
    #[serde(flatten)]
    pub scheduling: Scheduling,
}

/// A measured process by name.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Holding {
    pub name: String,
    pub role: Role,
    #[serde(flatten)]
    pub held: Held,
}

/// Reads processes with their descendants. Processes that have ended are left out.
pub fn read(roots: Vec<(String, Role, i32)>) -> Vec<Holding> {
    let (mut all, pids): (Vec<_>, Vec<_>) = roots
        .into_iter()
        .filter_map(|(name, role, root)| {
            let (held, pids) = held_by(root)?;
            Some((Holding { name, role, held }, pids))
        })
        .unzip();
    for (one, kinds) in all.iter_mut().zip(descriptors::kinds(&pids)) {
        one.held.descriptors = kinds;
    }
    all
}

/// Reads only the counts of the scheduler, which costs less.
pub fn counts(root: i32) -> Option<Counts> {
    Some(Counts::of(living(root)?.map(|entry| entry.id())))
}

/// A process and its descendants; `None` once the process has ended.
pub fn living(root: i32) -> Option<impl Iterator<Item = Entry>> {
    let entry = tree::entry(root).filter(|entry| !entry.zombie)?;
    let mut all = tree::descendants(root);
    all.push(entry);
    Some(all.into_iter().filter(|entry| !entry.zombie))
}

/// All but the descriptors of a process and its descendants, and their pids; `None` once the process has ended.
fn held_by(root: i32) -> Option<(Held, Vec<i32>)> {
    let all: Vec<_> = living(root)?.collect();
    let mut held = Held {
        scheduling: Counts::of(all.iter().map(Entry::id)).sum(),
        ..Held::default()
    };
    for entry in &all {
        held.add(entry);
    }
    Some((held, all.iter().map(|entry| entry.pid).collect()))
}

impl Held {
    fn add(&mut self, entry: &Entry) {
        // A process that has ended meanwhile holds nothing.
        let Some(memory) = Memory::of(entry.pid) else {
            return;
        };
        self.anon_bytes += memory.own();
        self.threads += memory.threads;
        self.cpu_s += (entry.own_ns + entry.reaped_ns) as f64 / 1e9;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::python::Python;

    /// A Python program is the independent instrument: it opens a known number of each kind.
    const HOLDER: &str = "
import os, socket, struct, threading, time
listener = socket.create_server(('127.0.0.1', 0), backlog=20)
ends = [(socket.create_connection(listener.getsockname()), listener.accept()[0]) for _ in range(7)]
for near, _ in ends[:3]: near.close()
datagrams = [socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(5)]
for one in datagrams[:3]: one.bind(('::1', 0))
reset = [(socket.create_connection(listener.getsockname()), listener.accept()[0]) for _ in range(4)]
for near, _ in reset:
    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    near.close()
local = socket.socketpair()
files = [open('/dev/null') for _ in range(11)]
for _ in range(4): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print(len(os.listdir('/proc/self/fd')) - 1, flush=True)
time.sleep(60)
";

    #[test]
    fn a_known_number_of_each_kind_is_found() {
        let mut python = Python::start(HOLDER);
        let line = python.line();
        let root = ("holder".to_owned(), Role::System, python.pid());
        let held = read(vec![root.clone()]);
        drop(python);
        let held = &held[0].held;
        let descriptors = held.descriptors.as_ref().unwrap();
        let tcp: Vec<_> = descriptors
            .tcp
            .iter()
            .map(|(state, count)| (state.as_str(), *count))
            .collect();
        let states = [
            ("close", 4),
            ("close_wait", 3),
            ("established", 8),
            ("listen", 1),
        ];
        assert_eq!(tcp, states);
        assert_eq!(descriptors.udp, 5);
        let all: u64 = line.parse().unwrap();
        assert_eq!(descriptors.all, all);
        // Standard output is a pipe. The program may inherit others, such as make's.
        assert!(descriptors.pipes >= 1);
        assert_eq!(descriptors.other, all - 16 - 5 - descriptors.pipes);
        // The other ends of the rest are in the same process.
        assert_eq!(descriptors.left, 3 + 4);
        assert_eq!(held.threads, 5);
        assert!(
            held.anon_bytes > 1 << 20 && held.cpu_s > 0.0 && held.scheduling.minor_faults > 100,
            "{held:?}"
        );
        assert!(held.scheduling.voluntary_switches > 0, "{held:?}");
        assert_eq!(read(vec![root]), []);
    }
}
