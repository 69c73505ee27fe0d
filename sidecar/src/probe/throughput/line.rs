//! One connection of a bulk transfer, seen from the probe.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::OnceLock;

use crate::echo::bulk::{CONFIRMATION, HEADER, Header, Source, confirmed};
use crate::net::clock::now_ns;
use crate::net::wait::pause;
use crate::probe::context::Context;
use crate::probe::download::{BUFFER, Download};
use crate::probe::far_end::Moved;
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::Stopped;
use crate::probe::plan::Plan;
use crate::probe::stream::Stream;

/// Why a transfer is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Failed(ErrorKind),
    Stopped(Stopped),
}

#[derive(Clone, Copy)]
pub struct Line<'a> {
    pub plan: &'a Plan,
    pub context: &'a Context,
    pub stream: &'a Stream,
    /// Bytes of this transfer.
    pub bytes: u64,
    /// Counts all transfers over the connection; both of its threads count.
    pub moved: &'a Moved,
    pub failure: &'a OnceLock<Cut>,
}

impl Line<'_> {
    fn header(self) -> Header {
        Header::new(&self.plan.transfer, self.bytes, self.plan.tag)
    }

    pub fn ask(self) -> Result<(), Cut> {
        let bytes = self.header().encode();
        let direction = self.plan.transfer.direction;
        let down = if direction.down() { self.bytes } else { 0 };
        let confirmation = if direction.up() { CONFIRMATION } else { 0 };
        let asked = down + confirmation as u64;
        Moved::add(&self.moved.asked, asked);
        let mut sent = 0;
        while sent < bytes.len() {
            sent += self.write(&bytes[sent..])?;
        }
        Ok(())
    }

    pub fn send(self) -> Result<(), Cut> {
        self.ask()?;
        let transfer = &self.plan.transfer;
        let mut source = Source::new(self.bytes, transfer.write_bytes as usize);
        while !source.done() {
            let sent = self.write(source.next())?;
            source.written(sent);
        }
        Ok(())
    }

    pub fn receive(self) -> Result<(), Cut> {
        let mut download = Download::new(self.header());
        let mut buffer = vec![0; BUFFER];
        while !download.whole() {
            let room = download.room(&mut buffer);
            let count = self.read(room)?;
            download.take(&room[..count]).map_err(Cut::Failed)?;
        }
        if !self.plan.transfer.direction.up() {
            Moved::add(&self.moved.confirmed, HEADER as u64);
        }
        Ok(())
    }

    /// The far end's confirmation of the bytes that went up.
    pub fn confirmed(self) -> Result<(), Cut> {
        let mut answer = [0; CONFIRMATION];
        let mut have = 0;
        while have < answer.len() {
            have += self.some(&mut answer[have..])?;
        }
        if confirmed(answer) == Ok(self.bytes) {
            Moved::add(&self.moved.confirmed, HEADER as u64 + self.bytes);
            Ok(())
        } else {
            Err(Cut::Failed(ErrorKind::Corrupted))
        }
    }

    /// Ends the connection, so that nobody waits for it any more. Returns the first failure of the connection: a second one follows from the first.
    pub fn fail(self, cut: Cut) -> Cut {
        let first = *self.failure.get_or_init(|| cut);
        let _ = self.stream.shutdown(Shutdown::Both);
        first
    }

    fn write(self, bytes: &[u8]) -> Result<usize, Cut> {
        let count = self.patiently(|mut stream| stream.write(bytes))?;
        Moved::add(&self.moved.sent, count as u64);
        Ok(count)
    }

    fn read(self, buffer: &mut [u8]) -> Result<usize, Cut> {
        let count = self.patiently(|mut stream| stream.read(buffer))?;
        Moved::add(&self.moved.got, count as u64);
        Ok(count)
    }

    fn some(self, buffer: &mut [u8]) -> Result<usize, Cut> {
        match self.read(buffer)? {
            0 => Err(Cut::Failed(ErrorKind::Closed)),
            count => Ok(count),
        }
    }

    /// Tries until it succeeds, fails, or nothing has moved for too long. A blocking socket comes back
    /// every 100 ms. Whether the probe has to end is asked before each try.
    fn patiently(self, mut what: impl FnMut(&Stream) -> io::Result<usize>) -> Result<usize, Cut> {
        let mut deadline_ns = None;
        loop {
            let now = now_ns();
            if let Some(stopped) = self.context.must_stop(now) {
                return Err(Cut::Stopped(stopped));
            }
            match what(self.stream) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let timeout_ns = self.plan.timeout.as_nanos() as u64;
                    if now >= *deadline_ns.get_or_insert(now + timeout_ns) {
                        return Err(Cut::Failed(ErrorKind::Timeout));
                    }
                    pause(self.plan.spec.wait);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Cut::Failed(ErrorKind::of_io(&error))),
            }
        }
    }
}
