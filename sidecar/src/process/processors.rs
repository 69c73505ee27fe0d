//! CPU time of each CPU between two readings of `/proc/stat` (proc_stat(5)).

use std::collections::BTreeMap;
use std::time::Instant;

/// A reading of all CPUs. Times are clock ticks since boot.
#[derive(Debug, Clone)]
pub struct Look {
    pub at: Instant,
    ticks: BTreeMap<usize, Ticks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    /// Idle time, including waits for input and output. The kernel measures idle time by its clock, and the other times by sampling.
    idle: u64,
    /// Time that the hypervisor took.
    steal: u64,
}

/// Time of one CPU between two readings, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// Time of all programs.
    pub busy_s: f64,
    pub steal_s: f64,
}

impl Look {
    pub fn take() -> Self {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        Self {
            at: Instant::now(),
            ticks: parse(&text),
        }
    }

    pub fn seconds_since(&self, before: &Self) -> f64 {
        (self.at - before.at).as_secs_f64()
    }

    /// Differences by CPU, for CPUs that are in both readings.
    pub fn since(&self, before: &Self) -> BTreeMap<usize, Spent> {
        let span_s = self.seconds_since(before);
        let tick_s = 1.0 / procfs::ticks_per_second() as f64;
        let seconds = |now: u64, then: u64| now.saturating_sub(then) as f64 * tick_s;
        let both = self.ticks.iter().filter_map(|(cpu, now)| {
            let then = before.ticks.get(cpu)?;
            let steal_s = seconds(now.steal, then.steal);
            let busy_s = span_s - seconds(now.idle, then.idle) - steal_s;
            Some((*cpu, Spent { busy_s, steal_s }))
        });
        both.collect()
    }
}

fn parse(text: &str) -> BTreeMap<usize, Ticks> {
    let lines = text.lines().filter_map(|line| {
        let mut fields = line.strip_prefix("cpu")?.split(' ');
        let cpu = fields.next()?.parse().ok()?;
        let times: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let of = |index: usize| times.get(index).copied().unwrap_or(0);
        let (idle, iowait, steal) = (of(3), of(4), of(7));
        Some((
            cpu,
            Ticks {
                idle: idle + iowait,
                steal,
            },
        ))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn cpus_are_read_by_their_numbers() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu3 1 1 1 10 0 0 0 2 0 0\nintr 1 2\n";
        let all = parse(text);
        let of = |idle, steal| Ticks { idle, steal };
        assert_eq!(all, BTreeMap::from([(0, of(45, 8)), (3, of(10, 2))]));
    }

    #[test]
    fn busy_is_what_was_neither_idle_nor_taken() {
        let at = Instant::now();
        let ticks = |idle, steal| BTreeMap::from([(1, Ticks { idle, steal })]);
        let before = Look {
            at,
            ticks: ticks(100, 10),
        };
        let after = Look {
            at: at + Duration::from_secs(1),
            ticks: ticks(125, 20),
        };
        let spent = after.since(&before)[&1];
        assert!((spent.busy_s - 0.65).abs() < 1e-9 && (spent.steal_s - 0.1).abs() < 1e-9);
    }
}
