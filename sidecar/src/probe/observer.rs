//! Measures what a testbed's processes use while a probe measures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Result;
use crate::process::holding::Holding;
use crate::process::role::Role;
use crate::process::scheduling::Counts;
use crate::process::usage::Source;
use crate::process::window::Usage;
use crate::process::windows::{Manner, Windows};

/// The default observes nothing.
#[derive(Default)]
pub struct Observer {
    windows: Arc<Windows>,
    /// Its own window, paused until the probe measures.
    window: Option<String>,
    /// A window that runs while the probe measures, for callers that add up several probes.
    resumed: Option<String>,
    resumes: AtomicBool,
    /// A window that shows which processes use each CPU while the probe measures.
    watcher: Option<String>,
    watches: AtomicBool,
}

impl Observer {
    /// Observes an instance's processes, if an instance is given. A conflict if too many windows are
    /// open.
    pub fn new(
        windows: Arc<Windows>,
        sources: Vec<(String, Role, Source)>,
        resumed: Option<String>,
        watcher: Option<String>,
    ) -> Result<Self> {
        let window = match sources.is_empty() {
            true => None,
            false => Some(windows.open(sources, Manner::PAUSED)?),
        };
        Ok(Self {
            windows,
            window,
            resumed,
            resumes: AtomicBool::new(false),
            watcher,
            watches: AtomicBool::new(false),
        })
    }

    /// Opens the usage window: the warm-up is over, and the measured part has not begun.
    pub fn begins(&self) {
        // The other window excludes the cost of this window.
        if let Some(id) = &self.window {
            self.windows.resume(id);
        }
        if let Some(id) = &self.resumed {
            let resumed = self.windows.resume(id);
            self.resumes.store(resumed, Ordering::SeqCst);
        }
        if let Some(id) = &self.watcher {
            let watched = self.windows.watch(id);
            self.watches.store(watched, Ordering::SeqCst);
        }
    }

    /// Closes the usage window and returns the usage.
    pub fn ended(&self) -> Option<Usage> {
        if let Some(id) = &self.watcher
            && self.watches.swap(false, Ordering::SeqCst)
        {
            self.windows.unwatch(id);
        }
        if let Some(id) = &self.resumed
            && self.resumes.swap(false, Ordering::SeqCst)
        {
            self.windows.pause(id);
        }
        self.windows.close(self.window.as_ref()?).ok()
    }

    /// Holdings of the observed processes now; empty if none are observed.
    pub fn holding(&self) -> Vec<Holding> {
        let held = self.window.as_ref().map(|id| self.windows.holding(id));
        held.and_then(Result::ok).unwrap_or_default()
    }

    /// Counts of the scheduler for the observed processes, by name.
    pub fn counts(&self) -> BTreeMap<String, Counts> {
        let counts = self.window.as_ref().map(|id| self.windows.counts(id));
        counts.and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.ended();
    }
}
