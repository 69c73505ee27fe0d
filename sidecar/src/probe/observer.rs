//! Measures what a testbed's processes use while a probe measures.

use std::sync::{Arc, Mutex, PoisonError};

use super::context::Observer;
use crate::process::usage::Source;
use crate::process::window::Usage;
use crate::process::windows::Windows;
use crate::testbed::file::Role;

pub struct InstanceObserver {
    windows: Arc<Windows>,
    sources: Vec<(String, Role, Source)>,
    window: Mutex<Option<String>>,
    /// A window that runs while the probe measures, for who adds up several probes.
    resumed: Option<String>,
}

impl InstanceObserver {
    /// Of an instance's processes, where there are any.
    pub fn new(
        windows: Arc<Windows>,
        sources: Vec<(String, Role, Source)>,
        resumed: Option<String>,
    ) -> Self {
        Self {
            windows,
            sources,
            window: Mutex::default(),
            resumed,
        }
    }
}

impl Observer for InstanceObserver {
    /// Where too many windows are open the usage is missing from the outcome.
    fn begins(&self) {
        if let Some(id) = &self.resumed {
            self.windows.resume(id);
        }
        if self.sources.is_empty() {
            return;
        }
        let window = self.windows.open(self.sources.clone(), false).ok();
        *self.window.lock().unwrap_or_else(PoisonError::into_inner) = window;
    }

    fn ended(&self) -> Option<Usage> {
        let window = self
            .window
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let usage = window.and_then(|id| self.windows.close(&id));
        if let Some(id) = &self.resumed {
            self.windows.pause(id);
        }
        usage
    }

    fn rss_bytes(&self) -> Option<u64> {
        let system = self
            .sources
            .iter()
            .filter(|(_, role, _)| *role == Role::System);
        let mut system = system.peekable();
        // The sum of nothing is not 0 bytes.
        system.peek()?;
        system
            .map(|(_, _, source)| source.read().map(|reading| reading.rss_bytes))
            .sum()
    }
}
