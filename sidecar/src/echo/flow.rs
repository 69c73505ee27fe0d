//! Flows: connections that are kept full for any length of time, with small requests between the other bytes. This module has the parts
//! that both ends use.
//!
//! The client's first 16 bytes, all numbers big-endian: [`MAGIC`], the probe's tag, and one u64. The u64 has three fields. The highest 2
//! bits are the direction that is kept full: 0 neither, 1 up, 2 down. The middle 24 bits are the blocks per write, and the lowest 8 bits
//! the length of a name. The name follows: the congestion control that the far end sets on its socket. Without a name the far end sets
//! none.
//!
//! After the header, both ways are blocks of [`BLOCK`] bytes until the client ends the connection. A block's first u64 is its kind (2 bits,
//! highest) and a number. A pattern follows, and every byte is checked. A *filler* keeps a way full. A *request* goes up, and the far end
//! sends its *answer* as the next block that it writes. So the answer waits only for what was written before it. The answer says how many
//! bytes the far end had received and sent, and when. If the way up is kept full, the far end also sends *reports* with the same content.
//! It sends one each [`REPORT_NS`] in which bytes arrived, and at least one each [`SILENT_REPORT_NS`], because a request may wait upwards
//! for long.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

// Bulk transfers have these, too.
/// Offset of the probe's tag in a header: the tag follows a magic of this length.
pub const TAG_AT: usize = 7;
/// Size of a block: a number, and a pattern.
pub const BLOCK: usize = 1024;

const fn pattern(at: usize) -> u8 {
    (at * 31 + (at >> 8) * 7) as u8
}

pub const PATTERN: [u8; BLOCK] = {
    let mut block = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        block[at] = pattern(at);
        at += 1;
    }
    block
};

pub const HEADER: usize = 16;
pub const MAGIC: [u8; 7] = *b"\xf5wt-flw";
/// The most blocks of one write. A request waits for at most one write before it is written.
pub const MOST_BLOCKS: u64 = 64;
/// The longest name of a congestion control, with the kernel's terminating zero (TCP_CA_NAME_MAX), bytes.
pub const NAME_BYTES: usize = 16;
/// The most unsent bytes in the sockets of the measuring ends. Further waiting bytes are in the proxy and in the network.
pub const UNSENT_BYTES: u32 = 32 * 1024;

/// Time between two reports of the far end, ns.
pub const REPORT_NS: u64 = 100_000_000;
/// Time between two reports while no bytes arrive, ns.
pub const SILENT_REPORT_NS: u64 = 1_000_000_000;

const NUMBER: usize = 8;
const KIND: u64 = 3 << 62;
const REQUEST: u64 = 1 << 62;
const ANSWER: u64 = 2 << 62;
const REPORT: u64 = 3 << 62;
const BLOCKS_SHIFT: u32 = 8;

/// A header of bulk transfers or of flows.
pub fn header(magic: &[u8; TAG_AT], tag: u8, word: u64) -> [u8; HEADER] {
    let mut header = [tag; HEADER];
    header[..TAG_AT].copy_from_slice(magic);
    header[TAG_AT + 1..].copy_from_slice(&word.to_be_bytes());
    header
}

/// The direction that is kept full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    #[default]
    Neither = 0,
    Up = 1,
    Down = 2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub tag: u8,
    pub way: Way,
    pub blocks: usize,
    /// Length of the congestion control's name, which follows the header.
    pub name_bytes: usize,
}

impl Header {
    pub fn encode(self) -> [u8; HEADER] {
        let word =
            (self.way as u64) << 62 | (self.blocks as u64) << BLOCKS_SHIFT | self.name_bytes as u64;
        header(&MAGIC, self.tag, word)
    }

    /// Decodes what follows the magic; `None` if it is invalid.
    pub fn decode(tag: u8, word: u64) -> Option<Self> {
        let way = match word >> 62 {
            0 => Way::Neither,
            1 => Way::Up,
            2 => Way::Down,
            _ => return None,
        };
        let blocks = (word & !KIND) >> BLOCKS_SHIFT;
        let name_bytes = (word & 0xff) as usize;
        ((1..=MOST_BLOCKS).contains(&blocks) && name_bytes < NAME_BYTES).then_some(Self {
            tag,
            way,
            blocks: blocks as usize,
            name_bytes,
        })
    }
}

/// A received block other than filler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Request(u64),
    /// The answer to the request with this number.
    Answer(u64, Said),
    Report(Said),
}

/// The far end's counts of its traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// Bytes of all blocks received until `at_ns`.
    pub received: u64,
    pub sent: u64,
    /// Time on the clock of [`now_ns`](crate::net::clock::now_ns), shared by all processes of a machine. For an answer, it is the time at
    /// which the request arrived.
    pub at_ns: u64,
}

impl Mark {
    fn encode(self) -> [u8; BLOCK] {
        let (word, said) = match self {
            Self::Request(number) => (REQUEST | number, None),
            Self::Answer(number, said) => (ANSWER | number, Some(said)),
            Self::Report(said) => (REPORT, Some(said)),
        };
        let mut block = PATTERN;
        block[..NUMBER].copy_from_slice(&word.to_be_bytes());
        if let Some(said) = said {
            let values = [said.received, said.sent, said.at_ns];
            for (place, value) in block[NUMBER..].chunks_exact_mut(NUMBER).zip(values) {
                place.copy_from_slice(&value.to_be_bytes());
            }
        }
        block
    }
}

/// The writing side of one end: first the marks that wait, then filler if its way is kept full.
pub struct Outgoing {
    pending: Vec<u8>,
    written: usize,
    marks: VecDeque<Mark>,
    /// Blocks of filler per write; 0 means no filler.
    blocks: usize,
    filler: u64,
    /// Bytes that the kernel took.
    pub sent: u64,
}

impl Outgoing {
    /// `first` is written before all blocks.
    pub fn new(first: Vec<u8>, blocks: usize) -> Self {
        Self {
            pending: first,
            written: 0,
            marks: VecDeque::new(),
            blocks,
            filler: 0,
            sent: 0,
        }
    }

    pub fn mark(&mut self, mark: Mark) {
        self.marks.push_back(mark);
    }

    pub fn wants(&self) -> bool {
        self.written < self.pending.len() || !self.marks.is_empty() || self.blocks > 0
    }

    /// The bytes to write next; empty if there is nothing to write.
    pub fn next(&mut self) -> &[u8] {
        if self.written == self.pending.len() {
            self.pending.clear();
            self.written = 0;
            if let Some(mark) = self.marks.pop_front() {
                self.pending.extend_from_slice(&mark.encode());
            } else {
                for _ in 0..self.blocks {
                    self.pending.extend_from_slice(&self.filler.to_be_bytes());
                    self.pending.extend_from_slice(&PATTERN[NUMBER..]);
                    self.filler += 1;
                }
            }
        }
        &self.pending[self.written..]
    }

    pub fn written(&mut self, bytes: usize) {
        self.written += bytes;
        self.sent += bytes as u64;
    }
}

/// A received byte differs from the byte sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupted;

#[derive(Default)]
pub struct Incoming {
    partial: Vec<u8>,
    filler: u64,
    /// Bytes received.
    pub received: u64,
}

impl Incoming {
    /// Checks `bytes`, and calls `tell` for each complete mark.
    pub fn take(&mut self, bytes: &[u8], mut tell: impl FnMut(Mark)) -> Result<(), Corrupted> {
        self.received += bytes.len() as u64;
        let mut rest = bytes;
        if !self.partial.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(BLOCK - self.partial.len()));
            self.partial.extend_from_slice(part);
            rest = after;
            if self.partial.len() < BLOCK {
                return Ok(());
            }
            let block = std::mem::take(&mut self.partial);
            self.block(&block, &mut tell)?;
        }
        let mut blocks = rest.chunks_exact(BLOCK);
        for block in &mut blocks {
            self.block(block, &mut tell)?;
        }
        self.partial.extend_from_slice(blocks.remainder());
        Ok(())
    }

    fn block(&mut self, block: &[u8], tell: &mut impl FnMut(Mark)) -> Result<(), Corrupted> {
        let value = |at: usize| -> u64 {
            let bytes = block[at * NUMBER..].first_chunk();
            u64::from_be_bytes(*bytes.expect("a block has four numbers"))
        };
        let (kind, number) = (value(0) & KIND, value(0) & !KIND);
        let says = kind == ANSWER || kind == REPORT;
        let numbers = if says { 4 * NUMBER } else { NUMBER };
        if block[numbers..] != PATTERN[numbers..] {
            return Err(Corrupted);
        }
        let said = || Said {
            received: value(1),
            sent: value(2),
            at_ns: value(3),
        };
        match kind {
            REQUEST => tell(Mark::Request(number)),
            ANSWER => tell(Mark::Answer(number, said())),
            REPORT if number == 0 => tell(Mark::Report(said())),
            0 if number == self.filler => self.filler += 1,
            _ => return Err(Corrupted),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: Said = Said {
        received: 5,
        sent: 6,
        at_ns: 7,
    };

    fn answer(number: u64) -> Mark {
        Mark::Answer(number, SAID)
    }

    #[test]
    fn a_header_comes_back_as_it_was_and_nonsense_does_not() {
        for way in [Way::Neither, Way::Up, Way::Down] {
            let header = Header {
                tag: 7,
                way,
                blocks: 16,
                name_bytes: 5,
            };
            let encoded = header.encode();
            let word = encoded[8..]
                .iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte));
            assert_eq!(Header::decode(7, word), Some(header));
        }
        assert_eq!(Header::decode(7, u64::MAX), None);
        assert_eq!(Header::decode(7, 0), None);
        assert_eq!(Header::decode(7, 16 << 8 | 16), None);
    }

    #[test]
    fn marks_go_between_fillers_however_it_is_cut() {
        let mut outgoing = Outgoing::new(Vec::new(), 4);
        let mut stream = Vec::new();
        for number in 0..6 {
            let length = outgoing.next().len();
            stream.extend_from_slice(outgoing.next());
            outgoing.written(length);
            if number == 1 {
                outgoing.mark(Mark::Request(8));
                outgoing.mark(answer(9));
                outgoing.mark(Mark::Report(SAID));
            }
        }
        assert_eq!(stream.len(), (3 * 4 + 3) * BLOCK);
        assert_eq!(outgoing.sent, stream.len() as u64);
        for piece in [1, 7, 1_000, 1_024, 5_000, stream.len()] {
            let (mut incoming, mut marks) = (Incoming::default(), Vec::new());
            for bytes in stream.chunks(piece) {
                incoming.take(bytes, |mark| marks.push(mark)).unwrap();
            }
            let all = [Mark::Request(8), answer(9), Mark::Report(SAID)];
            assert_eq!(marks, all, "pieces of {piece}");
            assert_eq!(incoming.received, stream.len() as u64);
        }
    }

    #[test]
    fn any_wrong_byte_and_a_lost_block_are_found() {
        let mut outgoing = Outgoing::new(Vec::new(), 3);
        let stream = outgoing.next().to_vec();
        for at in [0, 7, 8, 1_023, 1_030, 3_000] {
            let mut wrong = stream.clone();
            wrong[at] ^= 1;
            let taken = Incoming::default().take(&wrong, |_| {});
            assert_eq!(taken, Err(Corrupted), "byte {at}");
        }
        let lost = [&stream[..BLOCK], &stream[2 * BLOCK..]].concat();
        assert_eq!(Incoming::default().take(&lost, |_| {}), Err(Corrupted));
    }

    #[test]
    fn nothing_is_written_where_nothing_waits() {
        let mut outgoing = Outgoing::new(vec![1, 2], 0);
        assert!(outgoing.wants());
        assert_eq!(outgoing.next(), [1, 2]);
        outgoing.written(2);
        assert!(!outgoing.wants() && outgoing.next().is_empty());
        outgoing.mark(Mark::Request(1));
        assert!(outgoing.wants());
        assert_eq!(outgoing.next().len(), BLOCK);
    }
}
