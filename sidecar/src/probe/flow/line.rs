//! One tunnel of a flow.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::progress::Came;
use crate::echo::flow::{Header, Incoming, Mark, Outgoing, Said, Way};
use crate::net::clock::{now_ns, seconds};
use crate::net::pace::{SLICE_NS, Timetable, exact_sleeps};
use crate::net::wait::not_yet;
use crate::probe::context::Context;
use crate::probe::download::BUFFER;
use crate::probe::far_end::{ANY, Bounds, Carried};
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::{Died, FlowTunnel, Stopped};
use crate::probe::plan::Plan;
use crate::probe::recorder::Series;
use crate::probe::stream::Stream;
use crate::probe::tally::Tally;

#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub began_ns: u64,
    pub measured_ns: u64,
    pub end_ns: u64,
    /// The end of the wait for the last answer.
    over_ns: u64,
}

impl Times {
    pub fn new(plan: &Plan, began_ns: u64) -> Self {
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let measured_ns = began_ns + ns(plan.flow.warmup_s);
        let end_ns = measured_ns + ns(plan.flow.seconds);
        Self {
            began_ns,
            measured_ns,
            end_ns,
            over_ns: end_ns + plan.timeout.as_nanos() as u64,
        }
    }

    /// Whether a request that was intended for this moment counts.
    fn measured(&self, intended_ns: u64) -> bool {
        (self.measured_ns..self.end_ns).contains(&intended_ns)
    }

    /// From the start to the end of the measured part.
    pub fn whole_ns(&self) -> u64 {
        self.end_ns - self.began_ns
    }
}

pub struct Ended {
    pub tally: Tally,
    pub tunnel: FlowTunnel,
    pub progress: Vec<Came>,
}

pub struct Line<'a> {
    plan: &'a Plan,
    context: &'a Context,
    stream: &'a Stream,
    times: Times,
    timetable: Timetable,
    /// Whether the last request has been sent, or the flow sends no requests.
    asked_all: bool,
    /// The next request's number, and when those on their way were intended.
    next: u64,
    waiting: BTreeMap<u64, u64>,
    outgoing: Outgoing,
    incoming: Incoming,
    buffer: Vec<u8>,
    /// The far end's last report.
    far: Said,
    last_came_ns: u64,
    progress: Vec<Came>,
    tally: Tally,
    measuring: bool,
    stopped: Option<Stopped>,
}

impl<'a> Line<'a> {
    pub fn run(plan: &'a Plan, context: &'a Context, stream: &'a Stream, times: Times) -> Ended {
        exact_sleeps();
        let flow = &plan.flow;
        let name = flow.congestion.as_deref().unwrap_or_default().as_bytes();
        let header = Header {
            tag: plan.tag,
            way: flow.direction,
            blocks: flow.blocks as usize,
            name_bytes: name.len(),
        };
        let blocks = match flow.direction {
            Way::Up => header.blocks,
            _ => 0,
        };
        let first = [header.encode().as_slice(), name].concat();
        let mut line = Self {
            plan,
            context,
            stream,
            times,
            timetable: Timetable::new(times.began_ns, flow.requests_per_s),
            asked_all: !flow.asks(),
            next: 0,
            waiting: BTreeMap::new(),
            outgoing: Outgoing::new(first, blocks),
            incoming: Incoming::default(),
            buffer: vec![0; BUFFER],
            far: Said {
                received: 0,
                sent: 0,
                at_ns: times.began_ns,
            },
            last_came_ns: times.began_ns,
            progress: Vec::new(),
            tally: Tally::new(vec![Series::new(
                "round_trip",
                flow.marks(),
                plan.spec.keep / plan.spec.connections,
            )]),
            measuring: false,
            stopped: None,
        };
        let result = line.go();
        line.ended(result)
    }

    /// Until its end. A failure is why the tunnel died.
    fn go(&mut self) -> Result<(), ErrorKind> {
        loop {
            let now = now_ns();
            self.stopped = self.context.must_stop(now);
            if self.stopped.is_some() {
                return Ok(());
            }
            if !self.measuring && now >= self.times.measured_ns {
                self.measuring = true;
                self.tally.begin();
                self.tally.intended_start(self.times.measured_ns);
            }
            self.ask(now);
            let over = now >= self.times.end_ns && self.has_heard_all();
            if over || now >= self.times.over_ns {
                return Ok(());
            }
            self.turn(now)?;
        }
    }

    /// Whether each request has its answer, and what has come upwards until the end is known.
    fn has_heard_all(&self) -> bool {
        let up = self.plan.flow.direction == Way::Up;
        let known = !up || self.far.at_ns >= self.times.end_ns;
        self.asked_all && self.waiting.is_empty() && known
    }

    /// When the next request is intended. The last one is at the end: its answer reports the bytes received so far, and it is in no
    /// count.
    fn due_ns(&self) -> u64 {
        self.timetable.intended_ns(self.next).min(self.times.end_ns)
    }

    fn ask(&mut self, now: u64) {
        while !self.asked_all {
            let intended_ns = self.due_ns();
            if intended_ns > now {
                return;
            }
            self.asked_all = intended_ns == self.times.end_ns;
            self.outgoing.mark(Mark::Request(self.next));
            self.waiting.insert(self.next, intended_ns);
            self.next += 1;
        }
    }

    fn turn(&mut self, now: u64) -> Result<(), ErrorKind> {
        let due = (!self.asked_all).then(|| self.due_ns());
        let until = [self.times.measured_ns, self.times.end_ns]
            .into_iter()
            .chain(due)
            .filter(|moment| *moment > now)
            .fold(now + SLICE_NS, u64::min);
        let wait = TimeSpec::from_duration(Duration::from_nanos(until - now));
        let mut events = PollFlags::empty();
        events.set(PollFlags::POLLIN, self.plan.flow.reads);
        events.set(PollFlags::POLLOUT, self.outgoing.wants());
        let mut ready = [PollFd::new(self.stream.as_fd(), events)];
        match ppoll(&mut ready, Some(wait), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(ErrorKind::of_io(&error.into())),
        }
        let ready = ready[0].revents().unwrap_or(PollFlags::empty());
        let ended = PollFlags::POLLHUP | PollFlags::POLLERR;
        if !self.plan.flow.reads && ready.intersects(ended) {
            return Err(ErrorKind::ConnectionReset);
        }
        if ready.intersects(PollFlags::POLLIN | ended) {
            self.read()?;
        }
        if ready.contains(PollFlags::POLLOUT) {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), ErrorKind> {
        let bytes = self.outgoing.next();
        let done = not_yet((&mut &*self.stream).write(bytes));
        if let Some(count) = done.map_err(|error| ErrorKind::of_io(&error))? {
            self.outgoing.written(count);
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), ErrorKind> {
        self.read_some()?;
        while self.stream.holds() {
            self.read_some()?;
        }
        Ok(())
    }

    fn read_some(&mut self) -> Result<(), ErrorKind> {
        let done = not_yet((&mut &*self.stream).read(&mut self.buffer));
        let count = match done.map_err(|error| ErrorKind::of_io(&error))? {
            None => return Ok(()),
            Some(0) => return Err(ErrorKind::Closed),
            Some(count) => count,
        };
        let now = now_ns();
        let mut marks = Vec::new();
        let taken = self
            .incoming
            .take(&self.buffer[..count], |mark| marks.push(mark));
        taken.map_err(|_| ErrorKind::Corrupted)?;
        if self.plan.flow.direction != Way::Up {
            self.came(now, now, count as u64);
        }
        for mark in marks {
            match mark {
                Mark::Answer(number, said) => self.answered(now, number, said)?,
                Mark::Report(said) => self.heard(said),
                Mark::Request(_) => return Err(ErrorKind::Corrupted),
            }
        }
        Ok(())
    }

    fn came(&mut self, since_ns: u64, by_ns: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.last_came_ns = self.last_came_ns.max(by_ns);
        let began_ns = self.times.began_ns;
        self.progress.push(Came {
            since_ns: since_ns.saturating_sub(began_ns),
            by_ns: by_ns.saturating_sub(began_ns),
            bytes,
        });
    }

    fn heard(&mut self, said: Said) {
        if self.plan.flow.direction == Way::Up {
            let bytes = said.received.saturating_sub(self.far.received);
            self.came(self.far.at_ns, said.at_ns, bytes);
        }
        self.far = said;
    }

    fn answered(&mut self, now: u64, number: u64, said: Said) -> Result<(), ErrorKind> {
        let Some(intended_ns) = self.waiting.remove(&number) else {
            return Err(ErrorKind::Corrupted);
        };
        self.heard(said);
        if !self.times.measured(intended_ns) {
            return Ok(());
        }
        let took_ns = now - intended_ns;
        if took_ns > self.plan.timeout.as_nanos() as u64 {
            self.tally.errors.add(ErrorKind::Timeout, 1);
        } else {
            self.tally.series[0].record(now, took_ns);
            self.tally.success(0);
        }
        self.context.add_done(1);
        Ok(())
    }

    fn ended(mut self, result: Result<(), ErrorKind>) -> Ended {
        let now = now_ns();
        let _ = self.stream.shutdown(Shutdown::Both);
        let started_ns = if self.measuring {
            self.times.measured_ns
        } else {
            self.tally.begin()
        };
        self.tally.end_ns = now.min(self.times.end_ns).max(started_ns);
        self.tally.end();
        let silent = self.plan.flow.reads
            && self.times.end_ns.saturating_sub(self.last_came_ns)
                > self.plan.stall.as_nanos() as u64;
        let died = match result {
            Err(kind) => Some((kind, now.min(self.times.end_ns))),
            Ok(()) if self.stopped.is_none() && silent => {
                Some((ErrorKind::Stalled, self.last_came_ns))
            }
            Ok(()) => None,
        };
        self.count_unanswered(died.map(|(kind, _)| kind));
        self.tally.stopped = self.stopped;
        // The far end sends without requests, so the probe has no upper bound.
        let down = Bounds::new(self.incoming.received, ANY);
        let confirmed = Bounds::new(self.far.received, self.outgoing.sent);
        let answered = self.incoming.received > 0;
        self.context
            .carry(Carried::tunnel(confirmed, down, answered));
        let up = self.plan.flow.direction == Way::Up;
        let (sent, received) = if up {
            (self.outgoing.sent, self.far.received)
        } else {
            (
                self.far.sent.max(self.incoming.received),
                self.incoming.received,
            )
        };
        Ended {
            tally: self.tally,
            tunnel: FlowTunnel {
                sent,
                received,
                died: died.map(|(kind, at_ns)| Died {
                    kind,
                    at_s: seconds(at_ns.saturating_sub(self.times.began_ns)),
                }),
            },
            progress: self.progress,
        }
    }

    /// Requests of the measured part without an answer. For a dead tunnel, requests that were due but not sent count too, and the count
    /// is at least one.
    fn count_unanswered(&mut self, died: Option<ErrorKind>) {
        let times = self.times;
        let unanswered = self.waiting.values().filter(|at| times.measured(**at));
        let mut unanswered = unanswered.count() as u64;
        let kind = match (died, self.stopped) {
            (Some(kind), _) => {
                let due = |number: &u64| self.timetable.intended_ns(*number);
                let unasked = (self.next..).take_while(|number| due(number) < times.end_ns);
                if self.plan.flow.asks() {
                    unanswered +=
                        unasked.filter(|number| times.measured(due(number))).count() as u64;
                }
                unanswered = unanswered.max(1);
                kind
            }
            (None, None) => ErrorKind::Timeout,
            (None, Some(Stopped::Limit)) => ErrorKind::Cut,
            (None, Some(_)) => return,
        };
        self.tally.errors.add(kind, unanswered);
    }
}
