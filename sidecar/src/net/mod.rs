//! What echo servers, taps and probes share: clocks and timetables, waiting for many sockets, batches of datagrams, payload, threads' CPUs and time.

pub mod batch;
pub mod clock;
pub mod pace;
pub mod payload;
pub mod placement;
pub mod poller;
pub mod tag;
pub mod thread_clock;
pub mod timers;
pub mod wait;
