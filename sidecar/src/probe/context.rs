//! State that a running probe shares with its caller.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::far_end::{Carried, Counts, FarEnd};
use super::observer::Observer;
use super::outcome::Stopped;
use super::plan::Plan;
use super::tls::Session;
use crate::lock::lock;
use crate::net::clock::now_ns;
use crate::process::window::Usage;

#[derive(Default)]
pub struct Context {
    started_ns: u64,
    limit_ns: u64,
    cancel: AtomicBool,
    done: AtomicU64,
    observer: Observer,
    begun: AtomicBool,
    usage: Mutex<Option<Usage>>,
    carried: Mutex<Carried>,
    sessions: Mutex<Vec<Session>>,
    far_end: Option<FarEnd>,
}

impl Context {
    /// The probe's time limit runs from here. `far_end` is set if the far end is an echo server of this sidecar.
    pub fn new(plan: &Plan, observer: Observer, far_end: Option<FarEnd>) -> Self {
        let started_ns = now_ns();
        Self {
            started_ns,
            limit_ns: started_ns + plan.limit_ns,
            observer,
            far_end,
            ..Self::default()
        }
    }

    pub fn carry(&self, carried: Carried) {
        *lock(&self.carried) += carried;
    }

    pub fn carried(&self) -> Carried {
        *lock(&self.carried)
    }

    pub fn negotiated(&self, session: Option<Session>) {
        let mut sessions = lock(&self.sessions);
        if let Some(session) = session
            && !sessions.contains(&session)
        {
            sessions.push(session);
        }
    }

    pub fn sessions(&self) -> Vec<Session> {
        lock(&self.sessions).clone()
    }

    /// The far end's counts, or none if the far end is not an echo server of this sidecar.
    pub fn far_end(&self, plan: &Plan) -> Option<Counts> {
        let far_end = self.far_end.as_ref()?;
        Some(far_end.ended(plan, self.carried(), || self.cancelled()))
    }

    /// Connections that have reached the far end so far; none if the far end is not an echo server of this sidecar.
    pub fn arrived(&self) -> Option<u64> {
        self.far_end.as_ref()?.arrived()
    }

    /// Connections of the probe that have ended at the far end so far; none if the far end is not an echo server of this sidecar.
    pub fn ended_there(&self) -> Option<u64> {
        Some(self.far_end.as_ref()?.connections_ended())
    }

    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Whether no other operation may begin. `now_ns` is a time of [`now_ns`]. Engines ask before each operation; an operation that has
    /// begun at the limit keeps its own timeout.
    #[inline]
    pub fn must_stop(&self, now_ns: u64) -> Option<Stopped> {
        if self.cancelled() {
            Some(Stopped::Cancelled)
        } else if now_ns >= self.limit_ns {
            Some(Stopped::Limit)
        } else {
            None
        }
    }

    /// The moment after which no operation begins.
    #[inline]
    pub fn limit_ns(&self) -> u64 {
        self.limit_ns
    }

    pub fn elapsed_s(&self) -> f64 {
        crate::net::clock::seconds(now_ns() - self.started_ns)
    }

    /// Measured operations that ended, for the progress of the probe.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn set_done(&self, count: u64) {
        self.done.store(count, Ordering::Relaxed);
    }

    pub fn add_done(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// An engine calls it once, after the warm-up and before the first measured operation. It takes
    /// some milliseconds where an instance is measured.
    pub fn measured_begins(&self) {
        self.observer.begins();
        self.begun.store(true, Ordering::SeqCst);
    }

    /// An engine calls it right after the last measured operation. Later calls change nothing.
    pub fn measured_ended(&self) {
        if self.begun.swap(false, Ordering::SeqCst) {
            let usage = self.observer.ended();
            *lock(&self.usage) = usage;
        }
    }

    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// The measurement is over. Called once, at the very end.
    pub fn over(&self) {
        self.measured_ended();
        self.observer.ended();
    }

    pub fn usage(&self) -> Option<Usage> {
        lock(&self.usage).clone()
    }
}
