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

/// The effects of a group's limits that the run has too. A start may set others, which do not count.
fn counted(run: Limits, group: Limits, effects: Effects) -> Effects {
    let mut counted = Effects::default();
    if run.cpu_percent.is_some() && run.cpu_percent == group.cpu_percent {
        counted.throttled = effects.throttled;
    }
    if run.memory_bytes.is_some() && run.memory_bytes == group.memory_bytes {
        counted.peak_memory_bytes = effects.peak_memory_bytes;
        counted.killed = effects.killed;
    }
    counted
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

    /// A group for a testbed; `None` without limits. `given` are limits of the start alone, which may be none.
    pub fn group(&self, given: Option<Limits>) -> Result<Option<Arc<Group>>> {
        let limits = given.or(self.limits);
        let Some(limits) = limits.filter(|limits| *limits != Limits::default()) else {
            return Ok(None);
        };
        let group = Group::make(limits)?;
        self.state().living.push(Arc::clone(&group));
        Ok(Some(group))
    }

    fn counted(&self, group: &Group) -> Effects {
        counted(
            self.limits.unwrap_or_default(),
            group.limits,
            group.effects(),
        )
    }

    /// Removes a group, whose processes have ended.
    pub fn remove(&self, group: &Arc<Group>) {
        group.remove();
        let mut state = self.state();
        let before = state.living.len();
        state.living.retain(|living| !Arc::ptr_eq(living, group));
        if state.living.len() < before {
            add(&mut state.ended, self.counted(group));
        }
    }

    /// Counts of all groups of the run's limits, since the sidecar started.
    fn effects(&self) -> Effects {
        let state = self.state();
        let mut sum = state.ended;
        state
            .living
            .iter()
            .for_each(|group| add(&mut sum, self.counted(group)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_may_be_without_the_run_s_limits() {
        let ledger = Ledger::new(Some("memory:8mib".parse().unwrap()));
        assert!(ledger.group(Some(Limits::default())).unwrap().is_none());
    }

    #[test]
    fn only_effects_of_the_run_s_own_limits_count() {
        let throttled = Throttled {
            periods: 9,
            throttled_periods: 4,
            throttled_s: 0.5,
        };
        let effects = Effects {
            throttled,
            peak_memory_bytes: Some(7),
            killed: Some(1),
        };
        let counted_of = |run: &str, group: &str| {
            let all = counted(run.parse().unwrap(), group.parse().unwrap(), effects);
            (all.throttled.periods, all.peak_memory_bytes, all.killed)
        };
        let both = "cpu:50%,memory:64mib";
        assert_eq!(counted_of(both, both), (9, Some(7), Some(1)));
        assert_eq!(counted_of("cpu:50%", both), (9, None, None));
        assert_eq!(counted_of("memory:64mib", both), (0, Some(7), Some(1)));
        assert_eq!(counted_of("cpu:50%", "memory:64mib"), (0, None, None));
        assert_eq!(counted_of("cpu:50%,memory:8mib", both), (9, None, None));
        assert_eq!(counted_of("cpu:60%", both), (0, None, None));
    }
}
