//! The open loop's timetable, and waiting for a moment.

use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::clock::now_ns;
use super::wait::{Wait, pause};

/// The longest wait at once, so that a thread sees a cancel, ns.
pub const SLICE_NS: u64 = 50_000_000;

/// Operation `i` is intended at `start + i / rate`: no error adds up.
#[derive(Debug, Clone, Copy)]
pub struct Timetable {
    start_ns: u64,
    interval_ns: f64,
}

impl Timetable {
    pub fn new(start_ns: u64, rate_per_s: f64) -> Self {
        Self {
            start_ns,
            interval_ns: 1e9 / rate_per_s,
        }
    }

    #[inline]
    pub fn intended_ns(&self, index: u64) -> u64 {
        self.start_ns + (index as f64 * self.interval_ns) as u64
    }
}

/// Makes this thread's sleeps end when they should: the default slack is 50 µs (prctl(2)).
pub fn exact_sleeps() {
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// Waits for a moment of [`now_ns`]. Returns the moment at which the wait was over, or none if `end` was true before; `end` is called every
/// 50 ms.
pub fn wait_until(moment_ns: u64, wait: Wait, mut end: impl FnMut(u64) -> bool) -> Option<u64> {
    let mut ask_at = 0;
    loop {
        let now = now_ns();
        if now >= moment_ns {
            return Some(now);
        }
        if now >= ask_at {
            if end(now) {
                return None;
            }
            ask_at = now + SLICE_NS;
        }
        match wait {
            Wait::Block => sleep_until(moment_ns.min(ask_at)),
            Wait::Spin | Wait::Yield => pause(wait),
        }
    }
}

fn sleep_until(moment_ns: u64) {
    let moment = TimeSpec::from_duration(Duration::from_nanos(moment_ns));
    // An interrupted sleep is taken up again by the loop above.
    let _ = clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &moment,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intended_times_do_not_drift() {
        let timetable = Timetable::new(1_000, 3_000.0);
        assert_eq!(timetable.intended_ns(0), 1_000);
        assert_eq!(timetable.intended_ns(3_000), 1_000_001_000);
        assert_eq!(timetable.intended_ns(9_000_000), 3_000_000_001_000);
    }

    #[test]
    fn no_wait_ends_too_early_and_each_can_be_ended() {
        for wait in [Wait::Block, Wait::Spin, Wait::Yield] {
            let moment = now_ns() + 5_000_000;
            assert!(wait_until(moment, wait, |_| false).is_some());
            assert!(now_ns() >= moment);
            assert!(wait_until(now_ns() + 60_000_000_000, wait, |_| true).is_none());
        }
    }
}
