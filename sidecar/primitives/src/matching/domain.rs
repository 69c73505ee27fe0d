//! Domain rules as in sing-box and xray: by suffix, by keyword, by regular expression.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use fastrand::Rng;
use fst::Set;
use hashbrown::HashSet;
use regex::Regex;
use regex_filtered::Regexes;

use super::{Matcher, QUERIES, case, key, names, timed};
use crate::Error;
use crate::bench::{Skipped, Suite};

/// The most rules that are tried one by one. More rules would only be slower, in proportion.
const MOST_ONE_BY_ONE: usize = 1000;

/// A finite-state transducer of the reversed names. A query is one walk from the end of the name, without allocation.
struct Transducer(Set<Vec<u8>>);

impl Transducer {
    fn new(rules: &[String]) -> Result<Self, Error> {
        let mut reversed: Vec<Vec<u8>> = rules
            .iter()
            .map(|rule| rule.bytes().rev().collect())
            .collect();
        reversed.sort_unstable();
        reversed.dedup();
        Set::from_iter(reversed)
            .map(Self)
            .map_err(|error| Error::new("fst", error))
    }
}

impl Matcher for Transducer {
    type Query = str;
    type Answer = bool;

    fn find(&self, name: &str) -> bool {
        let fst = self.0.as_fst();
        let mut node = fst.root();
        for byte in name.bytes().rev() {
            if byte == b'.' && node.is_final() {
                return true;
            }
            match node.find_input(byte) {
                Some(index) => node = fst.node(node.transition_addr(index)),
                None => return false,
            }
        }
        node.is_final()
    }
}

/// A hash set. A query looks up the name and each of its parents.
struct Parents(HashSet<Box<str>>);

impl Parents {
    fn new(rules: &[String]) -> Self {
        Self(rules.iter().map(|rule| rule.as_str().into()).collect())
    }
}

impl Matcher for Parents {
    type Query = str;
    type Answer = bool;

    fn find(&self, name: &str) -> bool {
        let mut rest = name;
        loop {
            if self.0.contains(rest) {
                return true;
            }
            match rest.split_once('.') {
                Some((_, parent)) => rest = parent,
                None => return false,
            }
        }
    }
}

/// All keywords in one automaton.
struct Keywords(AhoCorasick);

impl Keywords {
    fn new(rules: &[String]) -> Result<Self, Error> {
        AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(rules)
            .map(Self)
            .map_err(|error| Error::new("aho-corasick", error))
    }
}

impl Matcher for Keywords {
    type Query = str;
    type Answer = bool;

    fn find(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// Tries only expressions whose literals are in the name.
struct Filtered(Regexes);

impl Filtered {
    fn new(rules: &[String]) -> Result<Self, Error> {
        let failed = |error: &dyn std::fmt::Display| Error::new("regex-filtered", error);
        let mut builder = regex_filtered::Builder::new_atom_len(3);
        for rule in rules {
            builder = builder.push(rule).map_err(|error| failed(&error))?;
        }
        builder.build().map(Self).map_err(|error| failed(&error))
    }
}

impl Matcher for Filtered {
    type Query = str;
    type Answer = bool;

    fn find(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// Tries one expression after the other, as sing-box does.
struct OneByOne(Vec<Regex>);

impl OneByOne {
    fn new(rules: &[String]) -> Result<Self, Error> {
        let compiled: Result<_, _> = rules.iter().map(|rule| Regex::new(rule)).collect();
        compiled
            .map(Self)
            .map_err(|error| Error::new("regex", error))
    }
}

impl Matcher for OneByOne {
    type Query = str;
    type Answer = bool;

    fn find(&self, name: &str) -> bool {
        self.0.iter().any(|rule| rule.is_match(name))
    }
}

/// Rules of each kind in one router, as in a typical configuration: most are suffixes.
struct Mixed {
    suffixes: Parents,
    keywords: Keywords,
    expressions: OneByOne,
}

impl Matcher for Mixed {
    type Query = str;
    type Answer = bool;

    fn find(&self, name: &str) -> bool {
        self.suffixes.find(name) || self.keywords.find(name) || self.expressions.find(name)
    }
}

fn is_below(name: &str, rule: &str) -> bool {
    name.strip_suffix(rule)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Half of the queries are made from a rule, and half at random. They alternate, so that any part of them is like the whole.
fn queries(
    rng: &mut Rng,
    rules: &[String],
    hit: impl Fn(&mut Rng, &str) -> String,
) -> Vec<Box<str>> {
    (0..QUERIES)
        .map(|index| {
            if index % 2 == 0 {
                let rule = rng.usize(..rules.len());
                hit(rng, &rules[rule]).into()
            } else {
                let host = names::label(rng, 3..8);
                format!("{host}.{}", names::domain(rng)).into()
            }
        })
        .collect()
}

fn suffixes(suite: &mut Suite, count: usize) -> Result<(), Error> {
    let mut rng = Rng::with_seed(1);
    let rules = names::distinct(&mut rng, count, names::domain);
    let queries = queries(&mut rng, &rules, |rng, rule| {
        format!("{}.{rule}", names::label(rng, 3..8))
    });
    let expected = |name: &str| rules.iter().any(|rule| is_below(name, rule));
    let built = timed(|| Transducer::new(&rules))?;
    suite.cases.push(case(
        key("suffix", "match", "fst", count),
        built,
        &queries,
        expected,
    )?);
    let built = timed(|| Ok(Parents::new(&rules)))?;
    suite.cases.push(case(
        key("suffix", "match", "hash set", count),
        built,
        &queries,
        expected,
    )?);
    Ok(())
}

fn keywords(suite: &mut Suite, count: usize) -> Result<(), Error> {
    let mut rng = Rng::with_seed(2);
    let rules = names::distinct(&mut rng, count, |rng| names::label(rng, 6..15));
    let queries = queries(&mut rng, &rules, |rng, rule| {
        format!("{}{rule}.{}", names::label(rng, 1..4), names::domain(rng))
    });
    let expected = |name: &str| rules.iter().any(|rule| name.contains(rule));
    let built = timed(|| Keywords::new(&rules))?;
    suite.cases.push(case(
        key("keyword", "match", "aho-corasick", count),
        built,
        &queries,
        expected,
    )?);
    Ok(())
}

fn regexes(suite: &mut Suite, count: usize, most: usize) -> Result<(), Error> {
    let filtered = key("regex", "match", "regex-filtered", count);
    let one_by_one = key("regex", "match", "one by one", count);
    if count > most {
        suite.skipped.push(Skipped {
            key: filtered,
            reason: "each compiled expression takes some 11 KB of memory and 0.1 ms".to_owned(),
        });
    }
    if count > MOST_ONE_BY_ONE {
        suite.skipped.push(Skipped {
            key: one_by_one,
            reason: "time and memory grow in proportion to the rules".to_owned(),
        });
    }
    if count > most {
        return Ok(());
    }
    let mut rng = Rng::with_seed(3);
    let labels = names::distinct(&mut rng, count, |rng| names::label(rng, 4..12));
    let rules: Vec<String> = labels.iter().map(|label| expression(label)).collect();
    let queries = queries(&mut rng, &labels, |rng, label| {
        format!("ad{}.{label}.net", rng.u8(..))
    });
    // Compiling all expressions again would take long, and none matches without its label.
    let expected = |name: &str| {
        labels.iter().zip(&rules).any(|(label, rule)| {
            name.contains(label) && Regex::new(rule).is_ok_and(|rule| rule.is_match(name))
        })
    };
    let built = timed(|| Filtered::new(&rules))?;
    suite.cases.push(case(filtered, built, &queries, expected)?);
    if count <= MOST_ONE_BY_ONE {
        let built = timed(|| OneByOne::new(&rules))?;
        suite
            .cases
            .push(case(one_by_one, built, &queries, expected)?);
    }
    Ok(())
}

fn expression(label: &str) -> String {
    format!(r"^ads?[0-9]*[-.]{label}\.(com|net)$")
}

/// One rule in a hundred is a keyword, and one in a thousand an expression.
fn mixed(suite: &mut Suite, count: usize) -> Result<(), Error> {
    let mut rng = Rng::with_seed(6);
    let keywords = names::distinct(&mut rng, count.div_ceil(100), |rng| {
        names::label(rng, 6..15)
    });
    let labels = names::distinct(&mut rng, count.div_ceil(1000), |rng| {
        names::label(rng, 4..12)
    });
    let expressions: Vec<String> = labels.iter().map(|label| expression(label)).collect();
    let rest = count.saturating_sub(keywords.len() + expressions.len());
    let suffixes = names::distinct(&mut rng, rest.max(1), names::domain);
    let queries = queries(&mut rng, &suffixes, |rng, rule| {
        format!("{}.{rule}", names::label(rng, 3..8))
    });
    let built = timed(|| {
        Ok(Mixed {
            suffixes: Parents::new(&suffixes),
            keywords: Keywords::new(&keywords)?,
            expressions: OneByOne::new(&expressions)?,
        })
    })?;
    let compiled: Vec<Regex> = built.0.expressions.0.clone();
    let expected = |name: &str| {
        suffixes.iter().any(|rule| is_below(name, rule))
            || keywords.iter().any(|rule| name.contains(rule))
            || compiled.iter().any(|rule| rule.is_match(name))
    };
    let key = key("mixed", "match", "one after the other", count);
    suite.cases.push(case(key, built, &queries, expected)?);
    Ok(())
}

/// Rule sets of these sizes. Sets of regular expressions have at most `most_regexes`.
pub fn suite(rules: &[usize], most_regexes: usize) -> Result<Suite, Error> {
    let mut suite = Suite::default();
    for count in rules {
        suffixes(&mut suite, *count)?;
    }
    for count in rules {
        keywords(&mut suite, *count)?;
    }
    for count in rules {
        regexes(&mut suite, *count, most_regexes)?;
    }
    for count in rules {
        mixed(&mut suite, *count)?;
    }
    suite.checked = suite.cases.len() * super::CHECKED;
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use proptest::prelude::*;

    use super::*;

    /// Names of few letters, so that many names match rules.
    fn name() -> impl Strategy<Value = String> {
        prop::collection::vec("[ab]{1,2}", 1..4).prop_map(|labels| labels.join("."))
    }

    proptest! {
        #[test]
        fn suffixes_are_found_as_trying_each_finds_them(
            rules in prop::collection::vec(name(), 1..20),
            names in prop::collection::vec(name(), 1..50),
        ) {
            let (transducer, parents) = (Transducer::new(&rules).unwrap(), Parents::new(&rules));
            for name in &names {
                let expected = rules.iter().any(|rule| is_below(name, rule));
                prop_assert_eq!(transducer.find(name), expected, "{} in {:?}", name, rules);
                prop_assert_eq!(parents.find(name), expected, "{} in {:?}", name, rules);
            }
        }

        #[test]
        fn keywords_are_found_as_trying_each_finds_them(
            rules in prop::collection::vec("[ab]{2,4}", 1..20),
            names in prop::collection::vec(name(), 1..50),
        ) {
            let keywords = Keywords::new(&rules).unwrap();
            for name in &names {
                let expected = rules.iter().any(|rule| name.contains(rule));
                prop_assert_eq!(keywords.find(name), expected, "{} in {:?}", name, rules);
            }
        }

        #[test]
        fn expressions_are_found_as_trying_each_finds_them(
            rules in prop::collection::vec(r"\^?(ab|ba|aab)[ab]?(\[ab\])?(\\\.b)?\$?", 1..10),
            names in prop::collection::vec(name(), 1..30),
        ) {
            let (filtered, one_by_one) = (Filtered::new(&rules).unwrap(), OneByOne::new(&rules).unwrap());
            for name in &names {
                let expected = rules.iter().any(|rule| Regex::new(rule).unwrap().is_match(name));
                prop_assert_eq!(filtered.find(name), expected, "{} in {:?}", name, rules);
                prop_assert_eq!(one_by_one.find(name), expected, "{} in {:?}", name, rules);
            }
        }
    }

    #[test]
    fn a_mixed_set_finds_by_each_kind_of_rule() {
        let rules = |rule: &str| vec![rule.to_owned()];
        let mixed = Mixed {
            suffixes: Parents::new(&rules("example.com")),
            keywords: Keywords::new(&rules("track")).unwrap(),
            expressions: OneByOne::new(&rules(&expression("shop"))).unwrap(),
        };
        for (name, expected) in [
            ("www.example.com", true),
            ("a.tracker.org", true),
            ("ads12.shop.net", true),
            ("shop.net", false),
            ("example.org", false),
        ] {
            assert_eq!(mixed.find(name), expected, "{name}");
        }
    }

    #[test]
    fn a_suffix_ends_at_a_label() {
        let rules = ["example.com".to_owned()];
        for (name, expected) in [
            ("example.com", true),
            ("www.example.com", true),
            ("badexample.com", false),
            ("example.com.org", false),
            ("com", false),
        ] {
            assert_eq!(
                Transducer::new(&rules).unwrap().find(name),
                expected,
                "{name}"
            );
            assert_eq!(Parents::new(&rules).find(name), expected, "{name}");
        }
    }

    #[test]
    fn half_of_the_queries_are_in_the_rules_and_the_reasons_for_gaps_are_told() {
        let suite = suite(&[200, 2000, 3000], 2500).unwrap();
        assert_eq!(suite.cases.len(), 15);
        assert_eq!(suite.skipped.len(), 3);
        let mut rng = Rng::with_seed(1);
        let rules = names::distinct(&mut rng, 200, names::domain);
        let queries = queries(&mut rng, &rules, |_, rule| format!("a.{rule}"));
        let parents = Parents::new(&rules);
        let hits = queries.iter().filter(|name| parents.find(name)).count();
        assert_eq!(hits, QUERIES / 2);
    }
}
