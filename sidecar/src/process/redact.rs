//! Secrets are taken out of whatever a process prints.

use regex::bytes::{Captures, Regex, RegexBuilder};

const MARK: &[u8] = b"[secret]";

/// What a token from a login looks like, which is not known here: a JSON Web Token anywhere, and the
/// value of a query parameter named `token` or `…token`.
const JWT: &str = r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*";
const PARAMETER: &str = "(?i:token=)";
const PARAMETER_BYTE: &str = r#"[^\s&"'<>]"#;
/// No token is longer, in bytes.
const LONGEST_TOKEN: usize = 16 * 1024;

/// Replaces secret values by `[secret]`, also in their percent-encoded and JSON-escaped forms, and
/// whatever looks like a token.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// Its group `name` stays.
    secret: Regex,
    longest: usize,
}

impl Redactor {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut values: Vec<Vec<u8>> = secrets
            .into_iter()
            .filter(|secret| !secret.is_empty())
            .flat_map(|secret| [secret.as_bytes().to_vec(), percent(secret), json(secret)])
            .collect();
        // Longest first, so that a secret inside another does not leave a remainder.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let longest = values.first().map_or(0, Vec::len).max(LONGEST_TOKEN);
        let known: String = values.iter().map(|value| literal(value) + "|").collect();
        let pattern = format!("{known}{JWT}|(?<name>{PARAMETER})(?:{known}{PARAMETER_BYTE})+");
        let secret = RegexBuilder::new(&pattern)
            .unicode(false)
            .size_limit(usize::MAX)
            .build()
            .expect("made of escaped bytes and constants");
        Self { secret, longest }
    }

    /// The length of the longest secret, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The last place in `text`, up to `at`, that is not within a secret.
    pub fn cut(&self, text: &[u8], at: usize) -> usize {
        self.secret
            .find_iter(text)
            .take_while(|found| found.start() < at)
            .find(|found| found.end() > at)
            .map_or(at, |found| found.start())
    }

    pub fn bytes(&self, text: &[u8]) -> Vec<u8> {
        let replaced = self.secret.replace_all(text, |found: &Captures| {
            let name = found.name("name").map_or(&[][..], |name| name.as_bytes());
            [name, MARK].concat()
        });
        replaced.into_owned()
    }

    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }
}

fn literal(value: &[u8]) -> String {
    value.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

fn percent(secret: &str) -> Vec<u8> {
    secret
        .bytes()
        .flat_map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                vec![byte]
            } else {
                format!("%{byte:02X}").into_bytes()
            }
        })
        .collect()
}

fn json(secret: &str) -> Vec<u8> {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    quoted.trim_matches('"').as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_goes_and_the_rest_stays() {
        let redactor = Redactor::new(["hunter2", "hunter22", ""]);
        assert_eq!(
            redactor.text("a hunter2 b hunter22 c"),
            "a [secret] b [secret] c"
        );
        assert_eq!(redactor.text("nothing here"), "nothing here");
    }

    #[test]
    fn encoded_forms_go_too() {
        let redactor = Redactor::new(["p&s\\w"]);
        assert_eq!(
            redactor.text("u=p%26s%5Cw {\"p\":\"p&s\\\\w\"}"),
            "u=[secret] {\"p\":\"[secret]\"}"
        );
    }

    #[test]
    fn bytes_that_are_no_text_pass() {
        let redactor = Redactor::new(["k"]);
        assert_eq!(
            redactor.bytes(&[0xff, b'k', 0]),
            [&[0xff][..], MARK, &[0]].concat()
        );
    }

    #[test]
    fn what_looks_like_a_token_goes_though_nobody_knows_it() {
        let redactor = Redactor::new(["p&s"]);
        for (text, clean) in [
            (
                "GET /ws?token=abc.d-e_f%3D&v=1 HTTP/1.1",
                "GET /ws?token=[secret]&v=1 HTTP/1.1",
            ),
            (
                "\"GET /a?Access_Token=x\" 200",
                "\"GET /a?Access_Token=[secret]\" 200",
            ),
            ("token=p&s&v=1", "token=[secret]&v=1"),
            (
                "Bearer eyJhbGciOi.eyJzdWIi.s1g-_x, next",
                "Bearer [secret], next",
            ),
            ("{\"a\":\"eyJh.eyJi.\"}", "{\"a\":\"[secret]\"}"),
            (
                "eyJust.a.word token: 5 tokens",
                "eyJust.a.word token: 5 tokens",
            ),
        ] {
            assert_eq!(redactor.text(text), clean);
        }
    }
}
