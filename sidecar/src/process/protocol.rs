//! Messages between the sidecar and a guard, one JSON object per line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::process::role::StopSignal;

/// The first line on a guard's standard input. It contains secrets (in `env`) and is therefore not an argument.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Order {
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The working folder. The guard removes it if the sidecar has died.
    pub work: PathBuf,
    /// The CPUs of the program and its children, such as `0-1`; empty means all.
    pub cpus: String,
    /// The file of the program's network namespace; `None` means the sidecar's own.
    pub namespace: Option<PathBuf>,
    /// The folders of the program's control groups; empty means the sidecar's own. The guard removes them if the sidecar has died.
    pub groups: Vec<PathBuf>,
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
    /// The program ended. The guard now stops its descendants.
    Ended {
        exit: Exit,
    },
    /// All descendants have ended. The message has the CPU seconds of all of them, in microsecond resolution.
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
    /// The program was not a child of this process, so its status is unknown.
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
