//! Rule sets: whether a name or an address matches one of many rules.

pub mod domain;
pub mod geoip;
pub mod ip;
mod names;

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::Error;
use crate::bench::{Case, Key};

/// The number of queries: they fit into a CPU cache, but are too many for branch prediction to learn. It is a power of two.
const QUERIES: usize = 4096;
/// The number of queries whose answers are compared with trying each rule.
const CHECKED: usize = 16;

/// A rule set. Each one defines its own types of queries and answers.
pub trait Matcher {
    type Query: ?Sized;
    type Answer: PartialEq + std::fmt::Debug;
    fn find(&self, query: &Self::Query) -> Self::Answer;
}

fn timed<T>(build: impl FnOnce() -> Result<T, Error>) -> Result<(T, Duration), Error> {
    let began = Instant::now();
    Ok((build()?, began.elapsed()))
}

/// A case that looks up the next query each time. At least half of the queries match rules. `expected` tries each rule.
fn case<M>(
    key: Key,
    (matcher, build): (M, Duration),
    queries: &[Box<M::Query>],
    expected: impl Fn(&M::Query) -> M::Answer,
) -> Result<Case, Error>
where
    M: Matcher + 'static,
    M::Query: 'static,
    Box<M::Query>: Clone,
{
    for query in queries.iter().take(CHECKED) {
        let (found, expected) = (matcher.find(query), expected(query));
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
    Ok(Case::new(key, move |bencher| {
        bencher.iter(|| {
            next = (next + 1) % QUERIES;
            black_box(matcher.find(black_box(&queries[next])))
        });
    })
    .built_in(build))
}

fn key(
    subject: &'static str,
    operation: &'static str,
    implementation: &'static str,
    rules: usize,
) -> Key {
    Key {
        subject,
        operation,
        implementation,
        bytes: None,
        rules: Some(rules),
    }
}
