//! The event loop of many connections: events and deadlines on one thread, operations by timetable.

use std::collections::VecDeque;

use super::slot::{Operation, Scratch, Slot};
use crate::net::clock::now_ns;
use crate::net::pace::SLICE_NS;
use crate::net::poller::{Flags, Poller};
use crate::probe::context::Context;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::outcome::Stopped;
use crate::probe::plan::Plan;
use crate::probe::socks5::opening::{HANDSHAKES, Opening, Tunnel};
use crate::probe::tally::FAILURES_IN_A_ROW;

/// An event of a tunnel or an operation.
pub enum Happened {
    /// A tunnel that [`Drive::open`] requested is usable.
    Opened {
        began_ns: u64,
        ended_ns: u64,
    },
    NotOpened {
        error: ProbeError,
        ended_ns: u64,
    },
    /// A request went out for the first time.
    Sent {
        operation: Operation,
        now_ns: u64,
    },
    Answered {
        operation: Operation,
        now_ns: u64,
    },
    Failed {
        error: ErrorKind,
        now_ns: u64,
    },
}

pub struct Drive<'a> {
    pub plan: &'a Plan,
    pub context: &'a Context,
    poller: Poller,
    pub slots: Vec<Slot>,
    scratch: Scratch,
    serial: u64,
    /// Handshakes on their way, and slots that wait for one to end.
    handshakes: usize,
    to_dial: VecDeque<usize>,
    /// All deadlines of one kind are equally far off, so the first to come is the first to go.
    dial_deadlines: VecDeque<(u64, usize, u64)>,
    deadlines: VecDeque<(u64, usize, u64)>,
    /// Slots without an operation that may begin their next one.
    pub free: VecDeque<usize>,
    /// Since the caller looked, in its order.
    pub happened: Vec<Happened>,
    failures: u64,
}

impl<'a> Drive<'a> {
    pub fn new(plan: &'a Plan, context: &'a Context) -> std::io::Result<Self> {
        let connections = plan.spec.connections as usize;
        Ok(Self {
            plan,
            context,
            poller: Poller::new(plan.spec.wait)?,
            slots: (0..connections).map(|_| Slot::default()).collect(),
            scratch: Scratch::new(plan.pattern()),
            serial: 0,
            handshakes: 0,
            to_dial: VecDeque::new(),
            dial_deadlines: VecDeque::with_capacity(connections),
            deadlines: VecDeque::with_capacity(connections),
            free: VecDeque::with_capacity(connections),
            happened: Vec::with_capacity(connections),
            failures: 0,
        })
    }

    pub fn stopped(&self) -> Option<Stopped> {
        if self.failing() {
            return Some(Stopped::Failures);
        }
        self.context.must_stop(now_ns())
    }

    /// Whether the number of failures in a row ends the probe.
    pub fn failing(&self) -> bool {
        self.failures >= u64::from(FAILURES_IN_A_ROW) * self.slots.len() as u64
    }

    /// Sets when the next operation is due, before the current one goes out.
    pub fn expect(&mut self, next_ns: u64) -> std::io::Result<()> {
        self.poller.expect(next_ns)
    }

    /// Adds the bytes of the tunnels that are still open to the probe's counts.
    pub fn let_go(&mut self) {
        for slot in &mut self.slots {
            self.context.carry(slot.carried());
        }
    }

    pub fn opening(&self) -> bool {
        self.handshakes > 0 || !self.to_dial.is_empty()
    }

    pub fn under_way(&self) -> u64 {
        let has_one = |slot: &&Slot| slot.operation.is_some();
        self.slots.iter().filter(has_one).count() as u64
    }

    pub fn usable(&self) -> Vec<usize> {
        let is_open = |index: &usize| matches!(self.slots[*index].tunnel, Tunnel::Open(_));
        (0..self.slots.len()).filter(is_open).collect()
    }

    /// Waits for events until `until_ns` at the latest, and handles them and what is overdue.
    pub fn turn(&mut self, until_ns: u64) -> std::io::Result<()> {
        let fronts = [self.dial_deadlines.front(), self.deadlines.front()];
        let until_ns = fronts
            .into_iter()
            .flatten()
            .map(|(deadline_ns, _, _)| *deadline_ns)
            .fold(until_ns, u64::min)
            .min(now_ns() + SLICE_NS);
        let count = self.poller.wait(until_ns)?;
        for index in 0..count {
            let (token, flags) = self.poller.event(index);
            self.event(token as usize, flags);
        }
        self.expire();
        Ok(())
    }

    fn event(&mut self, index: usize, flags: Flags) {
        let slot = &mut self.slots[index];
        match &mut slot.tunnel {
            Tunnel::Down => {}
            Tunnel::Opening(opening) => match opening.step(self.plan) {
                Ok(true) => self.opened(index),
                Ok(false) => {
                    let wanted = opening.wanted();
                    let changed = self.poller.modify(&opening.stream, index as u64, wanted);
                    if let Err(error) = changed {
                        let error = ProbeError::io("epoll", &error);
                        self.not_opened(index, error);
                    }
                }
                Err(error) => self.not_opened(index, error),
            },
            Tunnel::Open(stream) => match &mut slot.operation {
                None => slot.unasked(),
                Some(operation) => {
                    let (_, before) = operation.moved();
                    let received = operation.receive(stream, &mut self.scratch);
                    slot.got += operation.moved().1 - before;
                    match received {
                        Ok(true) => self.answered(index),
                        Ok(false) if flags.contains(Flags::OUT) => self.send(index),
                        Ok(false) => {}
                        Err(error) => self.failed(index, error.kind),
                    }
                }
            },
        }
    }

    /// Begins an operation on a slot that has none.
    pub fn begin(&mut self, index: usize, intended_ns: Option<u64>) {
        self.serial += 1;
        let slot = &mut self.slots[index];
        let due_ns = intended_ns.map(|intended| intended.max(slot.free_since_ns));
        slot.operation = Some(Operation::new(self.serial, intended_ns, due_ns));
        if let Some(broken) = slot.broken.take() {
            self.failed(index, broken.error);
        } else if matches!(slot.tunnel, Tunnel::Down) {
            self.open(index);
        } else {
            self.send(index);
        }
    }

    fn send(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let (Tunnel::Open(stream), Some(operation)) = (&slot.tunnel, &mut slot.operation) else {
            return;
        };
        let size = self.plan.spec.payload_bytes as usize;
        let first = operation.sent_ns.is_none();
        if first {
            let now = now_ns();
            operation.sent_ns = Some(now);
            let deadline_ns = now + self.plan.timeout.as_nanos() as u64;
            self.deadlines
                .push_back((deadline_ns, index, operation.serial));
            self.happened.push(Happened::Sent {
                operation: *operation,
                now_ns: now,
            });
        }
        let (before, _) = operation.moved();
        let sent = operation.send(stream, &mut self.scratch);
        slot.sent += operation.moved().0 - before;
        let sent = sent.and_then(|()| {
            let all = operation.all_sent(size);
            if first && all {
                return Ok(());
            }
            let wanted = if all {
                Flags::IN
            } else {
                Flags::IN | Flags::OUT
            };
            self.poller
                .modify(stream, index as u64, wanted)
                .map_err(|error| ProbeError::io("epoll", &error))
        });
        if let Err(error) = sent {
            self.failed(index, error.kind);
        }
    }

    fn answered(&mut self, index: usize) {
        let now_ns = now_ns();
        let timeout_ns = self.plan.timeout.as_nanos() as u64;
        let sent_ns = self.slots[index]
            .operation
            .and_then(|operation| operation.sent_ns);
        if sent_ns.is_some_and(|sent| now_ns >= sent + timeout_ns) {
            return self.failed(index, ErrorKind::Timeout);
        }
        self.slots[index].free_since_ns = now_ns;
        if let Some(operation) = self.slots[index].operation.take() {
            self.failures = 0;
            self.happened.push(Happened::Answered { operation, now_ns });
        }
        self.free.push_back(index);
    }

    /// An operation that fails ends its tunnel; the next one opens another.
    fn failed(&mut self, index: usize, error: ErrorKind) {
        let slot = &mut self.slots[index];
        slot.tunnel = Tunnel::Down;
        slot.operation = None;
        slot.free_since_ns = now_ns();
        self.context.carry(slot.carried());
        self.failures += 1;
        self.happened.push(Happened::Failed {
            error,
            now_ns: slot.free_since_ns,
        });
        self.free.push_back(index);
    }

    fn expire(&mut self) {
        let now = now_ns();
        while let Some((deadline_ns, index, serial)) = self.deadlines.front().copied() {
            let operation = &self.slots[index].operation;
            let waits = operation.is_some_and(|operation| operation.serial == serial);
            if waits && deadline_ns > now {
                break;
            }
            self.deadlines.pop_front();
            if waits {
                self.failed(index, ErrorKind::Timeout);
            }
        }
        self.expire_dials(now);
    }
}

/// The part that opens tunnels.
impl Drive<'_> {
    /// Opens a slot's tunnel, as soon as there are fewer than [`HANDSHAKES`] on their way.
    pub fn open(&mut self, index: usize) {
        self.to_dial.push_back(index);
        self.dial();
    }

    fn dial(&mut self) {
        while self.handshakes < HANDSHAKES {
            let Some(index) = self.to_dial.pop_front() else {
                return;
            };
            let slot = &mut self.slots[index];
            slot.dials += 1;
            slot.began_ns = now_ns();
            let deadline_ns = slot.began_ns + self.plan.handshake_timeout.as_nanos() as u64;
            self.dial_deadlines
                .push_back((deadline_ns, index, slot.dials));
            self.handshakes += 1;
            let begun = Opening::begin(self.plan).and_then(|opening| {
                self.poller
                    .add(&opening.stream, index as u64, opening.wanted())
                    .map_err(|error| ProbeError::io("epoll", &error))?;
                Ok(opening)
            });
            match begun {
                Ok(opening) => slot.tunnel = Tunnel::Opening(Box::new(opening)),
                Err(error) => self.ended(index, Err(error)),
            }
        }
    }

    fn opened(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Tunnel::Opening(opening) = std::mem::replace(&mut slot.tunnel, Tunnel::Down) else {
            return;
        };
        let stream = opening.stream;
        let result = self
            .poller
            .modify(&stream, index as u64, Flags::IN)
            .map_err(|error| ProbeError::io("epoll", &error));
        slot.tunnel = Tunnel::Open(stream);
        self.ended(index, result);
        self.dial();
    }

    fn not_opened(&mut self, index: usize, error: ProbeError) {
        self.ended(index, Err(error));
        self.dial();
    }

    /// A handshake is over: it was an operation's, or one of all that are opened at the start.
    fn ended(&mut self, index: usize, result: Result<(), ProbeError>) {
        self.handshakes -= 1;
        let slot = &mut self.slots[index];
        if result.is_err() {
            slot.tunnel = Tunnel::Down;
        }
        let has_operation = slot.operation.is_some();
        let (began_ns, ended_ns) = (slot.began_ns, now_ns());
        match result {
            Ok(()) if has_operation => {
                if let Some(operation) = &mut slot.operation {
                    operation.due_ns = operation.due_ns.map(|due| due.max(ended_ns));
                }
                self.send(index);
            }
            Err(error) if has_operation => self.failed(index, error.kind),
            Ok(()) => self.happened.push(Happened::Opened { began_ns, ended_ns }),
            Err(error) => self.happened.push(Happened::NotOpened { error, ended_ns }),
        }
    }

    fn expire_dials(&mut self, now: u64) {
        while let Some((deadline_ns, index, dials)) = self.dial_deadlines.front().copied() {
            let slot = &self.slots[index];
            let late = match &slot.tunnel {
                Tunnel::Opening(opening) if slot.dials == dials => Some(opening.late(self.plan)),
                _ => None,
            };
            if late.is_some() && deadline_ns > now {
                break;
            }
            self.dial_deadlines.pop_front();
            if let Some(error) = late {
                self.not_opened(index, error);
            }
        }
    }
}
