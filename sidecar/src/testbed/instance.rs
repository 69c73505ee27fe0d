//! A started testbed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::variables::Values;
use crate::failure::{Failure, Result};
use crate::limits::group::Group;
use crate::limits::ledger::Ledger;
use crate::link::Link;
use crate::lock::lock;
use crate::process::folder::Folder;
use crate::process::holding::Holding;
use crate::process::kept::Kept;
use crate::process::namespace::{Namespace, Namespaces};
use crate::process::role::Role;
use crate::process::supervised::Supervised;
use crate::process::usage::Source;

pub struct Instance {
    pub id: String,
    pub testbed: String,
    /// All variables, with the port numbers that were chosen.
    pub variables: Values,
    pub outputs: BTreeMap<String, String>,
    /// Outputs that contain a secret. They are shown once, to the caller that started the instance.
    pub secret_outputs: BTreeMap<String, String>,
    pub versions: BTreeMap<String, String>,
    pub processes: Vec<Arc<Supervised>>,
    /// Holdings of the system when all processes were ready.
    pub(super) before: Vec<Holding>,
    pub log_dir: PathBuf,
    pub(super) namespaces: Mutex<Namespaces>,
    pub(super) link: Mutex<Option<Arc<Link>>>,
    pub(super) work: Mutex<Option<Folder>>,
    /// The control group of the system's processes, if they have limits.
    pub group: Option<Arc<Group>>,
    pub(super) ledger: Arc<Ledger>,
}

/// How a process of a stopped instance ended.
#[derive(Debug, Clone, Serialize)]
pub struct Stopped {
    pub name: String,
    pub exit: String,
}

impl Instance {
    /// The sources that windows measure, with names and roles.
    pub fn sources(&self) -> Vec<(String, Role, Source)> {
        let source = |process: &Arc<Supervised>| {
            let source = Source::Supervised(Arc::clone(process));
            (process.name.clone(), process.role, source)
        };
        self.processes.iter().map(source).collect()
    }

    /// The processes of the system.
    pub fn system(&self) -> impl Iterator<Item = &Arc<Supervised>> {
        system_of(&self.processes)
    }

    /// Compares what the system holds with what it held when it was ready. It gets at most `settle` to close descriptors ([`Kept::settle`]).
    pub fn held(&self, settle: Duration, closes_all: bool) -> Kept {
        let system = roots(&self.processes);
        let living: Vec<_> = system.map(|(name, _, pid)| (name, pid)).collect();
        Kept::settle(&self.before, &living, Instant::now(), settle, closes_all)
    }

    /// The names of its network namespaces.
    pub fn namespace_names(&self) -> Vec<String> {
        lock(&self.namespaces).keys().cloned().collect()
    }

    pub fn namespace(&self, name: &str) -> Result<Arc<Namespace>> {
        let namespaces = lock(&self.namespaces);
        namespaces.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = namespaces.keys().map(String::as_str).collect();
            Failure::invalid(
                format!("instance {} has no namespace {name:?}", self.id),
                match known.as_slice() {
                    [] => "name an instance that has some".to_owned(),
                    known => format!("there are {}", known.join(", ")),
                },
            )
        })
    }

    /// The link between the instance's ends; not found if it was started without one.
    pub fn link(&self) -> Result<Arc<Link>> {
        lock(&self.link).clone().ok_or_else(|| {
            Failure::not_found(
                format!("instance {} has no link", self.id),
                "start the testbed with one: {\"link\": {\"text\": \"far\"}}",
            )
        })
    }

    /// Stops all processes, the last started first. Then removes the working folder, the link and the namespaces.
    pub fn stop(&self) -> Vec<Stopped> {
        let mut stopped = stop_all(&self.processes);
        stopped.reverse();
        if let Some(group) = &self.group {
            end_group(group, &self.ledger, &self.processes);
        }
        drop(lock(&self.link).take());
        lock(&self.namespaces).clear();
        drop(lock(&self.work).take());
        stopped
    }
}

fn system_of(processes: &[Arc<Supervised>]) -> impl Iterator<Item = &Arc<Supervised>> {
    let is_system = |process: &&Arc<Supervised>| process.role == Role::System;
    processes.iter().filter(is_system)
}

/// The processes of the system, by name and pid.
pub(super) fn roots(
    processes: &[Arc<Supervised>],
) -> impl Iterator<Item = (String, Role, i32)> + '_ {
    system_of(processes).map(|process| (process.name.clone(), process.role, process.pid))
}

/// Removes the group of ended processes. Their logs say whether the kernel killed one of them for memory.
pub(super) fn end_group(group: &Arc<Group>, ledger: &Ledger, processes: &[Arc<Supervised>]) {
    ledger.remove(group);
    if let Some(killing) = group.killing() {
        let line = format!("the system was {killing}");
        system_of(processes).for_each(|process| process.log.note(&line));
    }
}

/// In the order of the stops: the last started process first.
pub(super) fn stop_all(processes: &[Arc<Supervised>]) -> Vec<Stopped> {
    processes
        .iter()
        .rev()
        .map(|process| Stopped {
            name: process.name.clone(),
            exit: process.stop(),
        })
        .collect()
}
