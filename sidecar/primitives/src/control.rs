//! Known answers about the measurement itself: the same work twice, twice the work, and no work.

use std::hint::black_box;

use sha2::{Digest, Sha256};

use crate::bench::{Case, Key, Suite};

const BLOCK: usize = 4096;

fn work(operation: &'static str, times: usize) -> Case {
    let key = Key::new("control", operation, "sha2");
    let block = [7_u8; BLOCK];
    Case::each(key, move || {
        for _ in 0..times {
            black_box(Sha256::digest(black_box(&block)));
        }
    })
}

/// `empty` is the least measurable time: a case that is not above it was optimised away.
pub fn suite() -> Suite {
    let key = Key::new("control", "empty", "loop");
    Suite {
        cases: vec![
            Case::each(key, || black_box(())),
            work("work", 1),
            work("work twice", 2),
            work("work again", 1),
        ],
        ..Suite::default()
    }
}
