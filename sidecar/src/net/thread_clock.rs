//! CPU time of this process's threads, read from any of them.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use super::clock::thread_cpu_ns;

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
            return Duration::from(time).as_nanos() as u64;
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
