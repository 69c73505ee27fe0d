//! Domain rules as in sing-box and xray: by suffix, by keyword, by regular expression.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use fastrand::Rng;
use fst::Set;
use hashbrown::HashSet;
use regex::Regex;

use super::{QUERIES, add, names};
use crate::Error;
use crate::bench::{Key, Skipped, Suite};

/// The most rules that are tried one by one. More rules would only be slower, in proportion.
const MOST_ONE_BY_ONE: usize = 1000;

/// A finite-state transducer of the reversed names. A query is one walk from the end of the name, without allocation.
fn transducer(rules: &[String]) -> Result<impl Fn(&str) -> bool + use<>, Error> {
    let mut reversed: Vec<Vec<u8>> = rules
        .iter()
        .map(|rule| rule.bytes().rev().collect())
        .collect();
    reversed.sort_unstable();
    reversed.dedup();
    let set = Set::from_iter(reversed).map_err(|error| Error::new("fst", error))?;
    Ok(move |name: &str| {
        let fst = set.as_fst();
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
    })
}

/// A hash set. A query looks up the name and each of its parents.
fn parents(rules: &[String]) -> impl Fn(&str) -> bool + use<> {
    let set: HashSet<Box<str>> = rules.iter().map(|rule| rule.as_str().into()).collect();
    move |name: &str| {
        let mut rest = name;
        loop {
            if set.contains(rest) {
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
fn automaton(rules: &[String]) -> Result<impl Fn(&str) -> bool + use<>, Error> {
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(rules)
        .map_err(|error| Error::new("aho-corasick", error))?;
    Ok(move |name: &str| automaton.is_match(name))
}

/// Tries only expressions whose literals are in the name.
fn filtered(rules: &[String]) -> Result<impl Fn(&str) -> bool + use<>, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::new("regex-filtered", error);
    let mut builder = regex_filtered::Builder::new_atom_len(3);
    for rule in rules {
        builder = builder.push(rule).map_err(|error| failed(&error))?;
    }
    let regexes = builder.build().map_err(|error| failed(&error))?;
    Ok(move |name: &str| regexes.is_match(name))
}

/// Tries one expression after the other, as sing-box does.
fn one_by_one(rules: &[String]) -> Result<impl Fn(&str) -> bool + use<>, Error> {
    let compiled: Result<Vec<_>, _> = rules.iter().map(|rule| Regex::new(rule)).collect();
    let compiled = compiled.map_err(|error| Error::new("regex", error))?;
    Ok(move |name: &str| compiled.iter().any(|rule| rule.is_match(name)))
}

/// Rules of each kind in one router, as in a typical configuration: most are suffixes.
fn router(
    suffixes: &[String],
    keywords: &[String],
    expressions: &[String],
) -> Result<impl Fn(&str) -> bool + use<>, Error> {
    let (by_suffix, by_keyword) = (parents(suffixes), automaton(keywords)?);
    let by_expression = one_by_one(expressions)?;
    Ok(move |name: &str| by_suffix(name) || by_keyword(name) || by_expression(name))
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
    let key = |how| Key::new("suffix", "match", how).of_rules(count);
    let (fst, set) = (key("fst"), key("hash set"));
    add(suite, fst, || transducer(&rules), &queries, expected)?;
    add(suite, set, || Ok(parents(&rules)), &queries, expected)
}

fn keywords(suite: &mut Suite, count: usize) -> Result<(), Error> {
    let mut rng = Rng::with_seed(2);
    let rules = names::distinct(&mut rng, count, |rng| names::label(rng, 6..15));
    let queries = queries(&mut rng, &rules, |rng, rule| {
        format!("{}{rule}.{}", names::label(rng, 1..4), names::domain(rng))
    });
    let expected = |name: &str| rules.iter().any(|rule| name.contains(rule));
    let key = Key::new("keyword", "match", "aho-corasick").of_rules(count);
    add(suite, key, || automaton(&rules), &queries, expected)
}

fn regexes(suite: &mut Suite, count: usize, most: usize) -> Result<(), Error> {
    let key = |how| Key::new("regex", "match", how).of_rules(count);
    let (by_literals, each) = (key("regex-filtered"), key("one by one"));
    if count > most {
        suite.skipped.push(Skipped {
            key: by_literals,
            reason: "each compiled expression takes some 11 KB of memory and 0.1 ms".to_owned(),
        });
    }
    if count > MOST_ONE_BY_ONE {
        suite.skipped.push(Skipped {
            key: each,
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
    add(suite, by_literals, || filtered(&rules), &queries, expected)?;
    if count <= MOST_ONE_BY_ONE {
        add(suite, each, || one_by_one(&rules), &queries, expected)?;
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
    let fits_expression = one_by_one(&expressions)?;
    let expected = |name: &str| {
        suffixes.iter().any(|rule| is_below(name, rule))
            || keywords.iter().any(|rule| name.contains(rule))
            || fits_expression(name)
    };
    let key = Key::new("mixed", "match", "one after the other").of_rules(count);
    let build = || router(&suffixes, &keywords, &expressions);
    add(suite, key, build, &queries, expected)
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
            let (transducer, parents) = (transducer(&rules).unwrap(), parents(&rules));
            for name in &names {
                let expected = rules.iter().any(|rule| is_below(name, rule));
                prop_assert_eq!(transducer(name), expected, "{} in {:?}", name, rules);
                prop_assert_eq!(parents(name), expected, "{} in {:?}", name, rules);
            }
        }

        #[test]
        fn keywords_are_found_as_trying_each_finds_them(
            rules in prop::collection::vec("[ab]{2,4}", 1..20),
            names in prop::collection::vec(name(), 1..50),
        ) {
            let find = automaton(&rules).unwrap();
            for name in &names {
                let expected = rules.iter().any(|rule| name.contains(rule));
                prop_assert_eq!(find(name), expected, "{} in {:?}", name, rules);
            }
        }

        #[test]
        fn expressions_are_found_as_trying_each_finds_them(
            rules in prop::collection::vec(r"\^?(ab|ba|aab)[ab]?(\[ab\])?(\\\.b)?\$?", 1..10),
            names in prop::collection::vec(name(), 1..30),
        ) {
            let (filtered, one_by_one) = (filtered(&rules).unwrap(), one_by_one(&rules).unwrap());
            for name in &names {
                let expected = rules.iter().any(|rule| Regex::new(rule).unwrap().is_match(name));
                prop_assert_eq!(filtered(name), expected, "{} in {:?}", name, rules);
                prop_assert_eq!(one_by_one(name), expected, "{} in {:?}", name, rules);
            }
        }
    }

    #[test]
    fn a_mixed_set_finds_by_each_kind_of_rule() {
        let rules = |rule: &str| vec![rule.to_owned()];
        let expressions = rules(&expression("shop"));
        let find = router(&rules("example.com"), &rules("track"), &expressions).unwrap();
        for (name, expected) in [
            ("www.example.com", true),
            ("a.tracker.org", true),
            ("ads12.shop.net", true),
            ("shop.net", false),
            ("example.org", false),
        ] {
            assert_eq!(find(name), expected, "{name}");
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
            assert_eq!(transducer(&rules).unwrap()(name), expected, "{name}");
            assert_eq!(parents(&rules)(name), expected, "{name}");
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
        let find = parents(&rules);
        let hits = queries.iter().filter(|name| find(name)).count();
        assert_eq!(hits, QUERIES / 2);
    }
}
