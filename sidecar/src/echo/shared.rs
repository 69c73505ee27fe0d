//! State that the threads of one echo server share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::arrivals::Arrivals;
use super::counters::Counters;
use crate::lock::lock;
use crate::net::clock::ThreadClock;
use crate::net::pace::exact_sleeps;
use crate::net::wait::Wait;
use crate::process::cpus;

#[derive(Default)]
pub struct Shared {
    pub cpus: Vec<usize>,
    pub wait: Wait,
    pub counters: Arc<Counters>,
    pub arrivals: Arrivals,
    ending: AtomicBool,
    clocks: Mutex<Vec<Arc<ThreadClock>>>,
    ended_ns: AtomicU64,
}

impl Shared {
    pub fn new(cpus: Vec<usize>, wait: Wait) -> Arc<Self> {
        Arc::new(Self {
            cpus,
            wait,
            ..Self::default()
        })
    }

    pub fn ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    pub fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
    }

    /// Runs `work` on a new thread of this server. The thread is pinned, and its CPU time is counted.
    pub fn spawn(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Shared>) + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let shared = Arc::clone(self);
        std::thread::Builder::new()
            .name("echo".into())
            .spawn(move || shared.run(|| work(&shared)))
    }

    /// Runs `work` in the same way on the calling thread, which ends afterwards.
    pub fn run(&self, work: impl FnOnce()) {
        let clock = Arc::new(ThreadClock::default());
        clock.enter();
        self.clocks().push(Arc::clone(&clock));
        // The CPUs were checked before the server started.
        let _ = cpus::bind(&self.cpus);
        exact_sleeps();
        work();
        clock.leave();
        let mut clocks = self.clocks();
        clocks.retain(|other| !Arc::ptr_eq(other, &clock));
        self.ended_ns.fetch_add(clock.used_ns(), Ordering::SeqCst);
    }

    /// CPU time of all threads, including threads that have ended, ns.
    pub fn cpu_ns(&self) -> u64 {
        let clocks = self.clocks();
        let living: u64 = clocks.iter().map(|clock| clock.used_ns()).sum();
        living + self.ended_ns.load(Ordering::SeqCst)
    }

    fn clocks(&self) -> MutexGuard<'_, Vec<Arc<ThreadClock>>> {
        lock(&self.clocks)
    }
}
