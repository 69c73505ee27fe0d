//! The versions of a testbed's programs, as the programs report them.

use std::collections::BTreeMap;

use anstream::adapter::strip_str;

use super::parts::Parts;
use super::setting::Setting;
use crate::failure::{Kind, Result};

const MAX_CHARS: usize = 200;

impl Setting<'_> {
    /// Runs each command and takes the first line of its output, or `unknown` if it fails or prints none.
    pub fn versions(&self, parts: &Parts<'_>) -> Result<BTreeMap<String, String>> {
        let mut versions = BTreeMap::new();
        for (name, version) in &parts.versions {
            let command = self.render_all(&format!("versions.{name}"), version.command())?;
            let what = self.of_testbed(&format!("version {name}"));
            let line = match self.errand(&what, command).run() {
                Err(failure) if failure.kind == Kind::GivenUp => return Err(failure),
                Ok(done) if done.wrong(|_| false).is_none() => {
                    first_line(&self.redactor.text(&done.printed))
                }
                _ => None,
            };
            let line = line.unwrap_or_else(|| "unknown".to_owned());
            versions.insert((*name).to_owned(), line);
        }
        Ok(versions)
    }
}

/// The first line that is not blank, without colours.
fn first_line(printed: &str) -> Option<String> {
    let plain = strip_str(printed).to_string();
    let line = plain.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_is_not_blank_is_the_version() {
        let line = first_line("\n  \n \x1b[1;31m1.2\x1b[0m [secret]\n2\n");
        assert_eq!(line.unwrap(), "1.2 [secret]");
        assert_eq!(first_line(" \n"), None);
    }
}
