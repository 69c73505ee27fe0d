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
}

impl InstanceObserver {
    pub fn new(windows: Arc<Windows>, sources: Vec<(String, Role, Source)>) -> Self {
        Self {
            windows,
            sources,
            window: Mutex::default(),
        }
    }
}

impl Observer for InstanceObserver {
    /// Where too many windows are open the usage is missing from the outcome.
    fn begins(&self) {
        let window = self.windows.open(self.sources.clone()).ok();
        *self.window.lock().unwrap_or_else(PoisonError::into_inner) = window;
    }

    fn ended(&self) -> Option<Usage> {
        let window = self
            .window
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.windows.close(&window?)
    }

    fn rss_bytes(&self) -> Option<u64> {
        let system = self
            .sources
            .iter()
            .filter(|(_, role, _)| *role == Role::System);
        system
            .map(|(_, _, source)| source.read().map(|reading| reading.rss_bytes))
            .sum()
    }
}
