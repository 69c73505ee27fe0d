//! One direction of a TCP connection, reassembled from its segments.

use std::collections::BTreeMap;

/// The most segments that are kept because an earlier one is missing.
const HELD_MOST: usize = 1_024;

#[derive(Default)]
pub struct Stream {
    /// The sequence number of the next byte; `None` before the first segment.
    next: Option<u32>,
    /// Early segments, by their distance from the next byte.
    held: BTreeMap<u32, Vec<u8>>,
    lost: bool,
}

impl Stream {
    /// The beginning of a stream: a SYN with this sequence number.
    pub fn begin(sequence: u32) -> Self {
        Self {
            next: Some(sequence.wrapping_add(1)),
            ..Self::default()
        }
    }

    /// The bytes that are now in order, in pieces. If the beginning was not seen, the first segment counts as the beginning.
    pub fn take(&mut self, sequence: u32, bytes: &[u8]) -> Vec<Vec<u8>> {
        if bytes.is_empty() {
            return Vec::new();
        }
        self.next.get_or_insert(sequence);
        if self.held.len() < HELD_MOST {
            let held = self.held.entry(sequence).or_default();
            if held.len() < bytes.len() {
                *held = bytes.to_vec();
            }
        } else {
            self.lost = true;
        }
        let mut pieces = Vec::new();
        while let Some(piece) = self.pop() {
            pieces.push(piece);
        }
        pieces
    }

    /// Whether a segment is missing before later ones.
    pub fn has_gap(&self) -> bool {
        self.lost || !self.held.is_empty()
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let next = self.next?;
        let is_due = |sequence: u32| next.wrapping_sub(sequence) < 1 << 31;
        let due = *self.held.keys().find(|&&sequence| is_due(sequence))?;
        let bytes = self.held.remove(&due)?;
        // A retransmitted segment begins with known bytes.
        let known = (next.wrapping_sub(due) as usize).min(bytes.len());
        let fresh = bytes[known..].to_vec();
        self.next = Some(next.wrapping_add(u32::try_from(fresh.len()).unwrap_or(u32::MAX)));
        Some(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(stream: &mut Stream, segments: &[(u32, &[u8])]) -> Vec<u8> {
        segments
            .iter()
            .flat_map(|(sequence, bytes)| stream.take(*sequence, bytes).concat())
            .collect()
    }

    #[test]
    fn segments_come_in_their_order_and_once() {
        let start = u32::MAX - 2;
        let mut stream = Stream::begin(start.wrapping_sub(1));
        let at = |offset: u32| start.wrapping_add(offset);
        let all = joined(
            &mut stream,
            &[
                (at(4), b"efgh"),
                (at(0), b"abcd"),
                (at(2), b"cdef"),
                (at(8), b""),
                (at(8), b"ij"),
            ],
        );
        assert_eq!(all, b"abcdefghij");
        assert!(!stream.has_gap());
    }

    #[test]
    fn a_gap_is_reported() {
        let mut stream = Stream::default();
        assert_eq!(joined(&mut stream, &[(7, b"ab"), (10, b"de")]), b"ab");
        assert!(stream.has_gap());
        assert_eq!(joined(&mut stream, &[(9, b"c")]), b"cde");
        assert!(!stream.has_gap());
    }
}
