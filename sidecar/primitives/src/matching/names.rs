//! Random names as in rule lists, the same in each run.

use std::ops::Range;

use fastrand::Rng;

const TOP: [&str; 8] = ["com", "net", "org", "de", "cn", "io", "co.uk", "app"];

pub fn label(rng: &mut Rng, length: Range<usize>) -> String {
    (0..rng.usize(length)).map(|_| rng.lowercase()).collect()
}

/// Such as `foobar.com` or `cdn.foobar.com`.
pub fn domain(rng: &mut Rng) -> String {
    let name = label(rng, 5..13);
    let top = TOP[rng.usize(..TOP.len())];
    if rng.f32() < 0.3 {
        format!("{}.{name}.{top}", label(rng, 3..9))
    } else {
        format!("{name}.{top}")
    }
}

/// `count` different values.
pub fn distinct(rng: &mut Rng, count: usize, make: impl Fn(&mut Rng) -> String) -> Vec<String> {
    let mut seen = hashbrown::HashSet::with_capacity(count);
    while seen.len() < count {
        seen.insert(make(rng));
    }
    // The order of a hash set differs from run to run.
    let mut all: Vec<String> = seen.into_iter().collect();
    all.sort_unstable();
    rng.shuffle(&mut all);
    all
}
