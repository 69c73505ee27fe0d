//! Effects of limits while a window ran: of the system under test, and of the generators by others.

use std::sync::Arc;

use serde::Serialize;

use super::given::{self, Given};
use super::group::Limited;
use super::ledger::Ledger;
use super::numbers::Throttled;

/// Limits and their effects, as in JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    /// The run's limits for the system; null without. Peak memory and kills count from the start of each testbed.
    pub system: Option<Limited>,
    /// Limits of the generators' control groups; null if unknown.
    pub generator: Option<given::Shown>,
}

/// Throttling of the system and of the generators.
pub type Both = [Throttled; 2];

pub struct Watch {
    given: Given,
    ledger: Arc<Ledger>,
    begun: Option<Both>,
    /// Sum of earlier stretches.
    sum: Both,
}

impl Watch {
    /// `pids` are generators beside this process.
    pub fn new(pids: Vec<i32>, ledger: Arc<Ledger>) -> Self {
        Self {
            given: Given::of(pids),
            ledger,
            begun: None,
            sum: Both::default(),
        }
    }

    fn now(&self) -> Both {
        [self.ledger.throttled(), self.given.throttled()]
    }

    pub fn begin(&mut self) {
        self.begun = Some(self.now());
    }

    pub fn pause(&mut self) {
        self.sum = self.so_far();
        self.begun = None;
    }

    pub fn so_far(&self) -> Both {
        let mut sum = self.sum;
        if let Some(begun) = self.begun {
            for ((sum, now), then) in sum.iter_mut().zip(self.now()).zip(begun) {
                *sum += now - then;
            }
        }
        sum
    }

    /// Forgets what came after `sum`, between two stretches.
    pub fn return_to(&mut self, sum: Both) {
        self.sum = sum;
    }

    pub fn shown(&self) -> Shown {
        let [system, generator] = self.so_far();
        Shown {
            system: self.ledger.limited(system),
            generator: self.given.shown(generator),
        }
    }
}
