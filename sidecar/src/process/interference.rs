//! The use of each CPU while a window runs: by the run itself, by other programs, or by the hypervisor.
//!
//! The kernel reports a CPU's time in clock ticks (10 ms), and the time of our own threads in nanoseconds. So a single sample is rough. Its
//! error is carried into the next sample, and the sum is right.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::tree::Births;
use super::{own_time, processors};

/// The most samples that are kept; each CPU's sample counts separately. Above the limit, each two samples become one.
const KEPT: usize = 20_000;

/// One sampling period of a running window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// End of the period, milliseconds since 1970.
    pub at_unix_ms: u64,
    pub span_s: f64,
    pub cpus: Vec<CpuShare>,
}

/// CPU seconds of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuShare {
    pub cpu: usize,
    /// CPU time of programs that do not belong to the run.
    pub others_s: f64,
    /// CPU time that the hypervisor took.
    pub steal_s: f64,
}

/// Sums over all time in which the window ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CpuUsage {
    pub cpu: usize,
    pub span_s: f64,
    pub busy_s: f64,
    pub others_s: f64,
    pub steal_s: f64,
}

#[derive(Debug, Clone)]
pub struct Interference {
    trees: own_time::Trees,
    last: Option<(processors::Look, own_time::Look)>,
    by_cpu: BTreeMap<usize, Sums>,
    samples: Vec<Sample>,
}

/// Sums for one CPU so far, seconds.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    span_s: f64,
    busy_s: f64,
    others_s: f64,
    steal_s: f64,
    /// The error to carry into the next sample. It is below 0 if earlier samples reported too much.
    carried_s: f64,
}

impl Interference {
    /// `generators` are pids of processes of the run that the sidecar did not start.
    pub fn new(generators: &[i32]) -> Self {
        Self {
            trees: own_time::Trees::new(generators),
            last: None,
            by_cpu: BTreeMap::new(),
            samples: Vec::new(),
        }
    }

    /// Also counts the time of these processes to the run, from now on.
    pub fn also(&mut self, generators: &[i32]) {
        self.look(None);
        self.trees.add(generators);
        if self.last.is_some() {
            self.last = Some(self.take(None, None));
        }
    }

    /// Begins a stretch.
    pub fn begin(&mut self) {
        self.last = Some(self.take(None, None));
    }

    /// Ends a stretch.
    pub fn pause(&mut self) {
        self.look(None);
        self.forget();
    }

    /// Ends a stretch without a sample, and closes the files that samples keep open.
    pub fn forget(&mut self) {
        self.last = None;
        self.trees.forget();
    }

    fn take(
        &mut self,
        before: Option<&own_time::Look>,
        births: Option<&Births>,
    ) -> (processors::Look, own_time::Look) {
        let own = own_time::Look::take(&mut self.trees, before, births);
        (processors::Look::take(), own)
    }

    /// Takes a sample if a stretch runs.
    pub fn look(&mut self, births: Option<&Births>) {
        let Some((cpus_before, own_before)) = self.last.take() else {
            return;
        };
        let (cpus, own) = self.take(Some(&own_before), births);
        let span_s = cpus.seconds_since(&cpus_before);
        let spent = cpus.since(&cpus_before);
        let others = others(&spent, &own.since(&own_before));
        self.last = Some((cpus, own));
        let mut shares = Vec::with_capacity(spent.len());
        for (cpu, spent) in spent {
            let sums = self.by_cpu.entry(cpu).or_default();
            sums.span_s += span_s;
            sums.busy_s += spent.busy_s;
            sums.steal_s += spent.steal_s;
            let others_s = others[&cpu] + sums.carried_s;
            sums.carried_s = others_s.min(0.0);
            sums.others_s += others_s.max(0.0);
            shares.push(CpuShare {
                cpu,
                others_s: rounded(others_s.max(0.0)),
                steal_s: rounded(spent.steal_s),
            });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.samples.push(Sample {
            at_unix_ms: now.map_or(0, |since| since.as_millis() as u64),
            span_s: rounded(span_s),
            cpus: shares,
        });
        if self.samples.len() * self.by_cpu.len() > KEPT {
            self.samples = self.samples.chunks(2).map(joined).collect();
        }
    }

    pub fn usage(&self) -> Vec<CpuUsage> {
        let usages = self.by_cpu.iter().map(|(cpu, sums)| CpuUsage {
            cpu: *cpu,
            span_s: rounded(sums.span_s),
            busy_s: rounded(sums.busy_s.max(0.0)),
            others_s: rounded((sums.others_s + sums.carried_s).max(0.0)),
            steal_s: rounded(sums.steal_s),
        });
        usages.collect()
    }

    pub fn samples(&self) -> Vec<Sample> {
        self.samples.clone()
    }
}

/// CPU time of other programs on each CPU, seconds. It is below 0 if the ticks show less than our own threads used. Our own time without a
/// known CPU is subtracted from the CPUs on which other programs seem to have used the most.
fn others(
    spent: &BTreeMap<usize, processors::Spent>,
    own: &own_time::Used,
) -> BTreeMap<usize, f64> {
    let own_on = |cpu: &usize| own.by_cpu.get(cpu).copied().unwrap_or(0.0);
    let mut left: BTreeMap<usize, f64> = spent
        .iter()
        .map(|(cpu, spent)| (*cpu, spent.busy_s - own_on(cpu)))
        .collect();
    let mut order: Vec<usize> = left.keys().copied().collect();
    order.sort_by(|one, other| left[other].total_cmp(&left[one]));
    let mut anywhere_s = own.anywhere_s;
    for cpu in order {
        if let Some(others_s) = left.get_mut(&cpu) {
            let ours = anywhere_s.min(others_s.max(0.0));
            *others_s -= ours;
            anywhere_s -= ours;
        }
    }
    left
}

/// Joins one sample, or two that follow each other.
fn joined(pair: &[Sample]) -> Sample {
    let last = &pair[pair.len() - 1];
    let share = |cpu: &CpuShare| {
        let all = pair.iter().flat_map(|sample| &sample.cpus);
        let same: Vec<_> = all.filter(|share| share.cpu == cpu.cpu).collect();
        CpuShare {
            cpu: cpu.cpu,
            others_s: rounded(same.iter().map(|share| share.others_s).sum()),
            steal_s: rounded(same.iter().map(|share| share.steal_s).sum()),
        }
    };
    Sample {
        at_unix_ms: last.at_unix_ms,
        span_s: rounded(pair.iter().map(|sample| sample.span_s).sum()),
        cpus: last.cpus.iter().map(share).collect(),
    }
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use processors::Spent;

    fn spent(busy: &[f64]) -> BTreeMap<usize, Spent> {
        let of = |busy_s: &f64| Spent {
            busy_s: *busy_s,
            steal_s: 0.0,
        };
        busy.iter().map(of).enumerate().collect()
    }

    #[test]
    fn others_are_what_is_left_of_each_cpu() {
        let own = own_time::Used {
            by_cpu: BTreeMap::from([(1, 0.05)]),
            anywhere_s: 0.0,
        };
        let found = others(&spent(&[0.02, 0.1]), &own);
        assert!((found[&0] - 0.02).abs() < 1e-9 && (found[&1] - 0.05).abs() < 1e-9);
    }

    #[test]
    fn own_time_without_a_known_cpu_is_subtracted_from_the_busiest() {
        let own = own_time::Used {
            by_cpu: BTreeMap::from([(0, 0.01)]),
            anywhere_s: 0.12,
        };
        let found = others(&spent(&[0.05, 0.1]), &own);
        assert!((found[&1]).abs() < 1e-9 && (found[&0] - 0.02).abs() < 1e-9);
    }

    #[test]
    fn two_samples_become_their_sum() {
        let sample = |at_unix_ms, others_s| Sample {
            at_unix_ms,
            span_s: 0.1,
            cpus: vec![CpuShare {
                cpu: 1,
                others_s,
                steal_s: 0.01,
            }],
        };
        let one = joined(&[sample(100, 0.05), sample(200, 0.02)]);
        assert_eq!((one.at_unix_ms, one.span_s), (200, 0.2));
        assert_eq!((one.cpus[0].others_s, one.cpus[0].steal_s), (0.07, 0.02));
    }

    /// Starts a program that burns a CPU for 1.5 s and is not a descendant of this test. Returns its pid.
    fn burn(cpu: usize) -> i32 {
        let started = std::process::Command::new("setsid")
            .args(["-f", "taskset", "-c", &cpu.to_string(), "sh", "-c"])
            .arg("echo $$; exec timeout 1.5 sh -c 'while :; do :; done' >&- 2>&-")
            .output()
            .unwrap();
        let pid = String::from_utf8(started.stdout).unwrap();
        pid.trim().parse().unwrap()
    }

    /// Takes ten samples of all at the same times. `at_half` is called after five of them.
    fn sampled(all: &mut [Interference], at_half: impl Fn(&mut [Interference])) {
        all.iter_mut().for_each(Interference::begin);
        for sample in 0..10 {
            if sample == 5 {
                at_half(all);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
            all.iter_mut().for_each(|one| one.look(None));
        }
        all.iter_mut().for_each(Interference::pause);
    }

    /// Seconds of others on a CPU until the given time, and after it.
    fn others_around(seen: &Interference, cpu: usize, at_unix_ms: u64) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for sample in seen.samples() {
            let share = sample.cpus.iter().find(|share| share.cpu == cpu).unwrap();
            match sample.at_unix_ms <= at_unix_ms {
                true => sums.0 += share.others_s,
                false => sums.1 += share.others_s,
            }
        }
        sums
    }

    /// A neighbour is a program outside of the run. Here it burns a CPU on which the run has no threads. The machine may have other
    /// neighbours, and on a busy machine the burning process may end before the samples begin. That does not happen in each of five tries.
    #[test]
    fn time_of_a_neighbour_counts_as_others() {
        let last = *crate::process::cpus::allowed().unwrap().last().unwrap();
        let mut usages = Vec::new();
        for _ in 0..5 {
            burn(last);
            let mut all = [Interference::new(&[])];
            sampled(&mut all, |_| {});
            assert!(all[0].samples().len() >= 10);
            let usage = all[0].usage();
            let on = usage.iter().find(|usage| usage.cpu == last).unwrap();
            if on.others_s > 0.15 * (on.span_s - on.steal_s) {
                return;
            }
            usages.push(format!("{usage:?}"));
        }
        panic!("{usages:?}");
    }

    /// The second one of two observers learns in the middle that the program belongs to its run. All else is the same for both.
    #[test]
    fn time_of_the_other_side_counts_to_the_run() {
        let last = *crate::process::cpus::allowed().unwrap().last().unwrap();
        let mut tries = Vec::new();
        for _ in 0..5 {
            let pid = burn(last);
            let mut all = [Interference::new(&[]), Interference::new(&[])];
            sampled(&mut all, |all| {
                all[0].look(None);
                all[1].also(&[pid]);
            });
            let half = all[1].samples()[5].at_unix_ms;
            let (before, after) = others_around(&all[0], last, half);
            let (before_too, beside) = others_around(&all[1], last, half);
            if after - beside > 0.05 && (before - before_too).abs() < (after - beside) / 3.0 {
                return;
            }
            tries.push((before, after, before_too, beside));
        }
        panic!("{tries:?}");
    }
}
