//! How busy the whole machine was.

use procfs::{CurrentSI, KernelStats};

/// CPU time of all cores, clock ticks.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostTime {
    busy: u64,
    all: u64,
}

impl HostTime {
    pub fn now() -> Self {
        let Ok(stat) = KernelStats::current() else {
            return Self::default();
        };
        let time = stat.total;
        let waiting = time.idle + time.iowait.unwrap_or(0);
        // Guests' time is in user and nice already.
        let busy = time.user
            + time.nice
            + time.system
            + time.irq.unwrap_or(0)
            + time.softirq.unwrap_or(0)
            + time.steal.unwrap_or(0);
        Self {
            busy,
            all: busy + waiting,
        }
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(before.busy),
            all: self.all.saturating_sub(before.all),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            busy: self.busy + other.busy,
            all: self.all + other.all,
        }
    }

    pub fn busy_s(self) -> f64 {
        self.busy as f64 / procfs::ticks_per_second() as f64
    }

    pub fn busy_percent(self) -> f64 {
        if self.all == 0 {
            return 0.0;
        }
        let share = self.busy as f64 / self.all as f64;
        (share * 1e4).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_s_share_is_of_all_cores() {
        let before = HostTime {
            busy: 100,
            all: 1000,
        };
        let after = HostTime {
            busy: 150,
            all: 1200,
        };
        assert_eq!(after.since(before).busy_percent(), 25.0);
        assert_eq!(before.since(before).busy_percent(), 0.0);
        let ticks = procfs::ticks_per_second() as f64;
        assert_eq!(after.since(before).busy_s(), 50.0 / ticks);
        let twice = after.since(before).plus(before);
        assert_eq!((twice.busy, twice.all), (150, 1200));
    }
}
