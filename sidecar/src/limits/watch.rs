//! Effects of limits while a window ran: of the system under test, and of the generators by others.

use std::sync::Arc;

use serde::Serialize;

use super::given::{self, Given};
use super::group::Limited;
use super::ledger::Ledger;
use super::numbers::Throttled;

/// Limits and their effects, as in JSON.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Shown {
    /// The run's limits for the system; null without. Peak memory and kills count from the start of each testbed, and not of testbeds that
    /// ended before the window.
    pub system: Option<Limited>,
    /// Limits of the generators' control groups; null if unknown.
    pub generator: Option<given::Shown>,
    /// Limits of control groups that hold the system, and not the generators; null without such groups.
    pub given: Option<given::Shown>,
}

/// Throttling of the system by the run's limits, of the generators, and of the system by limits of others.
pub type All = [Throttled; 3];

pub struct Watch {
    generator: Given,
    system: Given,
    /// Kills of the system by limits of others before.
    killed: Option<u64>,
    ledger: Arc<Ledger>,
    /// The number of groups that had ended before.
    ended: usize,
    begun: Option<All>,
    /// Sum of earlier stretches.
    sum: All,
}

impl Watch {
    /// `generators` are those beside this process.
    pub fn new(generators: Vec<i32>, system: Vec<i32>, ledger: Arc<Ledger>) -> Self {
        let me = std::process::id() as i32;
        let generator = Given::of(generators.into_iter().chain([me]));
        let system = Given::of(system).apart_from(&generator);
        Self {
            killed: system.killed(),
            generator,
            system,
            ended: ledger.ended(),
            ledger,
            begun: None,
            sum: All::default(),
        }
    }

    fn now(&self) -> All {
        [
            self.ledger.throttled(),
            self.generator.throttled(),
            self.system.throttled(),
        ]
    }

    pub fn begin(&mut self) {
        self.begun = Some(self.now());
    }

    pub fn pause(&mut self) {
        self.sum = self.so_far();
        self.begun = None;
    }

    pub fn so_far(&self) -> All {
        let mut sum = self.sum;
        if let Some(begun) = self.begun {
            for ((sum, now), then) in sum.iter_mut().zip(self.now()).zip(begun) {
                *sum += now - then;
            }
        }
        sum
    }

    /// Forgets what came after `sum`, between two stretches.
    pub fn return_to(&mut self, sum: All) {
        self.sum = sum;
    }

    pub fn shown(&self) -> Shown {
        let [system, generator, given] = self.so_far();
        let killed = self.system.killed().zip(self.killed);
        Shown {
            system: self.ledger.limited(system, self.ended),
            generator: self.generator.shown(generator),
            given: self.system.shown(given).map(|given| given::Shown {
                killed: killed.map(|(now, before)| now.saturating_sub(before)),
                ..given
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_of_a_system_that_ended_before_the_window_do_not_count() {
        let ledger = Ledger::new(Some("memory:64mib".parse().unwrap()));
        let killed = |watch: &Watch| watch.shown().system.unwrap().effects.killed;
        ledger.end(0, Some(1));
        let watch = Watch::new(Vec::new(), Vec::new(), Arc::clone(&ledger));
        assert_eq!(killed(&watch), None);
        ledger.end(0, Some(2));
        assert_eq!(killed(&watch), Some(2));
        let next = Watch::new(Vec::new(), Vec::new(), ledger);
        assert_eq!((killed(&watch), killed(&next)), (Some(2), None));
        assert_eq!(next.ledger.killed(), Some(3));
    }
}
