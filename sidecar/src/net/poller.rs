//! Waiting for many sockets, with deadlines finer than a millisecond.
//!
//! The poller uses a `timerfd` instead of the timeout of `epoll_wait`. The timer is set once per
//! deadline, not at each wait, and before a request goes out, so that no system call lies between a
//! request and its answer. The call's cost shows as lateness.

use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

pub use rustix::event::epoll::EventFlags as Flags;

use crate::net::clock::now_ns;
use crate::net::wait::{Wait, pause};

const BATCH: usize = 256;
/// The token of the timer; no other socket has it.
const TIMER: u64 = u64::MAX;

/// One `epoll` instance, level-triggered.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
    timer: OwnedFd,
    /// When the timer ends; [`u64::MAX`] when it has.
    timer_ns: u64,
    wait: Wait,
}

impl Poller {
    pub fn new(wait: Wait) -> std::io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Edge-triggered: it needs no reading.
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), edge)?;
        Ok(Self {
            epoll,
            events: Vec::with_capacity(BATCH),
            timer,
            timer_ns: u64::MAX,
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

    /// Sets the timer for a later wait until `deadline_ns` of [`now_ns`], so that this wait costs less.
    pub fn expect(&mut self, deadline_ns: u64) -> std::io::Result<()> {
        // A timer that ends too early is harmless, and usually one exists.
        if self.wait == Wait::Block && deadline_ns < self.timer_ns {
            let value = Timespec {
                tv_sec: (deadline_ns / 1_000_000_000) as i64,
                tv_nsec: (deadline_ns % 1_000_000_000) as i64,
            };
            let once = Itimerspec {
                it_interval: Timespec::default(),
                it_value: value,
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
            self.timer_ns = deadline_ns;
        }
        Ok(())
    }

    /// Waits for events until `deadline_ns` of [`now_ns`] at the latest. [`Self::event`] returns the
    /// events.
    pub fn wait(&mut self, deadline_ns: u64) -> std::io::Result<usize> {
        let at_once = Timespec::default();
        loop {
            self.expect(deadline_ns)?;
            let timeout = (self.wait != Wait::Block).then_some(&at_once);
            self.events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(timer) = self.events.iter().position(|event| token(event) == TIMER) {
                self.events.swap_remove(timer);
                self.timer_ns = u64::MAX;
            }
            if !self.events.is_empty() || now_ns() >= deadline_ns {
                return Ok(self.events.len());
            }
            pause(self.wait);
        }
    }

    /// Token and flags of one of the events that [`Self::wait`] counted.
    pub fn event(&self, index: usize) -> (u64, EventFlags) {
        let event = self.events[index];
        (token(&event), event.flags)
    }
}

fn token(event: &Event) -> u64 {
    let data = event.data;
    data.u64()
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
