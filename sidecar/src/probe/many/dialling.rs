//! The part of [`Drive`] that opens tunnels.

use super::drive::{Drive, Happened};
use crate::net::clock::now_ns;
use crate::net::poller::Flags;
use crate::probe::kinds::ProbeError;
use crate::probe::socks5::opening::{HANDSHAKES, Opening, Tunnel};

impl Drive<'_> {
    /// Opens a slot's tunnel, as soon as there are fewer than [`HANDSHAKES`] on their way.
    pub fn open(&mut self, index: usize) {
        self.to_dial.push_back(index);
        self.dial();
    }

    fn dial(&mut self) {
        while self.handshakes < HANDSHAKES {
            let Some(index) = self.to_dial.pop_front() else {
                return;
            };
            let slot = &mut self.slots[index];
            slot.dials += 1;
            slot.began_ns = now_ns();
            let deadline_ns = slot.began_ns + self.plan.handshake_timeout.as_nanos() as u64;
            self.dial_deadlines
                .push_back((deadline_ns, index, slot.dials));
            self.handshakes += 1;
            let begun = Opening::begin(self.plan).and_then(|opening| {
                self.poller
                    .add(&opening.stream, index as u64, opening.wanted())
                    .map_err(|error| ProbeError::io("epoll", &error))?;
                Ok(opening)
            });
            match begun {
                Ok(opening) => slot.tunnel = Tunnel::Opening(Box::new(opening)),
                Err(error) => self.ended(index, Err(error)),
            }
        }
    }

    pub(super) fn opened(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Tunnel::Opening(opening) = std::mem::replace(&mut slot.tunnel, Tunnel::Down) else {
            return;
        };
        let stream = opening.stream;
        let result = self
            .poller
            .modify(&stream, index as u64, Flags::IN)
            .map_err(|error| ProbeError::io("epoll", &error));
        slot.tunnel = Tunnel::Open(stream);
        self.ended(index, result);
        self.dial();
    }

    pub(super) fn not_opened(&mut self, index: usize, error: ProbeError) {
        self.ended(index, Err(error));
        self.dial();
    }

    /// A handshake is over: it was an operation's, or one of all that are opened at the start.
    fn ended(&mut self, index: usize, result: Result<(), ProbeError>) {
        self.handshakes -= 1;
        let slot = &mut self.slots[index];
        if result.is_err() {
            slot.tunnel = Tunnel::Down;
        }
        let has_operation = slot.operation.is_some();
        let (began_ns, ended_ns) = (slot.began_ns, now_ns());
        match result {
            Ok(()) if has_operation => {
                if let Some(operation) = &mut slot.operation {
                    operation.due_ns = operation.due_ns.map(|due| due.max(ended_ns));
                }
                self.send(index);
            }
            Err(error) if has_operation => self.failed(index, error.kind),
            Ok(()) => self.happened.push(Happened::Opened { began_ns, ended_ns }),
            Err(error) => self.happened.push(Happened::NotOpened { error, ended_ns }),
        }
    }

    pub(super) fn expire_dials(&mut self, now: u64) {
        while let Some((deadline_ns, index, dials)) = self.dial_deadlines.front().copied() {
            let slot = &self.slots[index];
            let late = match &slot.tunnel {
                Tunnel::Opening(opening) if slot.dials == dials => Some(opening.late(self.plan)),
                _ => None,
            };
            if late.is_some() && deadline_ns > now {
                break;
            }
            self.dial_deadlines.pop_front();
            if let Some(error) = late {
                self.not_opened(index, error);
            }
        }
    }
}
