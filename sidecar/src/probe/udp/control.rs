//! The control connection of a UDP association: when it ends, the association does (RFC 1928, 7).

use crate::probe::stream::Stream;

/// Interval between two checks, ns.
const LOOK_EVERY_NS: u64 = 50_000_000;

pub struct Control {
    stream: Stream,
    look_at_ns: u64,
}

impl Control {
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            look_at_ns: 0,
        }
    }

    /// Whether it has ended. The kernel is asked every 50 ms only.
    #[inline]
    pub fn closed(&mut self, now_ns: u64) -> bool {
        if now_ns < self.look_at_ns {
            return false;
        }
        self.look_at_ns = now_ns + LOOK_EVERY_NS;
        self.stream.ended()
    }
}
