//! Associations without traffic, and a datagram through each that is left.

use super::drive::Drive;
use super::record::first_of;
use crate::net::clock::{now_ns, seconds};
use crate::probe::idle::{Held, hold};
use crate::probe::outcome::{Idle, Stopped};

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
            self.tally.stopped = context.must_stop(plan, now_ns());
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
        let stopped = || self.context.must_stop(self.plan, now_ns()) == Some(Stopped::Cancelled);
        while self.record.waiting > before && now_ns() < until_ns && !stopped() {
            self.turn(until_ns)?;
        }
        Ok(())
    }
}
