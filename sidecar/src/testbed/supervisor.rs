//! All running testbeds of this sidecar.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::catalogue::{Catalogue, Changed, Testbed};
use super::hop::{Over, Place};
use super::instance::{Instance, Stopped};
use super::launch::{Asked, Launch};
use super::ports;
use super::secrets::random_hex;
use super::variables::resolve;
use crate::failure::{Failure, Kind, Result};
use crate::limits::ledger::Ledger;
use crate::limits::spec::Limits;
use crate::limits::stale;
use crate::lock::lock;
use crate::process::namespace::Namespace;
use crate::process::namespace::NamespaceOf;
use crate::process::windows::Windows;

/// The most further attempts of a start, if another process took a port that was chosen here.
const RETRIES: usize = 3;
/// Time between two records of each process's descendants. The records are needed if its guard is killed.
const REMEMBER_EVERY: Duration = Duration::from_millis(250);

pub struct Supervisor {
    pub catalogue: Catalogue,
    pub windows: Arc<Windows>,
    ledger: Arc<Ledger>,
    log_dir: PathBuf,
    ending: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    instances: BTreeMap<String, Arc<Instance>>,
    /// Testbed files that were started, by name, and when they changed. Their check takes a third of a start.
    testbeds: BTreeMap<String, (Changed, Arc<Testbed>)>,
    /// Starts and stops that are under way.
    busy: usize,
    /// Ports that were chosen. A port is chosen only once while this sidecar lives.
    used_ports: HashSet<u16>,
}

impl Supervisor {
    /// `log_dir` is the folder of the logs, with a folder per instance. The default is `results/sidecar-logs`. `limits` apply to the system's
    /// processes of each testbed, unless its start names others.
    pub fn new(
        catalogue: Catalogue,
        log_dir: Option<PathBuf>,
        limits: Option<Limits>,
    ) -> Result<Arc<Self>> {
        let log_dir =
            log_dir.unwrap_or_else(|| catalogue.root.join("results").join("sidecar-logs"));
        let log_dir = std::path::absolute(&log_dir).map_err(Failure::of_invalid(
            format!("--log-dir {}", log_dir.display()),
            "give another",
        ))?;
        // Processes of a killed guard become children of this process.
        nix::sys::prctl::set_child_subreaper(true).map_err(Failure::of_setup(
            "cannot adopt orphans",
            "use Linux 3.4 or later",
        ))?;
        stale::clear();
        let ledger = Ledger::new(limits);
        let supervisor = Arc::new(Self {
            catalogue,
            windows: Windows::new(Arc::clone(&ledger)),
            ledger,
            log_dir,
            ending: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let rememberer = Arc::downgrade(&supervisor);
        std::thread::spawn(move || {
            while let Some(supervisor) = rememberer.upgrade() {
                for instance in supervisor.instances() {
                    instance
                        .processes
                        .iter()
                        .for_each(|process| process.remember());
                }
                drop(supervisor);
                std::thread::sleep(REMEMBER_EVERY);
            }
        });
        Ok(supervisor)
    }

    /// Starts a testbed, and returns when all of its processes are ready. `abandoned` becomes true if the caller no longer waits.
    pub fn start(
        &self,
        name: &str,
        asked: &Asked,
        abandoned: &dyn Fn() -> bool,
    ) -> Result<Arc<Instance>> {
        {
            let mut state = lock(&self.state);
            if self.ending() {
                return Err(ending());
            }
            state.busy += 1;
        }
        let started = self.launch(name, asked, abandoned);
        let mut state = lock(&self.state);
        state.busy -= 1;
        let result = started.map(|instance| {
            let instance = Arc::new(instance);
            state
                .instances
                .insert(instance.id.clone(), Arc::clone(&instance));
            instance
        });
        drop(state);
        self.changed.notify_all();
        result
    }

    /// A testbed, which is read at its first start, and again after a change.
    fn testbed(&self, name: &str) -> Result<Arc<Testbed>> {
        let changed = self.catalogue.changed(name);
        if let Some((then, known)) = lock(&self.state).testbeds.get(name)
            && *then == changed
        {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(self.catalogue.load(name)?);
        lock(&self.state)
            .testbeds
            .insert(name.to_owned(), (changed, Arc::clone(&read)));
        Ok(read)
    }

    fn launch(&self, name: &str, asked: &Asked, abandoned: &dyn Fn() -> bool) -> Result<Instance> {
        let testbed = self.testbed(name)?;
        let variables = resolve(name, &testbed.file.variables, &asked.variables)?;
        let place = match &asked.over {
            Over::Loopback => Place::Loopback,
            Over::Link(wanted) => Place::Link {
                spec: Box::new(crate::link::spec::read(&self.catalogue.root, &wanted.text)?),
                cpus: wanted.cpus.clone(),
            },
            Over::Within(of) => Place::Within(self.namespace(of)?),
        };
        let id = format!("{name}-{}", random_hex(4)?);
        let cancelled = || self.ending() || abandoned();
        let launch = Launch {
            testbed: &testbed,
            place,
            limits: asked.limits,
            ledger: Arc::clone(&self.ledger),
            root: &self.catalogue.root,
            logs: &self.log_dir,
            log_name: asked.log_name.as_deref().unwrap_or(&id),
            log_dir: OnceCell::new(),
            id: id.clone(),
            cancelled: &cancelled,
            reserve_ports: &|count| self.reserve_ports(count),
        };
        let mut retries = RETRIES;
        loop {
            match launch.attempt(&variables) {
                Ok(instance) => return Ok(instance),
                Err(attempt) if attempt.port_was_taken && retries > 0 && !cancelled() => {
                    retries -= 1
                }
                Err(attempt) => {
                    // Removal fails if the folder has logs.
                    let _ = launch.log_dir.get().map(std::fs::remove_dir);
                    return Err(attempt.failure);
                }
            }
        }
    }

    fn reserve_ports(&self, count: usize) -> std::io::Result<Vec<u16>> {
        let mut state = lock(&self.state);
        let found = ports::free(count, &state.used_ports)?;
        state.used_ports.extend(&found);
        Ok(found)
    }

    pub fn instances(&self) -> Vec<Arc<Instance>> {
        lock(&self.state).instances.values().cloned().collect()
    }

    /// Processes of systems with the run's limits that the kernel has killed for memory; `None` if unknown.
    pub fn killed(&self) -> Option<u64> {
        self.ledger.killed()
    }

    pub fn instance(&self, id: &str) -> Result<Arc<Instance>> {
        lock(&self.state)
            .instances
            .get(id)
            .cloned()
            .ok_or_else(|| unknown(id))
    }

    pub fn namespace(&self, of: &NamespaceOf) -> Result<Arc<Namespace>> {
        self.instance(&of.instance)?.namespace(&of.name)
    }

    /// Stops one instance. A second stop reports that the instance is not found.
    pub fn stop(&self, id: &str) -> Result<Vec<Stopped>> {
        let instance = {
            let mut state = lock(&self.state);
            let instance = state.instances.remove(id).ok_or_else(|| unknown(id))?;
            state.busy += 1;
            instance
        };
        self.windows.look();
        let stopped = instance.stop();
        self.windows.look();
        lock(&self.state).busy -= 1;
        self.changed.notify_all();
        Ok(stopped)
    }

    pub fn ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// Stops everything, including starts that are under way, and prevents new starts.
    pub fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        let state = lock(&self.state);
        let mut state = self
            .changed
            .wait_while(state, |state| state.busy > 0)
            .unwrap_or_else(PoisonError::into_inner);
        let instances = std::mem::take(&mut state.instances);
        drop(state);
        self.windows.look();
        std::thread::scope(|scope| {
            for instance in instances.values() {
                scope.spawn(|| instance.stop());
            }
        });
    }
}

fn unknown(id: &str) -> Failure {
    Failure::not_found(
        format!("there is no instance {id:?}"),
        "GET /instances lists them",
    )
}

fn ending() -> Failure {
    Failure::new(Kind::Conflict, "the sidecar is ending", "start another")
}
