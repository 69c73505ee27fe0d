//! The monotonic clock, and CPU time of this thread or of another one, nanoseconds.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use nix::sys::time::TimeSpec;
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
    clock_gettime(clock).map_or(0, ns)
}

#[inline]
fn ns(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// CPU time of a thread that may have ended meanwhile.
#[derive(Default)]
pub struct ThreadClock {
    thread: AtomicI32,
    ended_ns: AtomicU64,
}

impl ThreadClock {
    /// Says that the calling thread is the one that is measured.
    pub fn enter(&self) {
        self.thread
            .store(nix::unistd::gettid().as_raw(), Ordering::SeqCst);
    }

    /// Called by the thread itself before it ends.
    pub fn leave(&self) {
        self.ended_ns.store(thread_cpu_ns(), Ordering::SeqCst);
        self.thread.store(0, Ordering::SeqCst);
    }

    /// Nanoseconds so far.
    pub fn used_ns(&self) -> u64 {
        let thread = self.thread.load(Ordering::SeqCst);
        if thread != 0
            && let Ok(time) = clock_gettime(clock_of(thread))
        {
            return ns(time);
        }
        self.ended_ns.load(Ordering::SeqCst)
    }
}

/// The kernel's number of a thread's CPU clock, as `pthread_getcpuclockid(3)` makes it: the
/// complement of the thread's id, a bit for "thread, not process", and 2 for scheduler time.
fn clock_of(thread: i32) -> ClockId {
    ClockId::from_raw((!thread << 3) | 4 | 2)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_time_is_the_same_from_outside_and_after_the_end() {
        let clock = ThreadClock::default();
        let before_end = std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let (go, wait) = std::sync::mpsc::channel::<()>();
            let clock = &clock;
            scope.spawn(move || {
                clock.enter();
                let began = std::time::Instant::now();
                while began.elapsed() < Duration::from_millis(50) {}
                sender.send(()).unwrap();
                wait.recv().unwrap();
                clock.leave();
            });
            receiver.recv().unwrap();
            let used = clock.used_ns();
            go.send(()).unwrap();
            used
        });
        let after_end = clock.used_ns();
        assert!(before_end > 1_000_000, "{before_end}");
        assert!(after_end >= before_end);
        assert!(after_end < 2 * before_end, "{before_end} {after_end}");
    }
}
