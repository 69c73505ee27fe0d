//! Log lines of a process at level warning or above, counted by their text.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

/// The most kinds of lines that are counted separately.
const MOST_KINDS: usize = 256;

static LEVEL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(warn|warning|error|fatal|panic|critical)\b").unwrap());
/// Ports, times, ids: numbers that differ between lines with the same text.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[0-9]+").unwrap());

/// The most frequent complaint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Complaint {
    /// The first of the lines, from the level on, without control characters.
    pub line: String,
    /// The number of lines with the same text, without regard to numbers.
    pub count: u64,
}

#[derive(Default)]
pub struct Complaints(HashMap<String, Complaint>);

impl Complaints {
    pub fn take(&mut self, line: &str) {
        let Some(level) = LEVEL.find(line) else {
            return;
        };
        let text = &line[level.start()..];
        let kind = NUMBER.replace_all(text, "0").into_owned();
        let room = self.0.len() < MOST_KINDS;
        if let Some(known) = self.0.get_mut(&kind) {
            known.count += 1;
        } else if room {
            let line = text.chars().filter(|c| !c.is_control()).collect();
            self.0.insert(kind, Complaint { line, count: 1 });
        }
    }

    pub fn most_frequent(&self) -> Option<Complaint> {
        // Ties are broken by the text, so that the result is always the same.
        self.0
            .values()
            .max_by(|one, other| {
                one.count
                    .cmp(&other.count)
                    .then_with(|| other.line.cmp(&one.line))
            })
            .cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_numbers_are_one_complaint() {
        let mut complaints = Complaints::default();
        for port in 0..3 {
            complaints.take(&format!(
                "+0000 2026-01-01 00:00:0{port} ERROR [{port}17 0ms] inbound/vless[hop]: process connection from 127.0.0.1:{port}: unknown user"
            ));
        }
        complaints.take("2026/01/01 00:00:00 [Warning] [5] app: \u{7}once");
        complaints.take("INFO all is well");
        assert_eq!(
            complaints.most_frequent(),
            Some(Complaint {
                line: "ERROR [017 0ms] inbound/vless[hop]: process connection from 127.0.0.1:0: unknown user".into(),
                count: 3
            })
        );
    }

    #[test]
    fn levels_are_whole_words_in_any_case() {
        let complaint = |line: &str| {
            let mut complaints = Complaints::default();
            complaints.take(line);
            complaints.most_frequent().map(|found| found.line)
        };
        assert_eq!(
            complaint("[5] [Warning] once\u{1b}"),
            Some("Warning] once".into())
        );
        assert_eq!(complaint("panic: nil"), Some("panic: nil".into()));
        assert_eq!(complaint("no terrors, no warnings here"), None);
    }

    #[test]
    fn kinds_are_bounded() {
        let mut complaints = Complaints::default();
        for length in 0..10 * MOST_KINDS {
            complaints.take(&format!("error {}", "x".repeat(length)));
        }
        assert_eq!(complaints.0.len(), MOST_KINDS);
    }
}
