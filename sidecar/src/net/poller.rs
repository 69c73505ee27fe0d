//! Waiting for many sockets, with timers finer than a millisecond (`epoll_pwait2(2)`).

use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

pub use rustix::event::epoll::EventFlags as Flags;

use crate::probe::clock::now_ns;
use crate::probe::spec::Wait;

/// Events that are taken at once.
const BATCH: usize = 256;

/// One `epoll` instance, level-triggered.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
    wait: Wait,
}

impl Poller {
    pub fn new(wait: Wait) -> std::io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(BATCH),
            wait,
        })
    }

    pub fn add(&self, fd: impl AsFd, token: u64, flags: EventFlags) -> std::io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            fd,
            EventData::new_u64(token),
            flags,
        )?)
    }

    pub fn modify(&self, fd: impl AsFd, token: u64, flags: EventFlags) -> std::io::Result<()> {
        Ok(epoll::modify(
            &self.epoll,
            fd,
            EventData::new_u64(token),
            flags,
        )?)
    }

    /// Waits for events until `deadline_ns` of [`now_ns`] at the latest. What came is in
    /// [`Self::event`].
    pub fn wait(&mut self, deadline_ns: u64) -> std::io::Result<usize> {
        loop {
            let timeout = match self.wait {
                Wait::Block => deadline_ns.saturating_sub(now_ns()),
                Wait::Spin | Wait::Yield => 0,
            };
            let timeout = Timespec {
                tv_sec: (timeout / 1_000_000_000) as i64,
                tv_nsec: (timeout % 1_000_000_000) as i64,
            };
            self.events.clear();
            match epoll::wait(
                &self.epoll,
                spare_capacity(&mut self.events),
                Some(&timeout),
            ) {
                Ok(count) if count > 0 => return Ok(count),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if now_ns() >= deadline_ns {
                return Ok(0);
            }
            pause(self.wait);
        }
    }

    /// Token and flags of one of the events that [`Self::wait`] counted.
    pub fn event(&self, index: usize) -> (u64, EventFlags) {
        let event = self.events[index];
        let data = event.data;
        (data.u64(), event.flags)
    }
}

/// Between two tries of what would block.
#[inline]
pub fn pause(wait: Wait) {
    match wait {
        Wait::Block => {}
        Wait::Spin => std::hint::spin_loop(),
        Wait::Yield => std::thread::yield_now(),
    }
}

/// Wakes a [`Poller`] from another thread.
pub struct Waker(OwnedFd);

impl Waker {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self(eventfd(
            0,
            EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK,
        )?))
    }

    pub fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_less_than_a_millisecond_is_no_millisecond() {
        let mut poller = Poller::new(Wait::Block).unwrap();
        let shortest = (0..200)
            .map(|_| {
                let began = now_ns();
                assert_eq!(poller.wait(began + 200_000).unwrap(), 0);
                now_ns() - began
            })
            .min()
            .unwrap();
        assert!((200_000..900_000).contains(&shortest), "{shortest} ns");
    }

    #[test]
    fn a_waker_ends_a_wait() {
        for wait in [Wait::Block, Wait::Spin, Wait::Yield] {
            let mut poller = Poller::new(wait).unwrap();
            let waker = Waker::new().unwrap();
            poller.add(&waker, 7, Flags::IN).unwrap();
            waker.wake();
            assert_eq!(poller.wait(u64::MAX).unwrap(), 1);
            assert_eq!(poller.event(0), (7, Flags::IN));
        }
    }
}
