use super::*;

#[test]
fn a_header_comes_back_as_it_was() {
    for (direction, every_byte) in [
        (Direction::Up, true),
        (Direction::Down, false),
        (Direction::Both, true),
    ] {
        let header = Header {
            tag: 7,
            direction,
            every_byte,
            write_bytes: MAX_WRITE,
            bytes: MAX_BYTES,
        };
        let encoded = header.encode();
        assert_eq!(Header::decode(&encoded), First::Bulk(header));
        assert_eq!(Header::decode(&encoded[..HEADER - 1]), First::Unsure);
        assert_eq!(Header::decode(&[]), First::Unsure);
    }
    assert_eq!(Header::decode(b"x"), First::Echo);
    let nonsense = [MAGIC.as_slice(), &[0; 9]].concat();
    assert_eq!(Header::decode(&nonsense), First::Broken);
}

/// Writes `bytes` in pieces of `write` bytes, and reads them in pieces of `read` bytes.
fn transfer(bytes: u64, write: usize, read: usize, spoil: Option<usize>) -> Checker {
    checked(Checker::default(), bytes, write, read, spoil)
}

fn checked(
    mut checker: Checker,
    bytes: u64,
    write: usize,
    read: usize,
    spoil: Option<usize>,
) -> Checker {
    let mut source = Source::new(bytes, write);
    let mut all = Vec::new();
    while !source.done() {
        // A short write, as a full socket makes it.
        let part = source.next();
        let written = part.len() - part.len() / 3;
        all.extend_from_slice(&part[..written]);
        source.written(written);
    }
    assert_eq!(all.len() as u64, bytes);
    assert!(source.next().is_empty());
    if let Some(at) = spoil {
        all[at] ^= 0x40;
    }
    all.chunks(read).for_each(|part| checker.take(part));
    checker
}

#[test]
fn whatever_the_sizes_the_bytes_are_right() {
    for write in [1, 7, 1024, 1500, 65_536] {
        for read in [1, 5, 1024, 4000, 100_000] {
            let checker = transfer(70_001, write, read, None);
            assert_eq!((checker.received(), checker.first_wrong()), (70_001, None));
        }
    }
}

#[test]
fn a_wrong_number_and_a_wrong_byte_of_a_full_block_are_found() {
    for at in [0, 7, 8, 1023, 5 * BLOCK + 7, 16 * BLOCK + 500] {
        let checker = transfer(40_000, 4096, 1000, Some(at));
        let wrong = checker.first_wrong().unwrap();
        assert!(wrong <= at as u64 && at as u64 - wrong < BLOCK as u64);
    }
    let beyond = transfer(40_000, 4096, 1000, Some(5 * BLOCK + 8));
    assert_eq!(
        beyond.first_wrong(),
        None,
        "only one block in 16 is compared"
    );
}

#[test]
fn every_byte_is_checked_where_it_is_asked_for() {
    let right = checked(Checker::new(true), 70_001, 1500, 4000, None);
    assert_eq!(right.first_wrong(), None);
    for at in [5 * BLOCK + 8, 39 * BLOCK - 1, 39_999] {
        let wrong = checked(Checker::new(true), 40_000, 4096, 1000, Some(at));
        assert!(
            wrong
                .first_wrong()
                .is_some_and(|found| found <= at as u64 && at as u64 - found < BLOCK as u64)
        );
    }
}

#[test]
fn a_confirmation_says_how_many_or_where_it_went_wrong() {
    assert_eq!(confirmed(confirmation(42, None)), Ok(42));
    assert_eq!(confirmed(confirmation(42, Some(7))), Err(7));
}
