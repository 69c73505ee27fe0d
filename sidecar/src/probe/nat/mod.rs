//! How a UDP association behaves, in the words of RFC 4787, by tests as those of RFC 5780.
//!
//! The far ends are sockets of the probe at several loopback addresses and ports. A finding is what these sockets, and the client's, have
//! received. Each behaviour has associations of its own, all at the same time, each on a separate thread. So the longest idle time and some
//! timeouts are the length of the whole.

mod behaviours;
mod idle;
mod line;
mod report;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::Outcome;
use super::plan::Plan;
use super::socks5::codec::Address;
use super::spec::NatSpec;
use super::tally::Tally;
use crate::net::clock::now_ns;
use crate::net::payload::Pattern;
use behaviours::FIRST;
use line::{Line, socket};

pub use report::Report;
use report::{AnswersFrom, Bound, BoundIs};

/// Interval at which a datagram that has not arrived is followed by another one.
const AGAIN: Duration = Duration::from_millis(100);
/// Associations that the probe opens besides those of idle times: for mapping, filtering and hairpinning,
const LINES: u64 = 4;
/// for the end of the control connection and fragments,
const LINES_OF_SOCKS: u64 = 2;
/// and for the two refreshes.
const LINES_OF_REFRESH: u64 = 2;

/// Associations whose first round trip is an operation.
pub fn operations(spec: &NatSpec, proxied: bool) -> u64 {
    let idle = spec.idle_s.len() as u64;
    let refresh = if idle > 0 { LINES_OF_REFRESH } else { 0 };
    LINES + if proxied { LINES_OF_SOCKS } else { 0 } + idle + refresh
}

/// What the threads of a probe share.
pub struct Nat<'a> {
    plan: &'a Plan,
    context: &'a Context,
    pattern: Pattern,
    /// Number of the next datagram.
    next: AtomicU32,
    noted: Mutex<Noted>,
}

struct Noted {
    tally: Tally,
    names_sender: Option<bool>,
    answers_from: Option<AnswersFrom>,
}

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let nat = Nat {
        plan,
        context,
        pattern: plan.pattern(),
        next: AtomicU32::new(1),
        noted: Mutex::new(Noted {
            tally: Tally::new(Vec::new()),
            names_sender: None,
            answers_from: None,
        }),
    };
    context.measured_begins();
    nat.noted().tally.begin();
    let mut report = Report::default();
    let own = nat.first(&mut report)?;
    if nat.noted().tally.succeeded > 0 {
        nat.behaviours(own, &mut report);
    }
    context.measured_ended();
    let mut noted = nat
        .noted
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    report.names_sender = noted.names_sender;
    report.answers_from = noted.answers_from;
    noted.tally.end_ns = now_ns();
    noted.tally.end();
    // What has not arrived when the probe was stopped says nothing.
    noted.tally.stopped = context.must_stop(plan, now_ns());
    let stopped = noted.tally.stopped.is_some();
    let threads = operations(&plan.nat, plan.proxy.is_some());
    Ok(Outcome {
        nat: Some(if stopped { Report::default() } else { report }),
        ..noted.tally.outcome(plan, context, threads)
    })
}

impl Nat<'_> {
    /// The first association: it tries the address that the proxy names, and the proxy's own address if nothing comes back from there.
    /// Returns whether only the latter works.
    fn first(&self, report: &mut Report) -> Result<bool, ProbeError> {
        let far = socket(FIRST)?;
        let mut line = Line::open(self, false, None)?;
        let (mut own, mut works) = (false, None);
        if line.named {
            works = line.round_trip(&far).map(|_| true);
        }
        if line.named && works.is_none() {
            let other = Line::open(self, true, None)?;
            own = other.relay != line.relay && other.round_trip(&far).is_some();
            if own {
                (line, works) = (other, Some(false));
            }
        }
        if let (Some(bound), Some(proxy)) = (&line.bound, &self.plan.proxy) {
            report.bound = Some(Bound::new(bound, proxy.at.address.ip(), works));
        }
        self.mapping(&line, &far, report);
        Ok(own)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an association, by its first round trip.
    fn operation(&self, fault: Option<ErrorKind>) {
        let tally = &mut self.noted().tally;
        match fault {
            None => tally.success(self.pattern.size() as u64),
            Some(kind) => {
                tally.failure(kind);
            }
        }
        self.context.set_done(tally.attempted());
    }

    /// An association for one behaviour. If it cannot be opened, it counts as failed.
    fn line(&self, own: bool) -> Option<Line<'_>> {
        let opened = Line::open(self, own, None);
        opened
            .inspect_err(|error| self.operation(Some(error.kind)))
            .ok()
    }

    /// Notes whether a header named the true sender.
    fn names_sender(&self, right: bool) {
        let named = &mut self.noted().names_sender;
        *named = Some(named.unwrap_or(true) && right);
    }

    /// Notes the source of an answer.
    fn answered(&self, relay: SocketAddr, from: SocketAddr) {
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

    fn stops(&self) -> bool {
        self.context.must_stop(self.plan, now_ns()).is_some()
    }

    /// Waits, unless the probe is stopped.
    fn pause(&self, time: Duration) {
        let end = now_ns() + time.as_nanos() as u64;
        while now_ns() < end && !self.stops() {
            std::thread::sleep(AGAIN.min(Duration::from_nanos(end.saturating_sub(now_ns()))));
        }
    }

    /// The next datagram.
    fn payload(&self) -> Vec<u8> {
        let mut payload = vec![0; self.pattern.size()];
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.pattern.fill(number, &mut payload);
        payload
    }

    /// The number of a datagram of this probe, or why it is not whole; none if it is of another. Two in one are a reassembled datagram.
    fn number_of(&self, payload: &[u8]) -> Option<Result<u32, ErrorKind>> {
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
    fn until_one<T>(
        &self,
        send: impl Fn(&[u8]),
        hear: impl Fn(u32, u64) -> Option<T>,
    ) -> Option<T> {
        let since = self.next.load(Ordering::Relaxed);
        let end = now_ns() + self.plan.timeout.as_nanos() as u64;
        while now_ns() < end && !self.stops() {
            send(&self.payload());
            let heard = hear(since, end.min(now_ns() + AGAIN.as_nanos() as u64));
            if heard.is_some() {
                return heard;
            }
        }
        None
    }
}

impl Bound {
    fn new(bound: &Address, proxy: IpAddr, works: Option<bool>) -> Self {
        let (address, is) = match bound {
            Address::Domain(name, port) if name.is_empty() => (format!(":{port}"), BoundIs::Empty),
            Address::Domain(name, port) => (format!("{name}:{port}"), BoundIs::Domain),
            Address::Ip(address) => {
                let ip = address.ip().to_canonical();
                let is = if ip.is_unspecified() {
                    BoundIs::Unspecified
                } else if ip == proxy.to_canonical() {
                    BoundIs::Proxy
                } else if ip.is_ipv4() != proxy.to_canonical().is_ipv4() {
                    BoundIs::OtherFamily
                } else {
                    BoundIs::OtherAddress
                };
                (address.to_string(), is)
            }
        };
        Self { address, is, works }
    }
}
