//! What is in the datagrams of a probe, and what their answers must be.

use crate::net::payload::Pattern;
use crate::probe::kinds::ErrorKind;

pub trait Content {
    /// Whether answers ought to come in the order of what was sent.
    const ORDERED: bool;
    /// Bytes of each datagram that is sent.
    fn size(&self) -> usize;
    /// Bytes of the largest answer that is right.
    fn answer_bytes(&self) -> usize;
    /// Writes one; `into` is of its size.
    fn fill(&self, sequence: u32, into: &mut [u8]);
    /// Which one an answer is to, where `next` are sent; none where it is no answer.
    fn sequence(&self, answer: &[u8], next: usize) -> Option<u32>;
    /// Why it is not the right answer to that one.
    fn check(&self, sequence: u32, answer: &[u8]) -> Result<(), ErrorKind>;
}

/// What is sent comes back.
impl Content for Pattern {
    const ORDERED: bool = true;

    fn size(&self) -> usize {
        Pattern::size(self)
    }

    fn answer_bytes(&self) -> usize {
        Pattern::size(self)
    }

    #[inline]
    fn fill(&self, sequence: u32, into: &mut [u8]) {
        Pattern::fill(self, sequence, into);
    }

    #[inline]
    fn sequence(&self, answer: &[u8], _next: usize) -> Option<u32> {
        Pattern::sequence(self, answer)
    }

    #[inline]
    fn check(&self, sequence: u32, answer: &[u8]) -> Result<(), ErrorKind> {
        if self.matches(sequence, answer) {
            Ok(())
        } else if answer.len() < Pattern::size(self) {
            Err(ErrorKind::Truncated)
        } else {
            Err(ErrorKind::Corrupted)
        }
    }
}
