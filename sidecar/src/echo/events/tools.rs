//! Parts of the events engine that every connection uses.

use std::net::SocketAddr;

use super::link::Link;
use crate::echo::counters::Counters;
use crate::echo::zone::Zone;
use crate::net::timers::Timers;

/// An action for later. The bytes to send are kept with it.
pub enum Action {
    Answer(u64),
    Reset(u64),
    Close(u64),
    /// A transfer may continue.
    Resume(u64),
    Datagram(SocketAddr),
    /// A held datagram must be sent.
    Release(u64),
    /// File descriptors or connection slots were used up. The server tries to accept again.
    ListenAgain,
}

pub struct Tools<'a> {
    pub zone: Option<Zone>,
    pub link: &'a mut Link,
    pub timers: &'a mut Timers<(Action, Vec<u8>)>,
    pub counters: &'a Counters,
    pub buffer: &'a mut [u8],
    pub now_ns: u64,
}
