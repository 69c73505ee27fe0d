//! All probes: running ones, each on a separate thread, and the last ones that ended.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde::Serialize;

use super::context::Context;
use super::far_end::FarEnd;
use super::kinds::{ErrorKind, ProbeError};
use super::observer::Observer;
use super::outcome::{Outcome, Stopped};
use super::plan::{Allowed, Plan};
use super::spec::ProbeKind;
use super::users::spec::UsersSpec;
use crate::failure::{Failure, Kind, Result};
use crate::lock::{lock, wait};
use crate::net::tag;
use crate::process::namespace::Namespace;

/// The most probes at once: more would measure each other.
pub const MAX_RUNNING: usize = 12;
/// The most probes of one user's tries (`until`) at once: each has one connection, or few.
pub const MAX_TRYING: usize = 64;
/// Ended probes that are kept; the oldest go first.
const KEPT: usize = 32;
/// How long a cancelled probe is waited for.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Running,
    Done,
    Cancelled,
    /// The probe could not measure at all.
    Failed,
}

/// A probe as JSON has it.
#[derive(Clone, Serialize)]
pub struct Probe {
    pub id: String,
    pub kind: ProbeKind,
    pub state: State,
    pub elapsed_s: f64,
    /// Measured operations that ended, and planned ones.
    pub done: u64,
    pub planned: u64,
    pub error: Option<ProbeError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Option<Arc<Outcome>>>,
}

struct End {
    state: State,
    elapsed_s: f64,
    error: Option<ProbeError>,
    outcome: Option<Arc<Outcome>>,
}

struct Entry {
    id: String,
    plan: Plan,
    context: Context,
    end: Mutex<Option<End>>,
    ended: Condvar,
}

pub struct Registry {
    pub allowed: Allowed,
    all: Mutex<Numbered>,
}

#[derive(Default)]
struct Numbered {
    last: u64,
    last_tag: u8,
    probes: BTreeMap<u64, Arc<Entry>>,
}

impl Registry {
    pub fn new(allowed: Allowed) -> Arc<Self> {
        Arc::new(Self {
            allowed,
            all: Mutex::default(),
        })
    }

    /// Starts a probe, in `namespace` if one is given, and returns its id. `far_end` is set if the far end is an echo server of this
    /// sidecar. A conflict if [`MAX_RUNNING`] probes run.
    pub fn start(
        &self,
        mut plan: Plan,
        namespace: Option<Arc<Namespace>>,
        observer: Observer,
        mut far_end: Option<FarEnd>,
    ) -> Result<String> {
        let mut all = lock(&self.all);
        let is_trying = |plan: &Plan| plan.spec.users.as_ref().is_some_and(UsersSpec::is_trying);
        let tries = is_trying(&plan);
        let most = if tries { MAX_TRYING } else { MAX_RUNNING };
        let same = |entry: &&Arc<Entry>| entry.runs() && is_trying(&entry.plan) == tries;
        if all.probes.values().filter(same).count() >= most {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{most} probes run, and more are not started"),
                "wait for one, or end one with DELETE /probes/ID",
            ));
        }
        let used: Vec<u8> = all
            .probes
            .values()
            .filter(|entry| entry.runs())
            .map(|entry| entry.plan.tag)
            .collect();
        plan.tag = tag::next(all.last_tag, &used);
        if let Some(far_end) = &mut far_end {
            far_end.begins(plan.tag);
        }
        let tag = plan.tag;
        let number = all.last + 1;
        let entry = Arc::new(Entry {
            id: format!("p{number}"),
            context: Context::new(&plan, observer, far_end),
            plan,
            end: Mutex::default(),
            ended: Condvar::new(),
        });
        let on_thread = Arc::clone(&entry);
        std::thread::Builder::new()
            .name("probe".to_owned())
            .spawn(move || on_thread.run(namespace))
            .map_err(Failure::of_limits("the probe has no thread"))?;
        all.last = number;
        all.last_tag = tag;
        let id = entry.id.clone();
        all.probes.insert(number, entry);
        let ended = all.probes.iter().filter(|(_, entry)| !entry.runs());
        let ended: Vec<u64> = ended.map(|(number, _)| *number).collect();
        for number in &ended[..ended.len().saturating_sub(KEPT)] {
            all.probes.remove(number);
        }
        Ok(id)
    }

    fn entry(&self, id: &str) -> Result<Arc<Entry>> {
        number(id)
            .and_then(|number| lock(&self.all).probes.get(&number).cloned())
            .ok_or_else(|| {
                Failure::not_found(
                    format!("there is no probe {id:?}"),
                    "POST /probes starts one",
                )
            })
    }

    /// Waits at most `patience` for the probe's end.
    pub fn probe(&self, id: &str, patience: Duration) -> Result<Probe> {
        let entry = self.entry(id)?;
        entry.wait(patience);
        Ok(entry.describe(true))
    }

    /// Without outcomes.
    pub fn list(&self) -> Vec<Probe> {
        let entries: Vec<_> = lock(&self.all).probes.values().cloned().collect();
        entries.iter().map(|entry| entry.describe(false)).collect()
    }

    /// The result, or none while the probe runs or if it has none.
    pub fn outcome(&self, id: &str) -> Result<Option<Arc<Outcome>>> {
        let entry = self.entry(id)?;
        let end = lock(&entry.end);
        Ok(end.as_ref().and_then(|end| end.outcome.clone()))
    }

    /// Cancels the probe if it runs, and removes it.
    pub fn forget(&self, id: &str) -> Result<State> {
        let entry = self.entry(id)?;
        entry.context.cancel();
        entry.wait(CANCEL_PATIENCE);
        if let Some(number) = number(id) {
            lock(&self.all).probes.remove(&number);
        }
        let end = lock(&entry.end);
        Ok(end.as_ref().map_or(State::Cancelled, |end| end.state))
    }

    /// Ends the probes in namespaces of an instance; their results are kept.
    pub fn cancel_of(&self, instance: &str) {
        let inside = |entry: &&Arc<Entry>| {
            let of = entry.plan.spec.namespace.as_ref();
            of.is_some_and(|of| of.instance == instance)
        };
        let entries: Vec<_> = lock(&self.all)
            .probes
            .values()
            .filter(inside)
            .cloned()
            .collect();
        entries.iter().for_each(|entry| entry.context.cancel());
        entries.iter().for_each(|entry| entry.wait(CANCEL_PATIENCE));
    }

    pub fn end(&self) {
        lock(&self.all)
            .probes
            .values()
            .for_each(|entry| entry.context.cancel());
    }
}

fn number(id: &str) -> Option<u64> {
    id.strip_prefix('p')?.parse().ok()
}

impl Entry {
    fn runs(&self) -> bool {
        lock(&self.end).is_none()
    }

    fn wait(&self, patience: Duration) {
        let _ended = wait(&self.ended, lock(&self.end), patience, |end| end.is_none());
    }

    /// The namespace is released before the probe's end is visible.
    fn run(&self, namespace: Option<Arc<Namespace>>) {
        let run = || super::run(&self.plan, namespace, &self.context);
        let result = catch_unwind(AssertUnwindSafe(run));
        let result = result.unwrap_or_else(|_| {
            Err(ProbeError::new(
                ErrorKind::Network,
                "the sidecar failed; report it",
            ))
        });
        self.context.over();
        let (state, error, outcome) = match result {
            Ok(outcome) if outcome.stopped == Some(Stopped::Cancelled) => {
                (State::Cancelled, None, Some(Arc::new(outcome)))
            }
            Ok(outcome) => (State::Done, None, Some(Arc::new(outcome))),
            Err(_) if self.context.cancelled() => (State::Cancelled, None, None),
            Err(error) => (State::Failed, Some(error), None),
        };
        *lock(&self.end) = Some(End {
            state,
            elapsed_s: self.context.elapsed_s(),
            error,
            outcome,
        });
        self.ended.notify_all();
    }

    fn describe(&self, with_outcome: bool) -> Probe {
        let end = lock(&self.end);
        let end = end.as_ref();
        let outcome = end.and_then(|end| end.outcome.clone());
        Probe {
            id: self.id.clone(),
            kind: self.plan.spec.kind,
            state: end.map_or(State::Running, |end| end.state),
            elapsed_s: end.map_or_else(|| self.context.elapsed_s(), |end| end.elapsed_s),
            done: self.context.done(),
            planned: self.plan.operations(),
            error: end.and_then(|end| end.error.clone()),
            outcome: with_outcome.then_some(outcome),
        }
    }
}
