//! The content of a probe's datagrams, and the check of their answers.

use crate::net::payload::Pattern;
use crate::probe::kinds::ErrorKind;

pub trait Content {
    /// Whether answers ought to come in the order of what was sent.
    const ORDERED: bool;
    /// Bytes of each datagram that is sent.
    fn size(&self) -> usize;
    /// Bytes of the largest answer that is right.
    fn answer_bytes(&self) -> usize;
    /// Writes one datagram; `into` has its size.
    fn fill(&self, sequence: u32, into: &mut [u8]);
    /// The datagram that an answer belongs to, among the first `next`, or none if it is no answer.
    fn sequence(&self, answer: &[u8], next: usize) -> Option<u32>;
    /// Why the answer is not right for this datagram.
    fn check(&self, sequence: u32, answer: &[u8]) -> Result<(), ErrorKind>;
}

/// The answer repeats the datagram.
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
    fn sequence(&self, answer: &[u8], next: usize) -> Option<u32> {
        self.latest(answer, next)
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
