//! CPU load of the whole machine.

use procfs::{CurrentSI, KernelStats};

/// CPU time of all cores, clock ticks.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostTime {
    busy: u64,
    all: u64,
}

impl HostTime {
    /// `None` if the kernel does not report it.
    pub fn now() -> Option<Self> {
        let time = KernelStats::current().ok()?.total;
        let waiting = time.idle + time.iowait.unwrap_or(0);
        // The time of guests is included in user and nice.
        let busy = time.user
            + time.nice
            + time.system
            + time.irq.unwrap_or(0)
            + time.softirq.unwrap_or(0)
            + time.steal.unwrap_or(0);
        Some(Self {
            busy,
            all: busy + waiting,
        })
    }

    /// This sum plus the stretch from `before` to `now`; `None` if any of them is unknown.
    pub fn with_stretch(
        sum: Option<Self>,
        before: Option<Self>,
        now: Option<Self>,
    ) -> Option<Self> {
        Some(sum?.plus(now?.since(before?)))
    }

    fn since(self, before: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(before.busy),
            all: self.all.saturating_sub(before.all),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            busy: self.busy + other.busy,
            all: self.all + other.all,
        }
    }

    pub fn busy_s(self) -> f64 {
        self.busy as f64 / procfs::ticks_per_second() as f64
    }

    /// `None` if the kernel's clock did not advance.
    pub fn busy_percent(self) -> Option<f64> {
        if self.all == 0 {
            return None;
        }
        let share = self.busy as f64 / self.all as f64;
        Some((share * 1e4).round() / 100.0)
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
        assert_eq!(after.since(before).busy_percent(), Some(25.0));
        assert_eq!(before.since(before).busy_percent(), None);
        let ticks = procfs::ticks_per_second() as f64;
        assert_eq!(after.since(before).busy_s(), 50.0 / ticks);
        let twice = after.since(before).plus(before);
        assert_eq!((twice.busy, twice.all), (150, 1200));
        let sum = HostTime::with_stretch(Some(before), Some(before), Some(after));
        assert_eq!(sum.map(|sum| sum.all), Some(1200));
        for (sum, then, now) in [
            (None, Some(before), Some(after)),
            (Some(before), None, Some(after)),
            (Some(before), Some(before), None),
        ] {
            let unknown = HostTime::with_stretch(sum, then, now);
            assert!(unknown.is_none(), "{unknown:?}");
        }
    }
}
