//! Windtunnel's sidecar: starts the systems under test, samples their resource usage, and stops them.
//!
//! The sidecar supervises processes directly, not through process-compose, for three reasons. A guard process next to each program stops
//! everything, even after a SIGKILL of the sidecar. Variables, free ports and secrets of a testbed file are typed, checked and filled in
//! before anything starts. And usage windows with exact memory peaks watch exactly the supervised processes.

#![forbid(unsafe_code)]
// Tests have further dependencies.
#![cfg_attr(not(test), warn(unused_crate_dependencies))]

/// Displays a word as JSON has it.
macro_rules! shown_as_json {
    ($word:ty) => {
        impl std::fmt::Display for $word {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, out)
            }
        }
    };
}

mod api;
#[cfg(test)]
#[path = "../tests/common/busy.rs"]
#[allow(dead_code, reason = "the integration tests use the rest")]
mod busy;
mod cli;
mod dns;
mod echo;
mod failure;
mod host;
mod limits;
mod link;
mod lock;
mod net;
mod primitives;
mod probe;
mod process;
mod running;
mod schema;
mod schema_form;
mod tap;
mod testbed;
mod toml_files;
mod wire;

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = match arguments.first().and_then(|name| name.to_str()) {
        Some(process::exec::NAME) => process::exec::run(&arguments[1..]),
        Some(process::guard::NAME) => match process::guard::run() {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("sidecar: guard: {error}");
                1
            }
        },
        Some(process::folder::NAME) => {
            let prefix = arguments.get(1).and_then(|prefix| prefix.to_str());
            match process::folder::run(prefix.unwrap_or_default()) {
                Ok(()) => 0,
                Err(_) => 1,
            }
        }
        _ => cli::run(),
    };
    ExitCode::from(code)
}
