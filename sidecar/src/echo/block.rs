//! Parts that the headers and the bytes of bulk transfers and of flows have in common.

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
