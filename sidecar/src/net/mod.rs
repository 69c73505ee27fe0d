//! Shared by echo servers, taps and probes: clocks, timetables, waits for many sockets, batches of datagrams, payload, CPUs and time of
//! threads.

pub mod batch;
pub mod clock;
pub mod pace;
pub mod payload;
pub mod poller;
pub mod tag;
pub mod timers;
pub mod wait;
