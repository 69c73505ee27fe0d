//! Known answers about the measurement itself: the same work twice, twice the work, and no work.

use std::hint::black_box;

use sha2::{Digest, Sha256};

use crate::bench::{Case, Key, Suite};

const BLOCK: usize = 4096;

fn work(operation: &'static str, times: usize) -> Case {
    let key = Key {
        subject: "control",
        operation,
        implementation: "sha2",
        bytes: None,
        rules: None,
    };
    let block = [7_u8; BLOCK];
    Case::new(key, move |bencher| {
        bencher.iter(|| {
            for _ in 0..times {
                black_box(Sha256::digest(black_box(&block)));
            }
        });
    })
}

/// `empty` is the least measurable time: a case that is not above it was optimised away.
pub fn suite() -> Suite {
    let key = Key {
        subject: "control",
        operation: "empty",
        implementation: "loop",
        bytes: None,
        rules: None,
    };
    Suite {
        cases: vec![
            Case::new(key, |bencher| bencher.iter(|| black_box(()))),
            work("work", 1),
            work("work twice", 2),
            work("work again", 1),
        ],
        ..Suite::default()
    }
}
