//! One tunnel of a fetch, and the objects that come over it.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;

use nix::poll::{PollFd, PollFlags};

use crate::echo::bulk::{HEADER, Header};
use crate::net::clock::now_ns;
use crate::net::poller::Flags;
use crate::net::wait::not_yet;
use crate::probe::context::Context;
use crate::probe::download::Download;
use crate::probe::far_end::Moved;
use crate::probe::kinds::ProbeError;
use crate::probe::plan::Plan;
use crate::probe::socks5::opening::{Opening, Tunnel};
use crate::probe::stream::Stream;

pub struct Tools<'a> {
    pub plan: &'a Plan,
    pub context: &'a Context,
    pub object: Header,
    pub buffer: Vec<u8>,
}

#[derive(Default)]
pub struct Lane {
    tunnel: Tunnel,
    /// The deadline of the opening.
    open_by_ns: u64,
    /// Objects to come, the one under way included.
    left: u64,
    /// Bytes of the current object's request that are still to go out.
    to_ask: usize,
    download: Download,
    moved: Moved,
}

impl Lane {
    /// Whether the tunnel is being opened, or still has objects to come.
    pub fn busy(&self) -> bool {
        matches!(self.tunnel, Tunnel::Opening(_)) || self.left > 0
    }

    /// Requests `objects` objects, one after the other. Opens the tunnel if it is down.
    pub fn begin(&mut self, objects: u64, tools: &mut Tools<'_>) -> Result<(), ProbeError> {
        self.left = objects;
        match &self.tunnel {
            Tunnel::Open(_) if objects > 0 => self.ask(tools.object),
            Tunnel::Open(_) | Tunnel::Opening(_) => return Ok(()),
            Tunnel::Down => return self.open(tools.plan),
        }
        self.step(tools)
    }

    fn open(&mut self, plan: &Plan) -> Result<(), ProbeError> {
        let opening = Opening::begin(plan)?;
        self.open_by_ns = now_ns() + plan.handshake_timeout.as_nanos() as u64;
        self.tunnel = Tunnel::Opening(Box::new(opening));
        Ok(())
    }

    fn ask(&mut self, object: Header) {
        self.to_ask = HEADER;
        Moved::add(&self.moved.asked, object.bytes);
        self.download = Download::new(object);
    }

    /// The failure of the opening, if the opening takes too long.
    pub fn late(&self, plan: &Plan, now_ns: u64) -> Option<ProbeError> {
        match &self.tunnel {
            Tunnel::Opening(opening) if now_ns >= self.open_by_ns => Some(opening.late(plan)),
            _ => None,
        }
    }

    pub fn awaited(&self) -> Option<PollFd<'_>> {
        let (stream, flags) = match &self.tunnel {
            Tunnel::Opening(opening) if opening.wanted().contains(Flags::OUT) => {
                (&opening.stream, PollFlags::POLLOUT)
            }
            Tunnel::Opening(opening) => (&opening.stream, PollFlags::POLLIN),
            Tunnel::Open(stream) if self.to_ask > 0 => (stream, PollFlags::POLLOUT),
            Tunnel::Open(stream) if self.left > 0 => (stream, PollFlags::POLLIN),
            Tunnel::Open(_) | Tunnel::Down => return None,
        };
        Some(PollFd::new(stream.as_fd(), flags))
    }

    /// Goes on after the awaited event. A broken tunnel is down afterwards.
    pub fn step(&mut self, tools: &mut Tools<'_>) -> Result<(), ProbeError> {
        let stepped = self.advance(tools);
        if stepped.is_err() {
            self.close(tools.context);
        }
        stepped
    }

    /// Ends the tunnel, and adds its bytes to the probe's counts.
    pub fn close(&mut self, context: &Context) {
        context.carry(self.moved.carried());
        *self = Self::default();
    }

    fn advance(&mut self, tools: &mut Tools<'_>) -> Result<(), ProbeError> {
        if let Tunnel::Opening(opening) = &mut self.tunnel {
            if !opening.step(tools.plan)? {
                return Ok(());
            }
            let Tunnel::Opening(opening) = std::mem::take(&mut self.tunnel) else {
                return Ok(());
            };
            self.tunnel = Tunnel::Open(opening.stream);
            if self.left == 0 {
                return Ok(());
            }
            self.ask(tools.object);
        }
        let Tunnel::Open(stream) = &self.tunnel else {
            return Ok(());
        };
        if self.to_ask > 0 {
            let asked = HEADER - self.to_ask;
            let sent = send(stream, &tools.object.encode()[asked..])?;
            self.to_ask -= sent;
            Moved::add(&self.moved.sent, sent as u64);
            return Ok(());
        }
        let (download, got) = (&mut self.download, &self.moved.got);
        let mut whole = receive(stream, download, &mut tools.buffer, got)?;
        while !whole && stream.holds() {
            whole = receive(stream, download, &mut tools.buffer, got)?;
        }
        if whole {
            Moved::add(&self.moved.confirmed, HEADER as u64);
            self.left -= 1;
            if self.left > 0 {
                self.ask(tools.object);
                return self.advance(tools);
            }
        }
        Ok(())
    }
}

/// How much went out.
fn send(mut stream: &Stream, bytes: &[u8]) -> Result<usize, ProbeError> {
    let sent = not_yet(stream.write(bytes));
    let sent = sent.map_err(|error| ProbeError::io("request for an object", &error))?;
    Ok(sent.unwrap_or(0))
}

/// One read. True where it was the last one of an object.
fn receive(
    mut stream: &Stream,
    download: &mut Download,
    buffer: &mut [u8],
    got: &AtomicU64,
) -> Result<bool, ProbeError> {
    let room = download.room(buffer);
    let read = not_yet(stream.read(room)).map_err(|error| ProbeError::io("object", &error))?;
    let Some(count) = read else {
        return Ok(false);
    };
    Moved::add(got, count as u64);
    download
        .take(&room[..count])
        .map(|()| download.whole())
        .map_err(|kind| ProbeError::new(kind, format!("object: {kind}")))
}
