//! The monotonic clock and a thread's own CPU time, nanoseconds.

use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC, read without a system call.
#[inline]
pub fn now_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of this thread, user and system.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn read(clock: ClockId) -> u64 {
    // Neither clock can fail on Linux.
    clock_gettime(clock).map_or(0, |time| {
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
    })
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
