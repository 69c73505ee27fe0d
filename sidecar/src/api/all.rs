//! The state that requests share.

use std::sync::Arc;

use axum::extract::FromRef;

use crate::echo::registry::Echoes;
use crate::probe::registry::Registry;
use crate::running::Running;
use crate::tap::Tap;
use crate::testbed::supervisor::Supervisor;
use crate::wire::Capture;

#[derive(Clone)]
pub struct All {
    pub supervisor: Arc<Supervisor>,
    pub probes: Arc<Registry>,
    pub echoes: Arc<Echoes>,
    pub taps: Arc<Running<Arc<Tap>>>,
    pub captures: Arc<Running<Capture>>,
}

impl All {
    pub fn new(supervisor: Arc<Supervisor>, probes: Arc<Registry>) -> Self {
        Self {
            supervisor,
            probes,
            echoes: Arc::default(),
            taps: Arc::new(Running::new("tap", "/taps", 't', 64)),
            captures: Arc::new(Running::new("capture", "/captures", 'w', 64)),
        }
    }
}

impl FromRef<All> for Arc<Supervisor> {
    fn from_ref(all: &All) -> Self {
        Arc::clone(&all.supervisor)
    }
}
