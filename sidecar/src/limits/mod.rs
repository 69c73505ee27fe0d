//! Limits of CPU and memory (control groups, cgroups(7), versions 1 and 2): those that a run sets for its system under test, and those that
//! others set for this process.

pub mod given;
pub mod group;
pub mod hierarchy;
pub mod ledger;
pub mod names;
pub mod numbers;
pub mod spec;
pub mod stale;
pub mod watch;
