//! Removes secrets from the output of processes.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::bytes::{Captures, Regex, RegexBuilder};

/// The list that the redactor of `k6 x bench` shares: k6/internal/redact describes each field.
#[derive(serde::Deserialize)]
struct Known {
    mask: String,
    shortest: usize,
    in_url: [String; 2],
    web_token: String,
    parameter: String,
    parameter_byte: String,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../k6/lists/secrets.json")).expect("a constant")
});

/// Characters that percent-encoding keeps: RFC 3986, 2.3, encodeURIComponent of JavaScript, and url.PathEscape of Go.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
const OF_JAVASCRIPT: &AsciiSet = &UNRESERVED
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
const OF_GO_S_PATHS: &AsciiSet = &UNRESERVED
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');
/// The longest token, in bytes.
const LONGEST_TOKEN: usize = 16 * 1024;

/// Replaces secret values by `[secret]`, also in the encodings of requests and logs, and everything that looks like a token. Tests
/// of both redactors use tests/fixtures/redaction.json.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// The text in the group `name` stays.
    secret: Regex,
    longest: usize,
}

impl Redactor {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets: Vec<&str> = secrets.into_iter().collect();
        let passwords: Vec<String> = secrets
            .iter()
            .flat_map(|secret| passwords(secret))
            .collect();
        let mut values: Vec<Vec<u8>> = secrets
            .into_iter()
            .chain(passwords.iter().map(String::as_str))
            .filter(|secret| secret.len() >= KNOWN.shortest)
            .flat_map(forms)
            .collect();
        // Longest first: if one secret contains another, no remainder stays.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let longest = values.first().map_or(0, Vec::len).max(LONGEST_TOKEN);
        let known: String = values.iter().map(|value| literal(value) + "|").collect();
        let pattern = format!(
            "{known}{}|(?<name>{})(?:{known}{})+",
            KNOWN.web_token, KNOWN.parameter, KNOWN.parameter_byte
        );
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

    /// The last position in `text`, up to `at`, that is not within a secret.
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
            [name, KNOWN.mask.as_bytes()].concat()
        });
        replaced.into_owned()
    }

    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }
}

/// A pattern that matches the bytes. Short, because each start of a system compiles it, with the system's keys.
fn literal(value: &[u8]) -> String {
    let of_byte = |&byte: &u8| match byte {
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    value.iter().map(of_byte).collect()
}

/// The forms of a secret: unchanged, and as requests and logs encode it.
fn forms(secret: &str) -> [Vec<u8>; 8] {
    let spaces_as_plus = percent(secret, UNRESERVED).replace("%20", "+");
    let json = json(secret);
    let of_html = json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    [
        secret.to_owned(),
        percent(secret, UNRESERVED),
        percent(secret, OF_JAVASCRIPT),
        percent(secret, OF_GO_S_PATHS),
        spaces_as_plus,
        json,
        of_html,
        STANDARD_NO_PAD.encode(secret),
    ]
    .map(String::into_bytes)
}

static IN_URL: LazyLock<[regex::Regex; 2]> = LazyLock::new(|| {
    let compiled = |pattern: &String| regex::Regex::new(pattern).expect("a constant");
    KNOWN.in_url.each_ref().map(compiled)
});

/// The passwords in a secret that is a URL, both as written and decoded. A driver's error may show the password alone.
fn passwords(secret: &str) -> Vec<String> {
    IN_URL
        .iter()
        .filter_map(|pattern| Some(pattern.captures(secret)?[1].to_owned()))
        .flat_map(|password| {
            let meant = percent_decode_str(&password)
                .decode_utf8_lossy()
                .into_owned();
            [password, meant]
        })
        .collect()
}

fn percent(secret: &str, escaped: &'static AsciiSet) -> String {
    utf8_percent_encode(secret, escaped).to_string()
}

fn json(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        secrets: Vec<String>,
        text: String,
        clean: String,
    }

    #[test]
    fn the_cases_that_k6_x_bench_has_too() {
        let cases = include_str!("../../../tests/fixtures/redaction.json");
        for Case {
            secrets,
            text,
            clean,
        } in serde_json::from_str::<Vec<Case>>(cases).unwrap()
        {
            let redactor = Redactor::new(secrets.iter().map(String::as_str));
            assert_eq!(redactor.text(&text), clean, "{secrets:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_pass() {
        let redactor = Redactor::new(["keys"]);
        assert_eq!(
            redactor.bytes(b"\xffkeys\0"),
            [&[0xff][..], KNOWN.mask.as_bytes(), &[0]].concat()
        );
    }

    #[test]
    fn unknown_tokens_are_removed_by_their_form() {
        let redactor = Redactor::new(["p&ss"]);
        for (text, clean) in [
            (
                "GET /ws?token=abc.d-e_f%3D&v=1 HTTP/1.1",
                "GET /ws?token=[secret]&v=1 HTTP/1.1",
            ),
            (
                "\"GET /a?Access_Token=x\" 200",
                "\"GET /a?Access_Token=[secret]\" 200",
            ),
            ("token=p&ss&v=1", "token=[secret]&v=1"),
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
