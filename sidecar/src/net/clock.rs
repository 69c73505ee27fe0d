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

/// Turns times of [`now_ns`] into µs since 1970, all by the wall clock as it was when this was made.
pub fn to_unix_us() -> impl Fn(u64) -> u64 {
    let (wall, now) = (read(ClockId::CLOCK_REALTIME), now_ns());
    move |at_ns| (wall + at_ns).saturating_sub(now) / 1_000
}

#[inline]
fn read(clock: ClockId) -> u64 {
    // Both clocks always exist on Linux.
    clock_gettime(clock).map_or(0, |time| {
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
    })
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
