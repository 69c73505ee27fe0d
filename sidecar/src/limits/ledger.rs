//! The groups of all systems under test that a run's limits apply to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::group::{Effects, Group, Limited};
use super::numbers::Throttled;
use super::spec::Limits;
use crate::failure::Result;

#[derive(Debug, Default)]
pub struct Ledger {
    /// Limits of every testbed, unless its start names others.
    limits: Option<Limits>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    living: Vec<Arc<Group>>,
    ended: Effects,
}

/// The sum of counts, and the largest peak.
fn add(sum: &mut Effects, one: Effects) {
    sum.throttled += one.throttled;
    sum.peak_memory_bytes = sum.peak_memory_bytes.max(one.peak_memory_bytes);
    sum.killed = match (sum.killed, one.killed) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    };
}

impl Ledger {
    pub fn new(limits: Option<Limits>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A group for a testbed; `None` without limits. `given` are limits of the start alone, which the ledger does not count.
    pub fn group(&self, given: Option<Limits>) -> Result<Option<Arc<Group>>> {
        let Some(limits) = given.or(self.limits) else {
            return Ok(None);
        };
        let group = Group::make(limits)?;
        if given.is_none() {
            self.state().living.push(Arc::clone(&group));
        }
        Ok(Some(group))
    }

    /// Removes a group, whose processes have ended.
    pub fn remove(&self, group: &Arc<Group>) {
        group.remove();
        let mut state = self.state();
        let before = state.living.len();
        state.living.retain(|living| !Arc::ptr_eq(living, group));
        if state.living.len() < before {
            add(&mut state.ended, group.effects());
        }
    }

    /// Counts of all groups of the run's limits, since the sidecar started.
    fn effects(&self) -> Effects {
        let state = self.state();
        let mut sum = state.ended;
        state
            .living
            .iter()
            .for_each(|group| add(&mut sum, group.effects()));
        sum
    }

    /// Adds periods in which the quota stopped the system.
    #[cfg(test)]
    pub fn throttle(&self, periods: u64) {
        self.state().ended.throttled += Throttled {
            periods,
            throttled_periods: periods,
            throttled_s: 0.0,
        };
    }

    pub fn throttled(&self) -> Throttled {
        self.effects().throttled
    }

    /// The run's limits; `None` without. `throttled` counts for them while something was measured.
    pub fn limited(&self, throttled: Throttled) -> Option<Limited> {
        let effects = Effects {
            throttled,
            ..self.effects()
        };
        Some(Limited::new(self.limits?, effects))
    }
}
