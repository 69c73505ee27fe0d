//! How a thread waits.

use std::io;

use serde::{Deserialize, Serialize};

/// How a probe thread waits for the network and for its next moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// In the kernel.
    #[default]
    Block,
    /// Asking again and again: no wake-up, at the price of a core.
    Spin,
    /// The same, with sched_yield in between.
    Yield,
}

/// Whether a call that does not wait must be tried again.
pub fn is_early(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// `None` if a read or a write moved nothing yet.
pub fn not_yet(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(error) if is_early(&error) => Ok(None),
        done => done.map(Some),
    }
}

/// Time between two tries of a call that would block.
#[inline]
pub fn pause(wait: Wait) {
    match wait {
        Wait::Block => {}
        Wait::Spin => std::hint::spin_loop(),
        Wait::Yield => std::thread::yield_now(),
    }
}
