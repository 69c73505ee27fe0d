//! CPU time of the system over a whole load: from its first start to the end of a quiet period after it. The time includes work between two
//! measured parts, and work that the system delays until it is idle.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::usage::rounded;

/// All processes of role system at one moment; their CPU time is since they started.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub at: Instant,
    pub cpu_s: f64,
}

/// CPU time of the system. Field names say their units.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WholeCpu {
    /// The time from the first start to the end of the quiet period, without dropped parts.
    pub window_s: f64,
    /// The length of the quiet period, as it was asked for.
    pub quiet_s: f64,
    pub system_s: f64,
    /// The share of `system_s` that was used in the quiet period.
    pub quiet_system_s: f64,
}

#[derive(Debug, Default)]
pub struct Whole {
    first: Option<Moment>,
    /// The begin of the current part; none where it began before the first start.
    part: Option<Moment>,
    /// The begin of the part that was dropped, until another one begins.
    dropped: Option<Moment>,
    left_out: Duration,
    left_out_cpu_s: f64,
    quiet: Option<Moment>,
}

impl Whole {
    /// The load starts or continues.
    pub fn goes_on(&mut self, now: Moment) {
        self.first.get_or_insert(now);
        self.leave_out(now);
    }

    pub fn begin_part(&mut self, now: Moment) {
        self.leave_out(now);
        self.part = self.first.and(Some(now));
    }

    /// The part does not count, and neither does the time until another part begins or the load goes on.
    pub fn drop_part(&mut self) {
        self.dropped = self.part.or(self.first);
    }

    fn leave_out(&mut self, now: Moment) {
        if let Some(since) = self.dropped.take() {
            self.left_out += now.at.saturating_duration_since(since.at);
            self.left_out_cpu_s += now.cpu_s - since.cpu_s;
        }
    }

    /// False where there was no load, or a quiet period has begun before.
    pub fn begin_quiet(&mut self, now: Moment) -> bool {
        if self.first.is_none() || self.quiet.is_some() {
            return false;
        }
        self.leave_out(now);
        self.quiet = Some(now);
        true
    }

    /// Returns none if no quiet period has begun.
    pub fn end_quiet(&self, now: Moment, quiet: Duration) -> Option<WholeCpu> {
        let (first, begin) = (self.first?, self.quiet?);
        let window = now.at.saturating_duration_since(first.at);
        Some(WholeCpu {
            window_s: rounded(window.saturating_sub(self.left_out).as_secs_f64()),
            quiet_s: rounded(quiet.as_secs_f64()),
            system_s: rounded(now.cpu_s - first.cpu_s - self.left_out_cpu_s),
            quiet_system_s: rounded(now.cpu_s - begin.cpu_s),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_secs(2);

    /// Moments by the seconds since one instant, and by CPU seconds.
    fn clock() -> impl Fn(u64, f64) -> Moment {
        let zero = Instant::now();
        move |s, cpu_s| Moment {
            at: zero + Duration::from_secs(s),
            cpu_s,
        }
    }

    #[test]
    fn what_is_done_between_parts_and_in_the_quiet_period_counts() {
        let (at, mut whole) = (clock(), Whole::default());
        assert_eq!(whole.end_quiet(at(0, 4.0), QUIET), None);
        assert!(!whole.begin_quiet(at(0, 5.0)), "there was no load");
        whole.begin_part(at(1, 5.5));
        whole.goes_on(at(2, 6.0));
        whole.begin_part(at(4, 7.5));
        whole.goes_on(at(5, 8.0));
        assert!(whole.begin_quiet(at(7, 8.5)));
        assert!(!whole.begin_quiet(at(8, 8.6)), "it is taken once");
        let found = whole.end_quiet(at(9, 10.75), QUIET).unwrap();
        let want = WholeCpu {
            window_s: 7.0,
            quiet_s: 2.0,
            system_s: 4.75,
            quiet_system_s: 2.25,
        };
        assert_eq!(found, want);
    }

    #[test]
    fn a_part_that_is_dropped_is_left_out_until_the_next_one_begins() {
        let (at, mut whole) = (clock(), Whole::default());
        whole.begin_part(at(0, 1.0));
        whole.goes_on(at(1, 1.0));
        // The first part was disturbed, and the runner waited for the other program to end.
        whole.drop_part();
        whole.begin_part(at(5, 2.0));
        whole.goes_on(at(6, 2.5));
        whole.begin_part(at(8, 3.0));
        whole.goes_on(at(9, 3.25));
        whole.drop_part();
        whole.begin_part(at(12, 5.0));
        whole.goes_on(at(13, 5.25));
        // The last one is not measured again.
        whole.drop_part();
        assert!(whole.begin_quiet(at(20, 9.0)));
        let found = whole.end_quiet(at(22, 9.5), QUIET).unwrap();
        let want = WholeCpu {
            window_s: 5.0,
            quiet_s: 2.0,
            // From 2.0 to 3.0, and the quiet period.
            system_s: 1.5,
            quiet_system_s: 0.5,
        };
        assert_eq!(found, want);
    }
}
