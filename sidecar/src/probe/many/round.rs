//! A given number of operations, in turn on all tunnels that could be opened.

use super::drive::{Drive, Happened};
use crate::net::clock::now_ns;
use crate::net::pace::Timetable;
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::Stopped;
use crate::probe::tally::{LATENESS, ROUND_TRIP, Tally};

pub struct Round<'a> {
    count: u64,
    timetable: Option<Timetable>,
    measured: bool,
    /// Operations whose time has come.
    started: u64,
    ended: u64,
    tally: &'a mut Tally,
}

impl<'a> Round<'a> {
    /// Without a timetable it is a closed loop.
    pub fn new(count: u64, timetable: Option<Timetable>, tally: &'a mut Tally) -> Self {
        Self {
            count,
            timetable,
            measured: false,
            started: 0,
            ended: 0,
            tally,
        }
    }

    /// Counts this round's operations in the probe's visible progress.
    pub fn measured(mut self) -> Self {
        self.measured = true;
        self
    }

    /// Returns why the round ended before all operations had ended.
    pub fn run(
        mut self,
        drive: &mut Drive<'_>,
        usable: &[usize],
    ) -> std::io::Result<Option<Stopped>> {
        drive.happened.clear();
        drive.free.clear();
        drive.free.extend(usable);
        loop {
            let until_ns = match self.timetable {
                None => self.closed(drive),
                Some(timetable) => self.open(drive, timetable, usable)?,
            };
            self.hear(drive);
            if self.ended < self.count {
                self.turn(drive, until_ns)?;
            }
            if self.measured {
                drive.context.set_done(self.ended);
            }
            if self.ended >= self.count {
                return Ok(None);
            }
            match drive.stopped() {
                None => {}
                Some(Stopped::Limit) => return self.wait_for_the_rest(drive),
                stopped => return Ok(stopped),
            }
        }
    }

    fn turn(&mut self, drive: &mut Drive<'_>, until_ns: u64) -> std::io::Result<()> {
        drive.turn(until_ns)?;
        self.hear(drive);
        Ok(())
    }

    fn hear(&mut self, drive: &mut Drive<'_>) {
        for happened in drive.happened.drain(..) {
            match happened {
                Happened::Sent { operation, now_ns } => {
                    if let Some(due_ns) = operation.due_ns {
                        self.tally.series[LATENESS].record(now_ns, now_ns.saturating_sub(due_ns));
                    }
                }
                Happened::Answered { operation, now_ns } => {
                    let from_ns = operation.intended_ns.or(operation.sent_ns);
                    self.tally.series[ROUND_TRIP]
                        .record(now_ns, now_ns - from_ns.unwrap_or(now_ns));
                    self.tally.success(drive.plan.spec.payload_bytes);
                    self.tally.end_ns = now_ns;
                    self.ended += 1;
                }
                Happened::Failed { error, now_ns } => {
                    self.tally.errors.add(error, 1);
                    self.tally.end_ns = now_ns;
                    self.ended += 1;
                }
                Happened::Opened { .. } | Happened::NotOpened { .. } => {}
            }
        }
    }

    /// After the limit: operations that have begun keep their timeout, and all of them are counted.
    fn wait_for_the_rest(&mut self, drive: &mut Drive<'_>) -> std::io::Result<Option<Stopped>> {
        let most = drive.plan.handshake_timeout + drive.plan.timeout;
        let until_ns = now_ns() + most.as_nanos() as u64;
        while drive.under_way() > 0 && now_ns() < until_ns && !drive.context.cancelled() {
            self.turn(drive, until_ns)?;
        }
        self.tally.errors.add(ErrorKind::Cut, drive.under_way());
        let whole = self.ended >= self.count;
        let stopped = drive.context.must_stop(now_ns());
        Ok(stopped.filter(|_| !whole))
    }

    /// Any free slot begins the next operation.
    fn closed(&mut self, drive: &mut Drive<'_>) -> u64 {
        while self.started < self.count
            && !drive.failing()
            && let Some(index) = drive.free.pop_front()
        {
            self.started += 1;
            drive.begin(index, None);
        }
        u64::MAX
    }

    /// Begins the operations that are due, and returns when the next one is due.
    fn open(
        &mut self,
        drive: &mut Drive<'_>,
        timetable: Timetable,
        usable: &[usize],
    ) -> std::io::Result<u64> {
        loop {
            while !drive.failing()
                && let Some(index) = drive.free.pop_front()
            {
                self.next_on(drive, index);
            }
            if self.started == self.count || drive.failing() {
                return Ok(u64::MAX);
            }
            let intended_ns = timetable.intended_ns(self.started);
            if intended_ns > now_ns() {
                return Ok(intended_ns);
            }
            let index = usable[(self.started % usable.len() as u64) as usize];
            self.started += 1;
            drive.expect(timetable.intended_ns(self.started))?;
            drive.slots[index].waiting.push_back(intended_ns);
            self.next_on(drive, index);
        }
    }

    fn next_on(&mut self, drive: &mut Drive<'_>, index: usize) {
        let slot = &mut drive.slots[index];
        if slot.operation.is_none()
            && let Some(intended_ns) = slot.waiting.pop_front()
        {
            drive.begin(index, Some(intended_ns));
        }
    }
}
