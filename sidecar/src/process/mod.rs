//! Processes: guarding them, and measuring what they use.

pub mod complaints;
pub mod cpus;
pub mod exec;
pub mod files;
pub mod folder;
pub mod guard;
pub mod host_time;
pub mod interference;
pub mod log;
pub mod namespace;
pub mod own_time;
pub mod part;
pub mod processors;
pub mod programs;
pub mod protocol;
pub mod redact;
pub mod rest;
pub mod role;
pub mod signals;
pub mod supervised;
pub mod target;
pub mod tree;
pub mod usage;
pub mod whole;
pub mod window;
pub mod windows;
