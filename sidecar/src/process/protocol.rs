//! What the sidecar and a guard say to each other, one JSON object per line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::process::role::StopSignal;

/// The first line on a guard's standard input. It carries secrets (in `env`), which is why it is
/// not an argument.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Order {
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The working folder. The guard removes it where the sidecar died and cannot.
    pub work: PathBuf,
    /// The CPUs that the program and all that it starts may use, such as `0-1`; empty: all.
    pub cpus: String,
    /// The file of the network namespace that the program runs in; none: the sidecar's own.
    pub namespace: Option<PathBuf>,
    pub stop_signal: StopSignal,
    pub stop_timeout_s: f64,
}

/// The second line on a guard's standard input. Its end without this line means that the sidecar
/// died.
pub const STOP: &[u8] = b"stop\n";

/// Lines on a guard's standard output.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Started {
        pid: i32,
    },
    NotStarted {
        error: String,
    },
    /// The program ended; what it left behind is being stopped.
    Ended {
        exit: Exit,
    },
    /// Nothing is left. CPU seconds of all that ever ran, in microsecond resolution.
    Done {
        cpu_s: f64,
    },
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Status(i32),
    Signal(i32),
    /// It was not our child, so that its status cannot be known.
    Unknown,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Status(status) => write!(out, "exit status {status}"),
            Exit::Signal(signal) => write!(out, "signal {signal}"),
            Exit::Unknown => write!(out, "exit status unknown"),
        }
    }
}
