//! The clock: CPU time of this thread. It excludes the CPU time of other processes, but includes the effect of shared caches.

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_THREAD_CPUTIME_ID (clock_gettime(2)).
pub struct ThreadTime;

fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("Linux has this clock")
        .into()
}

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_uses_no_time() {
        let pause = Duration::from_millis(200);
        let start = ThreadTime.start();
        std::thread::sleep(pause);
        assert!(ThreadTime.end(start) < pause / 2);
    }

    #[test]
    fn a_thread_that_works_uses_no_more_than_passes() {
        let (start, passed) = (ThreadTime.start(), std::time::Instant::now());
        let mut number = 1_u64;
        while ThreadTime.end(start) < Duration::from_millis(20) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        // One of the two clocks is adjusted by NTP, and the other is not.
        assert!(passed.elapsed() >= Duration::from_micros(19_800));
    }
}
