//! How a process was scheduled since its start: context switches and page faults.

use std::collections::HashMap;
use std::ops::AddAssign;

use procfs::ProcResult;
use procfs::process::Process;
use serde::Serialize;

use super::tree::Id;

/// Counts from the start of a process. Switches are of living threads alone, because the kernel keeps none of a thread that has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Scheduling {
    /// How often threads slept and were woken (voluntary_ctxt_switches, proc_pid_status(5)).
    pub voluntary_switches: u64,
    /// How often the scheduler took the CPU from a thread (nonvoluntary_ctxt_switches).
    pub involuntary_switches: u64,
    /// Page faults without a read from a disk (minflt, proc_pid_stat(5)).
    pub minor_faults: u64,
    /// Page faults with such a read (majflt).
    pub major_faults: u64,
}

impl Scheduling {
    /// The counts after `before`.
    fn since(self, before: Self) -> Self {
        Self {
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }
}

impl AddAssign for Scheduling {
    fn add_assign(&mut self, other: Self) {
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
    }
}

/// Counts of each living thread of processes, by its id and the start of its process. Page faults are of the process, and its first thread
/// has them. A thread that ends takes its counts with it, and no others.
#[derive(Debug, Default)]
pub struct Counts(HashMap<Id, Scheduling>);

impl Counts {
    /// Reads each thread of the processes; the cost is about 10 µs for each.
    pub fn of(processes: impl IntoIterator<Item = Id>) -> Self {
        let mut all = Self::default();
        for process in processes {
            // A process that has ended meanwhile has no counts.
            let _ = all.add(process);
        }
        all
    }

    fn add(&mut self, (pid, start): Id) -> ProcResult<()> {
        let process = Process::new(pid)?;
        let stat = process.stat()?;
        let faults = Scheduling {
            minor_faults: stat.minflt,
            major_faults: stat.majflt,
            ..Scheduling::default()
        };
        self.0.insert((pid, start), faults);
        for task in process.tasks()?.flatten() {
            let Ok(status) = task.status() else {
                continue;
            };
            let of_thread = self.0.entry((task.tid, start)).or_default();
            of_thread.voluntary_switches = status.voluntary_ctxt_switches.unwrap_or(0);
            of_thread.involuntary_switches = status.nonvoluntary_ctxt_switches.unwrap_or(0);
        }
        Ok(())
    }

    pub fn sum(&self) -> Scheduling {
        self.since(&Self::default())
    }

    /// Their sum after `before`. A new thread counts from its start.
    pub fn since(&self, before: &Self) -> Scheduling {
        let mut sum = Scheduling::default();
        for (id, now) in &self.0 {
            sum += now.since(before.0.get(id).copied().unwrap_or_default());
        }
        sum
    }

    pub fn has(&self, pid: i32) -> bool {
        self.0.keys().any(|(id, _)| *id == pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::python::Python;
    use crate::process::tree;

    /// Prints its own counts by getrusage(2), the independent instrument, and waits for its end.
    const COUNTER: &str = "
import resource, sys, time
for _ in range(200): time.sleep(0.001)
memory = bytearray(64 << 20)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, flush=True)
sys.stdin.read()
";

    #[test]
    fn switches_and_faults_are_those_of_getrusage() {
        let mut python = Python::start(COUNTER);
        let line = python.line();
        let found = Counts::of([(python.pid(), 0)]).sum();
        drop(python);
        let told: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        let [voluntary, involuntary, faults] = told[..] else {
            panic!("{line}")
        };
        // The print takes a few more of each.
        for (found, told) in [
            (found.voluntary_switches, voluntary),
            (found.involuntary_switches, involuntary),
            (found.minor_faults, faults),
        ] {
            assert!((told..=told + 20).contains(&found), "{found} and {told}");
        }
        assert!(voluntary >= 200 && faults > 1_000, "{line}");
    }

    /// A thread and a child have many switches, and end. The first thread prints its own ones meanwhile.
    const ENDING: &str = "
import resource, subprocess, sys, threading, time
MANY = 'import sys, time\\nfor _ in range(400): time.sleep(0.0005)\\nprint(1, flush=True)\\nsys.stdin.read()'
def many():
    for _ in range(400): time.sleep(0.0005)
    ready.set()
    over.wait()
ready, over = threading.Event(), threading.Event()
thread = threading.Thread(target=many)
thread.start()
child = subprocess.Popen([sys.executable, '-c', MANY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
ready.wait()
own = lambda: resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
print(flush=True)
before = own()
input()
over.set()
thread.join()
child.communicate()
for _ in range(100): time.sleep(0.0005)
print(own() - before, flush=True)
sys.stdin.read()
";

    #[test]
    fn what_ends_takes_only_its_own_counts_with_it() {
        let mut python = Python::start(ENDING);
        python.line();
        let all = |python: &Python| {
            let whole = tree::whole(&tree::Kernel, python.pid(), 0);
            Counts::of(whole.iter().map(tree::Entry::id))
        };
        let before = all(&python);
        let told: u64 = python.ask("").parse().unwrap();
        let after = all(&python);
        let found = after.since(&before).voluntary_switches;
        assert!(
            (told - 5..=told + 20).contains(&found),
            "{found} and {told}"
        );
        assert!(after.sum().voluntary_switches < before.sum().voluntary_switches);
    }
}
