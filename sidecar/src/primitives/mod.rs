//! `sidecar bench primitives`: the cost of encryption, hashing, rule sets, buffers and memory on this machine.
//!
//! A separate program (`primitives/`) measures; it is built only on demand. This module combines its reports, and `k6 x primitives` judges
//! and prints them.

mod plan;
mod report;
mod worker;

pub use plan::{Mode, Section};
pub use worker::{Workers, run};
