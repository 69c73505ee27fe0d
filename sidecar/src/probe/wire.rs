//! One request and its echo over a TCP connection.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::far_end::Carried;
use super::kinds::{ErrorKind, ProbeError};
use super::plan::Plan;
use super::socks5::client::slice;
use super::stream::Stream;
use crate::net::clock::now_ns;
use crate::net::wait::{Wait, not_yet, pause};

/// Payloads above this are sent and received in turns: both ends' buffers might fill otherwise, and
/// each wait for the other.
const LARGE_BYTES: usize = 32 * 1024;
/// How many times busy polling asks the kernel between two looks at the clock.
const ASKS_PER_LOOK: u32 = 64;

/// Why a round trip did not end.
pub enum Broken {
    Failed(ErrorKind),
    /// The probe ends.
    Stopped,
}

pub struct Wire {
    stream: Stream,
    answer: Vec<u8>,
    /// Bytes of all exchanges, broken ones included.
    sent: u64,
    got: u64,
    wait: Wait,
    large: bool,
    /// The most that one wait in the kernel takes.
    slice: Duration,
}

impl Wire {
    pub fn new(stream: Stream, plan: &Plan) -> Result<Self, ProbeError> {
        let size = plan.spec.payload_bytes as usize;
        let wait = plan.spec.wait;
        let large = size > LARGE_BYTES;
        let slice = slice(plan.timeout);
        let set = || {
            let socket = stream.socket();
            socket.set_read_timeout(Some(slice))?;
            socket.set_write_timeout(Some(slice))?;
            socket.set_nonblocking(large || wait != Wait::Block)
        };
        set().map_err(|error| ProbeError::io("socket", &error))?;
        Ok(Self {
            stream,
            answer: vec![0; size],
            sent: 0,
            got: 0,
            wait,
            large,
            slice,
        })
    }

    pub fn carried(&self) -> Carried {
        Carried::echoed(self.sent, self.got)
    }

    /// The connection, for use after the exchanges.
    pub fn into_stream(self) -> Stream {
        self.stream
    }

    /// Sends a request and reads the same number of bytes back. `over` is called whenever the answer is
    /// not whole: a peer that trickles must not delay the probe.
    #[inline]
    pub fn exchange(
        &mut self,
        request: &[u8],
        over: impl Fn(u64) -> Option<Broken>,
    ) -> Result<&[u8], Broken> {
        let mut sent = 0;
        let mut have = 0;
        let mut asked = 0;
        while have < self.answer.len() {
            let mut blocked = true;
            if sent < request.len()
                && let Some(count) = moved((&self.stream).write(&request[sent..]))?
            {
                sent += count;
                self.sent += count as u64;
                blocked = false;
            }
            // Below the bound the answer cannot begin to block the request.
            if sent == request.len() || self.large {
                match moved((&self.stream).read(&mut self.answer[have..]))? {
                    Some(0) => return Err(Broken::Failed(ErrorKind::Closed)),
                    Some(count) => {
                        have += count;
                        self.got += count as u64;
                        blocked = false;
                    }
                    // An empty read without an end is no failure.
                    None => {}
                }
            }
            if blocked {
                self.pause(sent < request.len(), &mut asked, &over)?;
            } else if (sent < request.len() || (1..self.answer.len()).contains(&have))
                && let Some(broken) = over(now_ns())
            {
                return Err(broken);
            }
        }
        Ok(&self.answer)
    }

    #[cold]
    fn pause(
        &self,
        sending: bool,
        asked: &mut u32,
        over: &impl Fn(u64) -> Option<Broken>,
    ) -> Result<(), Broken> {
        *asked += 1;
        let looks = self.wait == Wait::Block || asked.is_multiple_of(ASKS_PER_LOOK);
        if looks && let Some(broken) = over(now_ns()) {
            return Err(broken);
        }
        pause(self.wait);
        // The socket of a small payload already blocks.
        if self.wait == Wait::Block && self.large {
            let mut events = PollFlags::POLLIN;
            events.set(PollFlags::POLLOUT, sending);
            let timeout = PollTimeout::try_from(self.slice).unwrap_or(PollTimeout::ZERO);
            let _ = poll(&mut [PollFd::new(self.stream.as_fd(), events)], timeout);
        }
        Ok(())
    }
}

fn moved(done: io::Result<usize>) -> Result<Option<usize>, Broken> {
    not_yet(done).map_err(|error| Broken::Failed(ErrorKind::of_io(&error)))
}
