//! Requirements of a start, and the names that templates share.

use super::{Checker, SecretsAre};
use crate::failure::Result;
use crate::testbed::file::{GENERATED_NAME, PROGRAM_NAME, VariableType};

/// Names that `[names]` may use: their values are known before templates are rendered.
const KNOWN_FIRST: [&str; 4] = ["root", "dir", "vars", "chosen"];

impl Checker<'_> {
    pub(super) fn names(&self) -> Result<()> {
        for (name, source) in &self.file.names {
            let field = format!("names.{name}");
            self.named(&field, name, GENERATED_NAME)?;
            self.template(&field, source, SecretsAre::Refused)?;
            for used in self.templates.names(source).unwrap_or_default() {
                let (first, second) = used.split_once('.').unwrap_or((&used, ""));
                if !KNOWN_FIRST.contains(&first) {
                    return self.wrong(
                        &field,
                        format!("the template uses `{used}`, which is not known yet"),
                        format!("use {}", KNOWN_FIRST.join(", ")),
                    );
                }
                // The templates that name a port show whether it is in use.
                let variable = self.file.variables.get(second);
                if variable.is_some_and(|variable| variable.kind == VariableType::Port) {
                    return self.wrong(
                        &field,
                        format!("the template uses the port `{used}`"),
                        "name ports where they are used",
                    );
                }
            }
        }
        Ok(())
    }

    pub(super) fn requires(&self) -> Result<()> {
        for (index, requirement) in self.file.requires.iter().enumerate() {
            let field = format!("requires[{index}]");
            let texts = [&requirement.path, &requirement.program, &requirement.make];
            let kinds = texts.into_iter().flatten().count();
            if kinds + usize::from(requirement.command.is_some()) != 1 {
                return self.wrong(
                    &field,
                    "needs exactly one of path, program, make and command",
                    "give one of them",
                );
            }
            self.optional(&field, "path", requirement.path.as_deref())?;
            if let Some(program) = &requirement.program {
                self.named(&format!("{field}.program"), program, PROGRAM_NAME)?;
            }
            self.optional(&field, "make", requirement.make.as_deref())?;
            if requirement.with.is_some() && requirement.make.is_none() {
                return self.wrong(
                    &format!("{field}.with"),
                    "is allowed only with `make`",
                    "leave it out",
                );
            }
            self.optional(&field, "with", requirement.with.as_deref())?;
            if let Some(command) = &requirement.command {
                self.command(&format!("{field}.command"), command)?;
            }
            let mend_field = format!("{field}.mend");
            match (&requirement.mend, &requirement.make) {
                (Some(mend), None) => self.filled(&mend_field, mend)?,
                (None, Some(_)) => {}
                (None, None) => {
                    return self.wrong(&mend_field, "is missing", "say how to fix it");
                }
                (Some(_), Some(_)) => {
                    return self.wrong(&mend_field, "follows from `make`", "leave it out");
                }
            }
            self.optional(&field, "when", requirement.when.as_deref())?;
        }
        Ok(())
    }
}
