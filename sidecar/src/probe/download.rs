//! The payload that a bulk transfer ([`crate::echo::bulk`]) sends down, checked as it comes.

use super::kinds::ErrorKind;
use crate::echo::bulk::{Checker, Header};

/// Size of one read, bytes: a buffer that stays in a core's cache is read faster than a larger one.
pub const BUFFER: usize = 64 * 1024;

#[derive(Default)]
pub struct Download {
    checker: Checker,
    bytes: u64,
}

impl Download {
    pub fn new(header: Header) -> Self {
        Self {
            checker: Checker::new(header.every_byte),
            bytes: header.bytes,
        }
    }

    pub fn whole(&self) -> bool {
        self.checker.received() == self.bytes
    }

    /// Where the next bytes go: never more than the transfer still lacks.
    pub fn room<'a>(&self, buffer: &'a mut [u8]) -> &'a mut [u8] {
        let left = self.bytes - self.checker.received();
        let room = left.min(buffer.len() as u64) as usize;
        &mut buffer[..room]
    }

    /// Checks the bytes of a read. An empty read is the peer's end.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        if bytes.is_empty() {
            return Err(ErrorKind::Closed);
        }
        self.checker.take(bytes);
        self.checker
            .first_wrong()
            .map_or(Ok(()), |_| Err(ErrorKind::Corrupted))
    }
}
