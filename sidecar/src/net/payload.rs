//! Payload that can be checked byte by byte: its probe's tag, its sequence number, then bytes that depend on it.

use super::tag;

const STARTS: usize = 4_096;
/// Bytes of the tag and the sequence number in front, big endian.
pub const SEQUENCE_BYTES: usize = 4;
/// A payload with less content may be another one by chance.
const LEAST_CONTENT: usize = 8;
/// The first of these bytes is the tag.
const TAG_SHIFT: u32 = 24;
const SEQUENCE_MASK: u32 = (1 << TAG_SHIFT) - 1;

/// Payloads of one size. Making and checking one is a copy or a comparison of memory.
pub struct Pattern {
    bytes: Vec<u8>,
    size: usize,
    tag: u8,
}

impl Pattern {
    /// `size` is of the whole payload. Below [`SEQUENCE_BYTES`] a payload has the tag and the low bytes of its number.
    pub fn new(size: usize) -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let bytes = (0..size + STARTS)
            .map(|_| {
                // xorshift64: no byte sequence repeats within any payload.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        Self {
            bytes,
            size,
            tag: 0,
        }
    }

    /// The same as payloads of the probe that has this tag: the far end counts by it.
    pub fn tagged(self, tag: u8) -> Self {
        Self { tag, ..self }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// All bytes that payloads of this size are pieces of, behind their sequence numbers.
    pub fn pieces(&self) -> &[u8] {
        &self.bytes
    }

    fn of(&self, sequence: u32) -> &[u8] {
        let sequence = sequence & SEQUENCE_MASK;
        let start = (sequence.wrapping_mul(0x9E37_79B1) >> 20) as usize % STARTS;
        &self.bytes[start..start + self.size.saturating_sub(SEQUENCE_BYTES)]
    }

    fn head(&self) -> usize {
        self.size.min(SEQUENCE_BYTES)
    }

    /// The tag and the number; of these the first [`Self::head`] bytes are sent.
    fn front(&self, sequence: u32) -> [u8; SEQUENCE_BYTES] {
        let mut front = (u32::from(self.tag) << TAG_SHIFT | sequence & SEQUENCE_MASK).to_be_bytes();
        front.copy_within(SEQUENCE_BYTES + 1 - self.head().., 1);
        front
    }

    /// Writes the payload of a sequence number; `into` is of the payload's size.
    #[inline]
    pub fn fill(&self, sequence: u32, into: &mut [u8]) {
        let (front, rest) = into.split_at_mut(self.head());
        front.copy_from_slice(&self.front(sequence)[..front.len()]);
        rest.copy_from_slice(self.of(sequence));
    }

    /// Whether it is the whole payload of this sequence number, to the last byte.
    #[inline]
    pub fn matches(&self, sequence: u32, payload: &[u8]) -> bool {
        let head = self.head();
        payload.len() == self.size
            && payload[..head] == self.front(sequence)[..head]
            && payload[head..] == *self.of(sequence)
    }

    /// Whether it is a whole payload of another probe, of this size or smaller. A changed tag looks like one, too; then an answer is missing.
    pub fn is_of_another(&self, payload: &[u8]) -> bool {
        let Some((front, rest)) = payload.split_first_chunk::<SEQUENCE_BYTES>() else {
            return false;
        };
        let tag = tag::of(front[0]);
        let own = self.of(u32::from_be_bytes(*front));
        tag != tag::NOBODY
            && tag != self.tag
            && rest.len() >= LEAST_CONTENT
            && own.starts_with(rest)
    }

    /// The sequence number in front of a payload, or none if the payload is too short or has another tag.
    #[inline]
    pub fn sequence(&self, payload: &[u8]) -> Option<u32> {
        let front = u32::from_be_bytes(*payload.first_chunk::<SEQUENCE_BYTES>()?);
        (front >> TAG_SHIFT == u32::from(self.tag)).then_some(front & SEQUENCE_MASK)
    }

    /// The same for a payload of any size: the last number below `next` whose low bytes are in front of it.
    #[inline]
    pub fn latest(&self, payload: &[u8], next: usize) -> Option<u32> {
        if self.size >= SEQUENCE_BYTES {
            return self.sequence(payload);
        }
        let (tag, low) = payload.get(..self.size)?.split_first()?;
        let numbers = 1 << (8 * low.len());
        let number = low
            .iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte));
        let last = u32::try_from(next).ok()?.checked_sub(1)?;
        let latest = last.checked_sub(last.wrapping_sub(number) % numbers)?;
        (*tag == self.tag).then_some(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_payload_is_only_itself() {
        let pattern = Pattern::new(64).tagged(9);
        let mut payload = [0; 64];
        for number in [0, 1, 2, 77_777, SEQUENCE_MASK] {
            pattern.fill(number, &mut payload);
            assert_eq!(payload[0], 9);
            assert_eq!(pattern.sequence(&payload), Some(number));
            assert_eq!(Pattern::new(64).sequence(&payload), None);
            assert!(pattern.matches(number, &payload));
            assert!(!pattern.matches(number.wrapping_add(1), &payload));
            assert!(!pattern.matches(number, &payload[..63]));
            for at in 0..64 {
                payload[at] ^= 1;
                assert!(!pattern.matches(number, &payload), "byte {at}");
                payload[at] ^= 1;
            }
        }
        assert_eq!(pattern.sequence(&[9, 2, 3]), None);
    }

    #[test]
    fn a_whole_payload_of_another_probe_is_known_and_a_changed_one_is_not() {
        let own = Pattern::new(64).tagged(9);
        for size in [12, 40, 64] {
            let mut stale = vec![0; size];
            Pattern::new(size).tagged(8).fill(77_777, &mut stale);
            assert!(own.is_of_another(&stale), "{size}");
            assert!(!Pattern::new(64).tagged(8).is_of_another(&stale));
            for at in 1..size {
                stale[at] ^= 1;
                assert!(!own.is_of_another(&stale), "byte {at}");
                stale[at] ^= 1;
            }
            stale[0] = tag::NOBODY;
            assert!(!own.is_of_another(&stale));
        }
        assert!(!own.is_of_another(&[8, 0, 0, 1]));
        assert!(!Pattern::new(40).tagged(9).is_of_another(&[8; 64]));
    }

    #[test]
    fn short_payloads_have_the_latest_number_that_fits() {
        for (size, sent, next, latest) in [
            (1, 4, 5, Some(4)),
            (1, 3, 5, Some(4)),
            (2, 255, 300, Some(255)),
            (2, 299, 300, Some(299)),
            (2, 7, 300, Some(263)),
            (2, 7, 5, None),
            (3, 70_000, 70_001, Some(70_000)),
            (4, 70_000, 3, Some(70_000)),
        ] {
            let pattern = Pattern::new(size).tagged(9);
            let mut payload = vec![0; size];
            pattern.fill(sent, &mut payload);
            assert!(pattern.matches(sent, &payload));
            assert_eq!(pattern.latest(&payload, next), latest, "{size}: {sent}");
            assert_eq!(Pattern::new(size).latest(&payload, next), None);
            assert_eq!(pattern.latest(&payload[1..], next), None);
        }
        assert_eq!(Pattern::new(1).latest(&[0], 0), None);
    }
}
