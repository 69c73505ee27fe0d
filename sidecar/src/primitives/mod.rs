//! `sidecar bench primitives`: what encryption, hashing, rule sets, buffers and memory cost on this machine.
//!
//! The measurement itself is a program of its own (`primitives/`), which is built only for those who want it. Here its
//! answers are judged (is it plausible, was the machine quiet) and printed.

mod judge;
mod markdown;
mod model;
mod plan;
mod report;
mod text;
mod worker;

pub use markdown::markdown;
pub use plan::{Mode, Section};
pub use report::Report;
pub use worker::{Workers, run};
