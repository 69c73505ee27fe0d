//! Values that a program generates at the start, such as a pair of keys: `[[generate]]`.

use std::collections::BTreeMap;

use regex::Regex;

use super::file::Generate;
use super::parts::Generated;
use super::setting::{FIX_COMMAND, Setting};
use crate::failure::{Failure, Result};
use crate::process::redact::Redactor;

impl Setting<'_> {
    /// Runs the commands of `[[generate]]`. The values that they make count as secrets from now on.
    pub fn generate(&mut self) -> Result<()> {
        let mut generated = Generated::new();
        for (index, generate) in self.launch.testbed.file.generate.iter().enumerate() {
            let field = format!("generate[{index}].command");
            let command = self.render_all(&field, &generate.command)?;
            generated.insert(generate.name.clone(), self.values_of(generate, command)?);
        }
        let secrets = self.secrets.values();
        let all = secrets.chain(generated.values().flat_map(BTreeMap::values));
        self.redactor = Redactor::new(all.map(String::as_str));
        self.generated = generated;
        Ok(())
    }

    /// Each field's value comes from the first line that its pattern matches. A message quotes no line that a pattern matches, which would
    /// show a secret.
    fn values_of(
        &self,
        generate: &Generate,
        command: Vec<String>,
    ) -> Result<BTreeMap<String, String>> {
        let what = self.of_testbed(&format!("generate {}", generate.name));
        self.check_program(&what, &command[0], &self.env, FIX_COMMAND)?;
        let command_text = self.redactor.text(&command.join(" "));
        let done = self.errand(&what, command).run()?;
        let patterns = generate.fields.values();
        let patterns: Vec<_> = patterns.flat_map(|pattern| Regex::new(pattern)).collect();
        let taken = match done.wrong(|line| !patterns.iter().any(|one| one.is_match(line))) {
            Some(wrong) => Err(wrong),
            None => take(generate, &done.printed),
        };
        taken.map_err(|wrong| {
            Failure::setup(
                format!("{what}: {command_text} {wrong}"),
                format!("run `{command_text}` by hand, and fix the command or the variable"),
            )
        })
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
