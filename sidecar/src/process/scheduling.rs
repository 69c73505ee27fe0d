//! How a process was scheduled since its start: context switches and page faults.

use std::ops::AddAssign;

use procfs::ProcResult;
use procfs::process::Process;
use serde::Serialize;

/// Counts from the start of a process. Switches are of living threads alone, because the kernel keeps none of a thread that has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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
    /// Reads all threads of a process; the cost is about 10 µs for each thread.
    pub fn of(process: &Process) -> ProcResult<Self> {
        let stat = process.stat()?;
        let mut sum = Self {
            minor_faults: stat.minflt,
            major_faults: stat.majflt,
            ..Self::default()
        };
        for task in process.tasks()?.flatten() {
            // A thread that has ended meanwhile has no counts.
            if let Ok(status) = task.status() {
                sum.voluntary_switches += status.voluntary_ctxt_switches.unwrap_or(0);
                sum.involuntary_switches += status.nonvoluntary_ctxt_switches.unwrap_or(0);
            }
        }
        Ok(sum)
    }

    /// The counts after `before`. A count never falls below 0: threads with switches may have ended.
    pub fn since(self, before: Self) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::python::Python;

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
        let found = Process::new(python.pid()).and_then(|child| Scheduling::of(&child));
        drop(python);
        let found = found.unwrap();
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

    #[test]
    fn counts_of_ended_threads_are_not_negative() {
        let many = Scheduling {
            voluntary_switches: 9,
            minor_faults: 4,
            ..Scheduling::default()
        };
        let few = Scheduling {
            minor_faults: 5,
            ..Scheduling::default()
        };
        let left = few.since(many);
        assert_eq!((left.voluntary_switches, left.minor_faults), (0, 1));
    }
}
