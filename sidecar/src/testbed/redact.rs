//! Secrets are taken out of whatever a process prints.

const MARK: &[u8] = b"[secret]";

/// Replaces secret values by `[secret]`, also in their percent-encoded and JSON-escaped forms.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret inside another does not leave a remainder.
    values: Vec<Vec<u8>>,
}

impl Redactor {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut values: Vec<Vec<u8>> = secrets
            .into_iter()
            .filter(|secret| !secret.is_empty())
            .flat_map(|secret| [secret.as_bytes().to_vec(), percent(secret), json(secret)])
            .collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values }
    }

    /// The length of the longest secret, in bytes.
    pub fn longest(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    pub fn bytes(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text;
        'next: while let Some(first) = rest.first() {
            for value in &self.values {
                if rest.starts_with(value) {
                    out.extend_from_slice(MARK);
                    rest = &rest[value.len()..];
                    continue 'next;
                }
            }
            out.push(*first);
            rest = &rest[1..];
        }
        out
    }

    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }
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
}
