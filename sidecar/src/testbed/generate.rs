//! Values that a program generates at the start, such as a pair of keys: `[[generate]]`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use regex::Regex;

use super::errand::{Errand, PATIENCE};
use super::file::Generate;
use crate::failure::{Failure, Result};
use crate::process::log::Log;
use crate::process::protocol::Exit;
use crate::process::redact::Redactor;

const MAX_CHARS: usize = 300;

/// Values by group, then by field.
pub type Generated = BTreeMap<String, BTreeMap<String, String>>;

/// One `[[generate]]` with its command rendered, and its environment.
pub struct Generator<'a> {
    pub testbed: &'a str,
    pub generate: &'a Generate,
    pub command: Vec<String>,
    pub env: &'a BTreeMap<String, String>,
    pub work: &'a Path,
    pub redactor: &'a Redactor,
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Generator<'_> {
    /// Runs the command under a guard, like the testbed's processes. Each field's value comes from the first line that its pattern matches.
    pub fn run(&self) -> Result<BTreeMap<String, String>> {
        let name = format!(
            "generate {} of testbed {}",
            self.generate.name, self.testbed
        );
        let command_text = self.redactor.text(&self.command.join(" "));
        let errand = Errand {
            title: format!("generate {}", self.generate.name),
            command: self.command.clone(),
            env: self.env,
            work: self.work,
            namespace: None,
            cancelled: self.cancelled,
        };
        let log = Arc::new(Log::keeping_all(self.redactor.clone()));
        let exit = errand
            .run(Arc::clone(&log))
            .map_err(Failure::of_limits(format!(
                "{name}: {command_text} cannot be started"
            )))?;
        if (self.cancelled)() {
            return Err(Failure::given_up(name));
        }
        let printed = log.all();
        let mend = format!("run `{command_text}` by hand, and fix the command or the variable");
        let wrong = |wrong: String| Failure::setup(format!("{name}: {command_text} {wrong}"), mend);
        match exit {
            None => Err(wrong(format!(
                "did not end within {} s",
                PATIENCE.as_secs()
            ))),
            Some(Exit::Status(0)) => take(self.generate, &printed).map_err(wrong),
            Some(exit) => {
                let last = self.last_line(&printed);
                Err(wrong(format!("failed ({exit}); {last}")))
            }
        }
    }

    /// The last line, unless a pattern matches it: such a line would show a secret.
    fn last_line(&self, printed: &str) -> String {
        let patterns: Vec<_> = self
            .generate
            .fields
            .values()
            .filter_map(|pattern| Regex::new(pattern).ok())
            .collect();
        printed
            .lines()
            .rfind(|line| !line.trim().is_empty() && !patterns.iter().any(|one| one.is_match(line)))
            .map_or_else(
                || "it printed nothing".to_owned(),
                |line| {
                    let line: String = line.trim().chars().take(MAX_CHARS).collect();
                    format!("it printed: {}", self.redactor.text(&line))
                },
            )
    }
}

/// Each field's value, or a message. The message does not quote the output: if the pattern is wrong, the output may still be a secret.
fn take(
    generate: &Generate,
    printed: &str,
) -> std::result::Result<BTreeMap<String, String>, String> {
    generate
        .fields
        .iter()
        .map(|(field, pattern)| {
            let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
            let value = printed
                .lines()
                .find_map(|line| regex.captures(line))
                .and_then(|captures| captures.get(1))
                .map(|value| value.as_str().to_owned())
                .filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| {
                format!(
                    "printed {} lines, and none has the field {field} ({pattern})",
                    printed.lines().count()
                )
            })?;
            Ok((field.clone(), value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(pattern: &str) -> Generate {
        Generate {
            name: "keys".to_owned(),
            command: vec!["keys".to_owned()],
            fields: BTreeMap::from([("key".to_owned(), pattern.to_owned())]),
        }
    }

    #[test]
    fn the_first_group_of_the_first_line_that_matches_is_the_value() {
        let keys = generate(r"key: (\S+)");
        let values = take(&keys, "a\nprivate key: one two\nkey: three\n").unwrap();
        assert_eq!(values["key"], "one");
    }

    #[test]
    fn a_line_that_is_missing_or_empty_is_told_without_what_was_printed() {
        let wrong = take(&generate(r"key: (\S*)"), "key: \nkey: s3cret\n").unwrap_err();
        assert!(
            wrong.contains("2 lines") && wrong.contains("field key") && !wrong.contains("s3cret"),
            "{wrong}"
        );
    }
}
