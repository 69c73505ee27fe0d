//! What comes down of a bulk transfer ([`crate::echo::bulk`]), whoever waits for it and however.

use super::kinds::ErrorKind;
use crate::echo::bulk::{Checker, Header};

/// Read at once, bytes: what stays in a core's cache is read faster than larger pieces.
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

    /// Where the next bytes go: no more than are still to come.
    pub fn room<'a>(&self, buffer: &'a mut [u8]) -> &'a mut [u8] {
        let left = self.bytes - self.checker.received();
        let room = left.min(buffer.len() as u64) as usize;
        &mut buffer[..room]
    }

    /// Checks what was read; nothing is the peer's end.
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
