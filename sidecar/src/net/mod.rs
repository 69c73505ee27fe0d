//! What echo servers and probes share: waiting for many sockets, batches of datagrams, threads' time.

pub mod batch;
pub mod poller;
pub mod thread_clock;
pub mod timers;
