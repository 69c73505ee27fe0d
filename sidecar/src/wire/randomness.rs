//! Decides whether bytes look random, like the output of a cipher.

/// The least number of bytes that can be judged.
const FEWEST: u32 = 128;
const BLOCK: u32 = 1_024;
/// Two random bytes are equal in 1 of 256 cases. In 128 random bytes this rate is more than ten standard deviations away.
const EQUAL_MOST: f64 = 4.0 / 256.0;
/// A random byte is printable in 95 of 256 cases.
const PRINTABLE_MOST: f64 = 0.75;

/// Bytes of one direction, judged block by block.
pub struct Blocks {
    counts: [u32; 256],
    total: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            counts: [0; 256],
            total: 0,
        }
    }
}

impl Blocks {
    /// Describes the bytes if they do not look random.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<&'static str> {
        let mut looks = None;
        for byte in bytes {
            self.counts[usize::from(*byte)] += 1;
            self.total += 1;
            if self.total == BLOCK {
                looks = looks.or(self.end());
            }
        }
        looks
    }

    /// Judges the bytes that do not fill a block. The next bytes begin a new block.
    pub fn end(&mut self) -> Option<&'static str> {
        let looks = self.look();
        *self = Self::default();
        looks
    }

    fn look(&self) -> Option<&'static str> {
        if self.total < FEWEST {
            return None;
        }
        let total = f64::from(self.total);
        let printable: u32 = self.counts[0x20..0x7f].iter().sum();
        if f64::from(printable) / total > PRINTABLE_MOST {
            return Some("plain text");
        }
        let equal: f64 = self
            .counts
            .iter()
            .map(|&count| f64::from(count) * f64::from(count.saturating_sub(1)))
            .sum();
        (equal / (total * (total - 1.0)) > EQUAL_MOST).then_some("plain bytes that repeat")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(bytes: &[u8]) -> Option<&'static str> {
        let mut blocks = Blocks::default();
        blocks.feed(bytes).or(blocks.end())
    }

    #[test]
    fn what_is_random_looks_so() {
        let mut random = fastrand::Rng::with_seed(3);
        for size in [0, 127, 128, 129, 1_500, 100_000] {
            for _ in 0..200 {
                let bytes: Vec<u8> = (0..size).map(|_| random.u8(..)).collect();
                assert_eq!(looks(&bytes), None, "{size}");
            }
        }
    }

    #[test]
    fn what_is_plain_does_not() {
        let text = "GET / HTTP/1.1\r\nHost: windtunnel.test\r\nAccept: */*\r\n\r\n".repeat(4);
        assert_eq!(looks(text.as_bytes()), Some("plain text"));
        assert_eq!(looks(&[0; 200]), Some("plain bytes that repeat"));
        let table: Vec<u8> = (0..512u32).flat_map(u32::to_be_bytes).collect();
        assert_eq!(looks(&table), Some("plain bytes that repeat"));
    }

    #[test]
    fn plain_bytes_after_random_ones_are_found() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut bytes: Vec<u8> = (0..1 << 20).map(|_| random.u8(..)).collect();
        assert_eq!(looks(&bytes), None);
        bytes.extend([b'x'; 2_048]);
        assert_eq!(looks(&bytes), Some("plain text"));
    }
}
