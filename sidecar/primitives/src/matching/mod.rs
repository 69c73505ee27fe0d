//! Rule sets: whether a name or an address matches one of many rules.

pub mod domain;
pub mod geoip;
pub mod ip;
mod names;

use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

use crate::Error;
use crate::bench::{Case, Key, Suite};

/// The number of queries: they fit into a CPU cache, but are too many for branch prediction to learn. It is a power of two.
const QUERIES: usize = 4096;
/// The number of queries whose answers are compared with trying each rule.
const CHECKED: usize = 16;

/// Adds a case that looks up the next query each time. `build` makes what finds the answer to a query. At least half of the queries match
/// rules. `expected` tries each rule.
fn add<Q, A, F>(
    suite: &mut Suite,
    key: Key,
    build: impl FnOnce() -> Result<F, Error>,
    queries: &[Box<Q>],
    expected: impl Fn(&Q) -> A,
) -> Result<(), Error>
where
    Q: ?Sized + 'static,
    Box<Q>: Clone,
    A: PartialEq + Debug + 'static,
    F: Fn(&Q) -> A + 'static,
{
    let began = Instant::now();
    let find = build()?;
    let built = began.elapsed();
    for query in queries.iter().take(CHECKED) {
        let (found, expected) = (find(query), expected(query));
        if found != expected {
            return Err(Error(format!(
                "{} rules for {} of {}: found {found:?} where trying each rule finds {expected:?}; nothing was measured",
                key.rules.unwrap_or_default(),
                key.subject,
                key.implementation
            )));
        }
    }
    let queries = queries.to_vec();
    let mut next = 0;
    let case = Case::each(key, move || {
        next = (next + 1) % QUERIES;
        black_box(find(black_box(&queries[next])))
    });
    suite.cases.push(case.built_in(built));
    suite.checked += CHECKED;
    Ok(())
}
