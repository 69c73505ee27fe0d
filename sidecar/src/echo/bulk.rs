//! Bulk transfers, which share a port with the echo: their header and their bytes.
//! The client's first 16 bytes, all numbers big-endian:
//! | Bytes | What |
//! |---|---|
//! | 0–6 | [`MAGIC`] |
//! | 7 | the probe's tag, by which the far end counts |
//! | 8–15 | one u64: direction (2 bits, highest: 1 up, 2 down, 3 both), whether each byte is checked (1 bit), size of the far end's writes (24 bits), bytes per direction (37 bits) |
//! "Up": the client sends that number of bytes, and the far end answers with 8 bytes. The answer is the number of bytes received,
//! or, with the highest bit set, the number before the first wrong byte. "Down": the far end sends the bytes. "Both": both ways at
//! once, and the answer follows the far end's bytes. No half-closes: some proxies break on them. Another header may follow when all
//! bytes have arrived.
//! The bytes of a direction are blocks of [`BLOCK`] bytes: the block's number (u64), and a pattern. The receiver checks the number of
//! each block. It checks all bytes of one block in [`SAMPLED`], or of every block if the header asks for it.

use super::flow::{self, BLOCK, PATTERN, TAG_AT};
use super::transfer::{Direction, Transfer};

pub const HEADER: usize = 16;
pub const MAGIC: [u8; 7] = *b"\xf5wt-blk";
/// Size of the far end's answer to an upload, bytes.
pub const CONFIRMATION: usize = 8;
const SAMPLED: u64 = 16;
const NUMBER: usize = 8;
/// The largest write, bytes.
pub const MAX_WRITE: usize = 1 << 20;
/// The most bytes that one direction of one transfer carries: 128 GiB less one.
pub const MAX_BYTES: u64 = (1 << BYTES_BITS) - 1;
const BYTES_BITS: u32 = 37;
const EVERY_BYTE: u64 = 1 << 61;
const WRONG: u64 = 1 << 63;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub tag: u8,
    pub direction: Direction,
    /// Whether the receiver checks each byte. Otherwise it checks all bytes of one block in [`SAMPLED`].
    pub every_byte: bool,
    pub write_bytes: usize,
    pub bytes: u64,
}

/// The kind of a connection, by its first bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum First {
    /// The bytes may still become a header.
    Unsure,
    Bulk(Header),
    /// Only the engine `blocking` serves flows.
    Flow(flow::Header),
    /// The magic is right, and the rest is invalid.
    Broken,
    Echo,
}

impl Header {
    /// Header of one transfer of `bytes` bytes, for the probe with this tag.
    pub fn new(transfer: &Transfer, bytes: u64, tag: u8) -> Self {
        Self {
            tag,
            direction: transfer.direction,
            every_byte: transfer.every_byte,
            write_bytes: transfer.write_bytes as usize,
            bytes,
        }
    }

    pub fn encode(self) -> [u8; HEADER] {
        let direction = self.direction as u64;
        let every_byte = if self.every_byte { EVERY_BYTE } else { 0 };
        let word =
            direction << 62 | every_byte | (self.write_bytes as u64) << BYTES_BITS | self.bytes;
        flow::header(&MAGIC, self.tag, word)
    }

    pub fn decode(bytes: &[u8]) -> First {
        let known = bytes.len().min(MAGIC.len());
        let is = |magic: &[u8]| bytes[..known] == magic[..known];
        if !is(&MAGIC) && !is(&flow::MAGIC) {
            return First::Echo;
        }
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return First::Unsure;
        };
        let tag = header[TAG_AT];
        // The upper bytes are cut off.
        let word = u128::from_be_bytes(*header) as u64;
        if is(&flow::MAGIC) {
            return flow::Header::decode(tag, word).map_or(First::Broken, First::Flow);
        }
        let direction = match word >> 62 {
            1 => Direction::Up,
            2 => Direction::Down,
            3 => Direction::Both,
            _ => return First::Broken,
        };
        let write_bytes = (word >> BYTES_BITS) as usize & ((1 << (61 - BYTES_BITS)) - 1);
        if !(1..=MAX_WRITE).contains(&write_bytes) {
            return First::Broken;
        }
        First::Bulk(Self {
            tag,
            direction,
            every_byte: word & EVERY_BYTE != 0,
            write_bytes,
            bytes: word & MAX_BYTES,
        })
    }
}

/// The far end's 8 bytes after an upload: the number of bytes received, or the position of the first wrong byte.
pub fn confirmation(received: u64, first_wrong: Option<u64>) -> [u8; CONFIRMATION] {
    first_wrong
        .map_or(received, |wrong| wrong | WRONG)
        .to_be_bytes()
}

/// The number of bytes that arrived, or the position of the first wrong byte as the error.
pub fn confirmed(answer: [u8; CONFIRMATION]) -> Result<u64, u64> {
    let word = u64::from_be_bytes(answer);
    if word & WRONG == 0 {
        Ok(word)
    } else {
        Err(word & !WRONG)
    }
}

/// Generates the bytes of one direction.
pub struct Source {
    buffer: Vec<u8>,
    write_bytes: usize,
    at: u64,
    bytes: u64,
}

impl Source {
    pub fn new(bytes: u64, write_bytes: usize) -> Self {
        let blocks = write_bytes.div_ceil(BLOCK) + 1;
        Self {
            buffer: PATTERN.repeat(blocks),
            write_bytes,
            at: 0,
            bytes,
        }
    }

    /// The bytes to write next; empty at the end.
    pub fn next(&mut self) -> &mut [u8] {
        let left = self.bytes - self.at;
        let length = left.min(self.write_bytes as u64) as usize;
        let phase = (self.at % BLOCK as u64) as usize;
        let first = self.at / BLOCK as u64;
        let covered = self.buffer[..phase + length].len().div_ceil(BLOCK);
        for (number, block) in (first..).zip(self.buffer.chunks_exact_mut(BLOCK).take(covered)) {
            block[..NUMBER].copy_from_slice(&number.to_be_bytes());
        }
        &mut self.buffer[phase..phase + length]
    }

    pub fn written(&mut self, bytes: usize) {
        self.at += bytes as u64;
    }

    pub fn done(&self) -> bool {
        self.at == self.bytes
    }
}

/// Checks the bytes of one direction.
#[derive(Default)]
pub struct Checker {
    at: u64,
    first_wrong: Option<u64>,
    every_byte: bool,
}

impl Checker {
    pub fn new(every_byte: bool) -> Self {
        Self {
            every_byte,
            ..Self::default()
        }
    }

    pub fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let block = self.at / BLOCK as u64;
            let phase = (self.at % BLOCK as u64) as usize;
            let (part, after) = rest.split_at(rest.len().min(BLOCK - phase));
            if self.first_wrong.is_none() {
                self.check(block, phase, part);
            }
            self.at += part.len() as u64;
            rest = after;
        }
    }

    fn check(&mut self, block: u64, phase: usize, part: &[u8]) {
        let number = part.len().min(NUMBER.saturating_sub(phase));
        let right = number == 0 || part[..number] == block.to_be_bytes()[phase..phase + number];
        let full = self.every_byte || block.is_multiple_of(SAMPLED);
        let right =
            right && (!full || part[number..] == PATTERN[phase + number..phase + part.len()]);
        if !right {
            self.first_wrong = Some(self.at);
        }
    }

    pub fn received(&self) -> u64 {
        self.at
    }

    /// Start of the checked part in which the first wrong byte was found.
    pub fn first_wrong(&self) -> Option<u64> {
        self.first_wrong
    }
}

#[cfg(test)]
mod tests;
