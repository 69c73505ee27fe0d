//! Datagrams by timetable through all associations, and their answers.

use super::opening::{Association, FIRST_SOCKET, State};
use super::record::{Answer, Record, after_idle, first_of};
use crate::net::clock::{now_ns, seconds};
use crate::net::pace::{SLICE_NS, Timetable};
use crate::net::payload::Pattern;
use crate::net::poller::Poller;
use crate::probe::context::Context;
use crate::probe::far_end::{Bounds, Carried};
use crate::probe::idle::{Held, hold};
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::{Gap, Idle, Stopped};
use crate::probe::plan::Plan;
use crate::probe::recorder::Series;
use crate::probe::socks5::codec::{MAX_REPLY_BYTES, udp_payload};
use crate::probe::tally::{LATENESS, ROUND_TRIP, Tally};

/// Datagrams that are sent, or received from one socket, before others have their turn.
const AT_ONCE: usize = 64;
/// A longer time without a datagram is a gap: a call's listener hears it.
const GAP_NS: u64 = 200_000_000;
const MOST_GAPS: usize = 1_000;
/// Longest wait for duplicates after the end: since the last datagram, and in all.
const QUIET_NS: u64 = 60_000_000;
const DRAIN_NS: u64 = 300_000_000;

/// The series `first` is behind the series of round trips.
const FIRST: usize = 2;

pub struct Drive<'a> {
    plan: &'a Plan,
    context: &'a Context,
    poller: Poller,
    pub associations: Vec<Association>,
    pub tally: Tally,
    pub record: Record,
    pub misdelivered: u64,
    pub stale: u64,
    pattern: Pattern,
    timetable: Timetable,
    out: Vec<u8>,
    input: Vec<u8>,
    /// Absent if an association sends too seldom for gaps.
    gaps: Option<Vec<Gap>>,
    /// Answers in time to the datagrams after the idle time.
    kept: u64,
    /// All that was answered, late answers included.
    answered: u64,
    answered_bytes: u64,
}

impl<'a> Drive<'a> {
    pub fn new(
        plan: &'a Plan,
        context: &'a Context,
        poller: Poller,
        associations: Vec<Association>,
    ) -> Self {
        let spec = &plan.spec;
        let mut tally = Tally::of_round_trips(plan, spec.count);
        tally
            .series
            .push(Series::new("first", spec.connections, spec.keep));
        let rate = plan.rate_per_s().unwrap_or(1.0);
        let often = spec.connections as f64 / rate * 1e9 < GAP_NS as f64;
        Self {
            plan,
            context,
            poller,
            associations,
            record: Record::new(spec.count, after_idle(spec), plan.timeout.as_nanos() as u64),
            misdelivered: 0,
            stale: 0,
            pattern: plan.pattern(),
            timetable: Timetable::new(tally.begin(), rate),
            tally,
            out: Vec::new(),
            // A byte more than is right, so that a longer datagram is seen.
            input: vec![0; MAX_REPLY_BYTES + spec.payload_bytes as usize + 1],
            gaps: often.then(Vec::new),
            kept: 0,
            answered: 0,
            answered_bytes: 0,
        }
    }

    /// Sends all datagrams, and waits until each is answered or lost.
    pub fn exchange(&mut self) -> std::io::Result<()> {
        let count = self.plan.spec.count;
        let timeout_ns = self.plan.timeout.as_nanos() as u64;
        let (mut next, mut over_ns) = (0, now_ns() + timeout_ns);
        loop {
            let now = now_ns();
            self.tally.stopped = self.context.must_stop(now);
            let all_sent = next == count || self.tally.stopped == Some(Stopped::Limit);
            let ended = all_sent && (self.record.waiting == 0 || now >= over_ns);
            if ended || self.tally.stopped == Some(Stopped::Cancelled) {
                break;
            }
            let mut until_ns = over_ns;
            if !all_sent {
                next = self.send_due(next);
                over_ns = now_ns() + timeout_ns;
                until_ns = self.timetable.intended_ns(next);
            }
            self.turn(until_ns.min(now + SLICE_NS))?;
            self.context.set_done(next - self.record.waiting.min(next));
        }
        if next == count {
            self.tally.stopped = None;
        }
        self.tally.errors.add(ErrorKind::Lost, self.record.lost());
        self.tally.end_ns = self.tally.end_ns.max(now_ns().min(over_ns));
        self.tally.end();
        self.end_gaps();
        Ok(())
    }

    pub fn drain(&mut self) -> std::io::Result<()> {
        let began = now_ns();
        let mut last = began;
        while now_ns() - last < QUIET_NS && last - began < DRAIN_NS {
            if self.turn(last + QUIET_NS)? > 0 {
                last = now_ns();
            }
        }
        Ok(())
    }

    pub fn carried(&self) -> Carried {
        let datagrams = Bounds::new(self.answered, self.record.sent);
        let most = self.record.sent * self.plan.spec.payload_bytes;
        let bytes = Bounds::new(self.answered_bytes, most);
        Carried::both_ways(datagrams, bytes)
    }

    pub fn take_gaps(&mut self) -> Option<Vec<Gap>> {
        self.gaps.take()
    }

    /// Sends what is due, and returns the number of the next datagram.
    fn send_due(&mut self, first: u64) -> u64 {
        let mut next = first;
        while next < self.plan.spec.count && next - first < AT_ONCE as u64 {
            let intended_ns = self.timetable.intended_ns(next);
            let now = now_ns();
            if intended_ns > now {
                break;
            }
            let late_ns = now - intended_ns;
            match self.send(next as usize, now) {
                Ok(()) => self.tally.series[LATENESS].record(now, late_ns),
                Err(kind) => self.tally.errors.add(kind, 1),
            }
            next += 1;
        }
        next
    }

    fn send(&mut self, number: usize, now: u64) -> Result<(), ErrorKind> {
        let index = number % self.associations.len();
        let one = &mut self.associations[index];
        let (socket, peer) = match &one.state {
            State::Open { socket, peer, .. } => (socket, *peer),
            State::Opening(_) => return Err(ErrorKind::Cut),
            State::Down(kind) => return Err(*kind),
        };
        let header = one.header.len();
        self.out.clear();
        self.out.extend_from_slice(&one.header);
        self.out.resize(header + self.pattern.size(), 0);
        self.pattern.fill(number as u32, &mut self.out[header..]);
        let sent = socket.send_to(&self.out, peer);
        sent.map_err(|error| ErrorKind::of_io(&error))?;
        if one.first_ns.is_none() {
            one.first_ns = Some(now);
            one.heard_ns = now;
        }
        self.record.sent(number, now);
        Ok(())
    }

    /// Waits for events, and handles them. Returns how many datagrams came.
    fn turn(&mut self, until_ns: u64) -> std::io::Result<usize> {
        let count = self.poller.wait(until_ns)?;
        let mut came = 0;
        for event in 0..count {
            let (token, _) = self.poller.event(event);
            if token >= FIRST_SOCKET {
                came += self.receive((token - FIRST_SOCKET) as usize);
            } else {
                self.control_ended(token as usize);
            }
        }
        Ok(came)
    }

    fn control_ended(&mut self, index: usize) {
        let one = &mut self.associations[index];
        if one.is_open() {
            one.state = State::Down(ErrorKind::ControlClosed);
            one.ended_ns = Some(now_ns());
        }
    }

    fn receive(&mut self, index: usize) -> usize {
        let mut input = std::mem::take(&mut self.input);
        let mut came = 0;
        while came < AT_ONCE
            && let State::Open { socket, peer, .. } = &self.associations[index].state
            && let Ok((length, from)) = socket.recv_from(&mut input)
        {
            came += 1;
            let datagram = &input[..length];
            if from == *peer {
                self.take(index, datagram, now_ns());
            } else if self
                .payload(datagram)
                .and_then(|payload| self.pattern.sequence(payload))
                .is_some_and(|number| self.belongs(number, index))
            {
                self.tally.anomalies.other_source += 1;
                self.tally.other_source = Some(from);
            }
            // Any other one was meant for an earlier owner of this port.
        }
        self.input = input;
        came
    }

    fn payload<'d>(&self, datagram: &'d [u8]) -> Option<&'d [u8]> {
        udp_payload(datagram, self.plan.proxy.is_some())
    }

    fn belongs(&self, number: u32, index: usize) -> bool {
        number as usize % self.associations.len() == index
    }

    fn take(&mut self, index: usize, datagram: &[u8], now: u64) {
        let Some(payload) = self.payload(datagram) else {
            self.tally.anomalies.unexpected += 1;
            return;
        };
        let Some(number) = self.pattern.sequence(payload) else {
            if self.pattern.is_of_another(payload) {
                self.stale += 1;
            } else {
                self.tally.anomalies.unexpected += 1;
            }
            return;
        };
        let at = number as usize;
        if !self.belongs(number, index) {
            self.misdelivered += 1;
            self.tally.anomalies.unexpected += 1;
            return;
        }
        let answer = self.record.answered(at, now);
        match answer {
            Answer::Unknown => self.tally.anomalies.unexpected += 1,
            Answer::Duplicate => self.tally.anomalies.duplicated += 1,
            Answer::Late | Answer::InTime => {
                self.answered += 1;
                self.answered_bytes += payload.len() as u64;
                if number >= self.plan.spec.count as u32 {
                    let right = self.pattern.matches(number, payload);
                    self.kept += u64::from(right && answer == Answer::InTime);
                    return;
                }
                self.hear(index, at, now);
                if self.pattern.matches(number, payload) {
                    self.carries(index, now);
                }
                if answer == Answer::InTime {
                    self.in_time(number, payload, now);
                } else {
                    self.tally.anomalies.late += 1;
                }
            }
        }
    }

    /// Notes the order of a first answer, and the gap before it.
    fn hear(&mut self, index: usize, number: usize, now: u64) {
        let one = &mut self.associations[index];
        if number < one.expected {
            self.tally.anomalies.out_of_order += 1;
        }
        one.expected = one.expected.max(number + 1);
        let since = std::mem::replace(&mut one.heard_ns, now);
        self.gap(since, now);
    }

    /// Notes a right answer, which may be late: the association carries both ways.
    fn carries(&mut self, index: usize, now: u64) {
        let one = &mut self.associations[index];
        if !one.carried {
            one.carried = true;
            let since = one.first_ns.unwrap_or(now);
            self.tally.series[FIRST].record(now, now - since);
        }
    }

    fn in_time(&mut self, number: u32, payload: &[u8], now: u64) {
        self.tally.end_ns = now;
        if !self.pattern.matches(number, payload) {
            let short = payload.len() < self.pattern.size();
            let kind = if short {
                ErrorKind::Truncated
            } else {
                ErrorKind::Corrupted
            };
            self.tally.errors.add(kind, 1);
            return;
        }
        let intended_ns = self.timetable.intended_ns(u64::from(number));
        self.tally.series[ROUND_TRIP].record(now, now.saturating_sub(intended_ns));
        self.tally.success(payload.len() as u64);
    }

    fn gap(&mut self, since: u64, until: u64) {
        let start = self.timetable.intended_ns(0);
        if let Some(gaps) = &mut self.gaps
            && until.saturating_sub(since) > GAP_NS
            && gaps.len() < MOST_GAPS
        {
            gaps.push(Gap {
                at_s: seconds(since.saturating_sub(start)),
                ms: (until - since) as f64 / 1e6,
            });
        }
    }

    /// A gap may last to the end: to the moment at which the last datagram was intended.
    fn end_gaps(&mut self) {
        let last_ns = self.timetable.intended_ns(self.plan.spec.count - 1);
        for index in 0..self.associations.len() {
            let one = &self.associations[index];
            if one.first_ns.is_some() {
                self.gap(one.heard_ns, last_ns.min(now_ns()));
            }
        }
    }
}

/// The time without traffic, and a datagram through each association that is left.
impl Drive<'_> {
    pub fn idle(&mut self) -> std::io::Result<Option<Idle>> {
        let (plan, context) = (self.plan, self.context);
        if self.tally.stopped.is_some() {
            return Ok(None);
        }
        let open = self.associations.iter().filter(|one| one.is_open()).count() as u64;
        let since_ns = now_ns();
        let mut unasked = 0;
        let turn = |until_ns| {
            unasked += self.turn(until_ns)? as u64;
            Ok(())
        };
        let Some(Held { mut idle, began_ns }) = hold(plan, context, turn)? else {
            self.tally.stopped = context.must_stop(now_ns());
            return Ok(None);
        };
        self.again()?;
        let ended = self.associations.iter().filter_map(|one| one.ended_ns);
        idle.ended_s = ended
            .filter(|at_ns| *at_ns >= since_ns)
            .map(|at_ns| seconds(at_ns.saturating_sub(began_ns)))
            .collect();
        idle.ended_s.sort_by(f64::total_cmp);
        Ok(Some(Idle {
            open,
            unasked,
            answered: self.kept,
            ended_there_s: None,
            ..idle
        }))
    }

    /// Sends a datagram through each association that is open, at the rate of the others, and waits for the answers.
    fn again(&mut self) -> std::io::Result<()> {
        let spec = &self.plan.spec;
        let first = first_of(spec) as usize;
        let every_ns = (1e9 / self.plan.rate_per_s().unwrap_or(1.0)) as u64;
        let before = self.record.waiting;
        for index in 0..self.associations.len() {
            // A datagram that cannot be sent has no answer.
            let _ = self.send(first + index, now_ns());
            let until_ns = now_ns() + every_ns;
            while now_ns() < until_ns {
                self.turn(until_ns)?;
            }
        }
        let until_ns = now_ns() + self.plan.timeout.as_nanos() as u64;
        let stopped = || self.context.must_stop(now_ns()) == Some(Stopped::Cancelled);
        while self.record.waiting > before && now_ns() < until_ns && !stopped() {
            self.turn(until_ns)?;
        }
        Ok(())
    }
}
