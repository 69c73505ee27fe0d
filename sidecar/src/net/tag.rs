//! The tag of a probe: the first byte of everything that the probe sends. The far end finds the probe by this tag.

/// The number of tags; no probe has tag 0.
pub const TAGS: usize = 128;
/// The tag of bytes that no probe has sent.
pub const NOBODY: u8 = 0;
/// The tag of a connection over which nothing has come so far.
pub const UNTOLD: u8 = u8::MAX;

/// The tag that a first byte is.
pub fn of(byte: u8) -> u8 {
    if usize::from(byte) < TAGS {
        byte
    } else {
        NOBODY
    }
}

/// The tag after `last` that none of `used` is.
pub fn next(last: u8, used: &[u8]) -> u8 {
    let after = |tag: u8| tag % (TAGS - 1) as u8 + 1;
    let mut tag = after(last);
    while used.contains(&tag) && tag != last {
        tag = after(tag);
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_round_and_leave_out_nobody_and_those_in_use() {
        assert_eq!(next(0, &[]), 1);
        assert_eq!(next(1, &[2, 3]), 4);
        assert_eq!(next(126, &[]), 127);
        assert_eq!(next(127, &[1]), 2);
    }
}
