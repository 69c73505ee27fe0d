//! The groups of all systems under test that a run's limits apply to.

use std::sync::{Arc, Mutex};

use super::group::{Effects, Group, Limited};
use super::numbers::Throttled;
use super::spec::Limits;
use crate::failure::Result;
use crate::lock::lock;

#[derive(Debug, Default)]
pub struct Ledger {
    /// Limits of every testbed, unless its start names others.
    limits: Option<Limits>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    living: Vec<Arc<Group>>,
    /// In the order of their ends.
    ended: Vec<Effects>,
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

    /// A group for a testbed; `None` without limits. `given` are limits of the start alone, which may be none.
    pub fn group(&self, given: Option<Limits>) -> Result<Option<Arc<Group>>> {
        let limits = given.or(self.limits);
        let Some(limits) = limits.filter(|limits| *limits != Limits::default()) else {
            return Ok(None);
        };
        let group = Group::make(limits)?;
        lock(&self.state).living.push(Arc::clone(&group));
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
        let mut state = lock(&self.state);
        let before = state.living.len();
        state.living.retain(|living| !Arc::ptr_eq(living, group));
        if state.living.len() < before {
            let effects = self.counted(group);
            state.ended.push(effects);
        }
    }

    /// How many groups have ended since the sidecar started.
    pub fn ended(&self) -> usize {
        lock(&self.state).ended.len()
    }

    /// Counts of all groups of the run's limits, without the first groups that ended.
    fn effects(&self, without: usize) -> Effects {
        let state = lock(&self.state);
        let living = state.living.iter().map(|group| self.counted(group));
        let ended = state.ended.iter().skip(without).copied();
        let mut sum = Effects::default();
        ended.chain(living).for_each(|one| add(&mut sum, one));
        sum
    }

    /// Notes a group that has ended after periods in which the quota stopped it, and after kills.
    #[cfg(test)]
    pub fn end(&self, periods: u64, killed: Option<u64>) {
        lock(&self.state).ended.push(Effects {
            throttled: Throttled {
                periods,
                throttled_periods: periods,
                throttled_s: 0.0,
            },
            peak_memory_bytes: killed,
            killed,
        });
    }

    /// The throttled periods of all groups since the sidecar started.
    pub fn throttled(&self) -> Throttled {
        self.effects(0).throttled
    }

    /// Processes of all groups since the sidecar started, which the kernel killed for memory; `None` if unknown, or without groups.
    pub fn killed(&self) -> Option<u64> {
        self.effects(0).killed
    }

    /// The run's limits; `None` without. `throttled` counts for them while something was measured. Peak memory and kills are of all groups
    /// without the first groups that ended.
    pub fn limited(&self, throttled: Throttled, without: usize) -> Option<Limited> {
        let effects = Effects {
            throttled,
            ..self.effects(without)
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
