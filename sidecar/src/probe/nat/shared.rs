//! State that the threads of a probe share: the plan, the numbers of datagrams, and counts.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::report::AnswersFrom;
use crate::lock::lock;
use crate::net::clock::now_ns;
use crate::net::payload::Pattern;
use crate::probe::context::Context;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::plan::Plan;
use crate::probe::tally::Tally;

/// A socket of a far end, or of a client, at a free port.
pub fn socket(ip: IpAddr) -> Result<UdpSocket, ProbeError> {
    UdpSocket::bind((ip, 0)).map_err(|error| ProbeError::io(format_args!("UDP {ip}"), &error))
}

/// Interval at which a datagram that has not arrived is followed by another one.
pub const AGAIN: Duration = Duration::from_millis(100);

/// A running probe, as its threads share it.
pub struct Nat<'a> {
    pub plan: &'a Plan,
    pub context: &'a Context,
    pub pattern: Pattern,
    /// Number of the next datagram.
    next: AtomicU32,
    pub noted: Mutex<Noted>,
}

pub struct Noted {
    pub tally: Tally,
    pub names_sender: Option<bool>,
    pub answers_from: Option<AnswersFrom>,
}

impl<'a> Nat<'a> {
    pub fn new(plan: &'a Plan, context: &'a Context) -> Self {
        Self {
            plan,
            context,
            pattern: plan.pattern(),
            next: AtomicU32::new(1),
            noted: Mutex::new(Noted {
                tally: Tally::default(),
                names_sender: None,
                answers_from: None,
            }),
        }
    }

    pub fn first_far(&self) -> Result<UdpSocket, ProbeError> {
        socket(self.far_ip(0))
    }

    pub fn second_far(&self) -> Result<UdpSocket, ProbeError> {
        socket(self.far_ip(1))
    }

    /// Whether the far ends are on loopback, so that ::1 and the name `localhost` are far ends, too.
    pub fn on_loopback(&self) -> bool {
        self.far_ip(0).is_loopback()
    }

    fn far_ip(&self, index: usize) -> IpAddr {
        self.plan.nat.far_ends[index].into()
    }

    pub fn next_number(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    pub fn noted(&self) -> MutexGuard<'_, Noted> {
        lock(&self.noted)
    }

    /// Counts an association, by its first round trip.
    pub fn operation(&self, fault: Option<ErrorKind>) {
        let tally = &mut self.noted().tally;
        match fault {
            None => tally.success(self.pattern.size() as u64),
            Some(kind) => {
                tally.failure(kind);
            }
        }
        self.context.set_done(tally.attempted());
    }

    pub fn names_sender(&self, right: bool) {
        let named = &mut self.noted().names_sender;
        *named = Some(named.unwrap_or(true) && right);
    }

    pub fn answered(&self, relay: SocketAddr, from: SocketAddr) {
        let mut noted = self.noted();
        if from != relay {
            noted.tally.anomalies.other_source += 1;
            noted.tally.other_source = Some(from);
            noted.answers_from = Some(if from.ip() == relay.ip() {
                AnswersFrom::OtherPort
            } else {
                AnswersFrom::OtherAddress
            });
        }
        noted.answers_from.get_or_insert(AnswersFrom::Relay);
    }

    pub fn stops(&self) -> bool {
        self.context.must_stop(now_ns()).is_some()
    }

    pub fn pause(&self, time: Duration) {
        let end = now_ns() + time.as_nanos() as u64;
        while now_ns() < end && !self.stops() {
            std::thread::sleep(AGAIN.min(Duration::from_nanos(end.saturating_sub(now_ns()))));
        }
    }

    pub fn payload(&self) -> Vec<u8> {
        self.numbered().1
    }

    pub fn numbered(&self) -> (u32, Vec<u8>) {
        let mut payload = vec![0; self.pattern.size()];
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.pattern.fill(number, &mut payload);
        (number, payload)
    }

    /// The number of a datagram of this probe, or why it is not whole; none if it is of another. Two in one are a reassembled datagram.
    pub fn number_of(&self, payload: &[u8]) -> Option<Result<u32, ErrorKind>> {
        let number = self.pattern.sequence(payload)?;
        let whole = |part: &[u8]| {
            let number = self.pattern.sequence(part);
            number.is_some_and(|number| self.pattern.matches(number, part))
        };
        let size = self.pattern.size();
        Some(if payload.len() < size {
            Err(ErrorKind::Truncated)
        } else if payload.len() <= 2 * size && payload.chunks(size).all(whole) {
            Ok(number)
        } else {
            Err(ErrorKind::Corrupted)
        })
    }

    /// Sends datagrams, each a new one, until `hear` has heard one of them, or the timeout is over. `hear` gets the number of the first one,
    /// and until when it may wait.
    pub fn until_one<T>(
        &self,
        send: impl Fn(&[u8]),
        hear: impl Fn(u32, u64) -> Option<T>,
    ) -> Option<T> {
        let since = self.next_number();
        let end = now_ns() + self.plan.timeout.as_nanos() as u64;
        while now_ns() < end && !self.stops() {
            send(&self.payload());
            // Also the last one has its time, if this thread was not running in between.
            let heard = hear(
                since,
                now_ns() + AGAIN.min(self.plan.timeout).as_nanos() as u64,
            );
            if heard.is_some() {
                return heard;
            }
        }
        None
    }
}
