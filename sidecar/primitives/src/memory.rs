//! Memory: the copy that all other rows are compared with, and the bandwidth beyond the caches.

use std::hint::black_box;

use crate::bench::{Case, Key, Suite};

/// Copies this many bytes from one buffer to another.
pub fn copy(bytes: usize) -> Case {
    let key = Key::new("memory", "copy", "memcpy").of_bytes(bytes);
    let source: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    let mut target = vec![0; bytes];
    Case::new(key, move |bencher| {
        bencher.iter(|| {
            black_box(&mut target[..]).copy_from_slice(black_box(&source));
            black_box(&target);
        });
        assert_eq!(target, source);
    })
}

/// The sum of a block's words. The order of additions does not matter, so that the CPU waits for memory only.
fn sum(block: &[u64]) -> u64 {
    let mut lanes = [0_u64; 16];
    for words in block.chunks_exact(16) {
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = lane.wrapping_add(*word);
        }
    }
    lanes.into_iter().fold(0, u64::wrapping_add)
}

/// Read, write and copy of a block larger than every cache.
pub fn suite(block_bytes: usize) -> Suite {
    let key = |operation, implementation| {
        Key::new("memory", operation, implementation).of_bytes(block_bytes)
    };
    let words: Vec<u64> = (0..block_bytes / 8).map(|index| index as u64).collect();
    let expected = sum(&words);
    let (mut block, mut value) = (vec![1_u8; block_bytes], 0_u8);
    Suite {
        cases: vec![
            Case::each(key("read", "sum"), move || {
                assert_eq!(sum(black_box(&words)), expected);
            }),
            Case::each(key("write", "memset"), move || {
                value = value.wrapping_add(1);
                block.fill(black_box(value));
                black_box(&block);
            }),
            copy(block_bytes),
        ],
        ..Suite::default()
    }
}
