//! `sidecar bench primitives`: what encryption, hashing, rule sets, buffers and memory cost on this machine.
//!
//! The measurement itself is a program of its own (`primitives/`), which is built only for those who want it. Here its
//! answers are put together; `k6 x primitives` judges and prints them.

mod model;
mod plan;
mod report;
mod worker;

pub use plan::{Mode, Section};
pub use report::Report;
pub use worker::{Workers, run};
