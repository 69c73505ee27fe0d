//! How a thread waits.

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
