//! Requirements of a start: `[[requires]]`, and the files that variables name.

use std::collections::BTreeSet;
use std::path::Path;

use super::file::Requirement;
use super::parts::Parts;
use super::setting::{Setting, can_run};
use crate::failure::{Cause, Failure, Result};

impl Setting<'_> {
    pub fn check_requirements(&self, parts: &Parts<'_>) -> Result<()> {
        // A requirement's own advice is more useful than the message about a wrong path, so it comes first.
        for (index, requirement) in &parts.requires {
            if let Some(path) = &requirement.path {
                let path = self.render(&format!("requires[{index}].path"), path)?;
                let mend = requirement.mend.as_deref().unwrap_or_default();
                self.check_exists(Path::new(&path), mend)?;
            }
        }
        self.check_paths()?;
        parts
            .requires
            .iter()
            .try_for_each(|(index, requirement)| self.check_requirement(*index, requirement))
    }

    /// The make targets of this start, and further make arguments.
    pub fn targets(&self, parts: &Parts<'_>) -> Result<BTreeSet<String>> {
        let mut words = BTreeSet::new();
        for (index, requirement) in &parts.requires {
            words.extend(self.make_arguments(*index, requirement)?);
        }
        Ok(words)
    }

    /// The make arguments of a requirement, the target last; empty if it is no make target.
    fn make_arguments(&self, index: usize, requirement: &Requirement) -> Result<Vec<String>> {
        let Some(target) = &requirement.make else {
            return Ok(Vec::new());
        };
        let mut words = Vec::new();
        if let Some(with) = &requirement.with {
            let field = format!("requires[{index}].with");
            words.push(self.render(&field, with)?);
        }
        words.push(self.render(&format!("requires[{index}].make"), target)?);
        Ok(words)
    }

    /// A given path, other than the default, must exist.
    fn check_paths(&self) -> Result<()> {
        for (name, variable) in &self.launch.testbed.file.variables {
            let value = self.variables.get(name);
            if let Some(path) = value.and_then(|value| variable.given_path(value)) {
                self.check_exists(path, &format!("give the variable {name} another path"))?;
            }
        }
        Ok(())
    }

    fn check_exists(&self, path: &Path, mend: &str) -> Result<()> {
        if path.exists() {
            return Ok(());
        }
        let name = &self.launch.testbed.file.name;
        Err(Failure::setup(
            format!(
                "testbed {name} needs {}, which does not exist",
                path.display()
            ),
            mend,
        )
        .because(Cause::MissingFile {
            path: path.display().to_string(),
        }))
    }

    fn check_requirement(&self, index: usize, requirement: &Requirement) -> Result<()> {
        let needs = format!("testbed {} needs", self.launch.testbed.file.name);
        let mend = requirement.mend.clone().unwrap_or_default();
        let words = self.make_arguments(index, requirement)?;
        if let Some(target) = words.last() {
            self.check_exists(
                &self.launch.root.join(target),
                &format!("run `make {}`", words.join(" ")),
            )?;
        }
        if let Some(program) = &requirement.program
            && !can_run(program, self.administrators().get("PATH"))
        {
            return Err(Failure::unsupported(
                format!("{needs} the program {program}, which is not installed"),
                mend,
            )
            .because(Cause::MissingProgram {
                program: program.clone(),
                process: None,
            }));
        }
        match &requirement.command {
            Some(command) => self.check_command(index, command, &mend),
            None => Ok(()),
        }
    }

    fn check_command(&self, index: usize, command: &[String], mend: &str) -> Result<()> {
        let name = &self.launch.testbed.file.name;
        let field = format!("requires[{index}].command");
        let command = self.render_all(&field, command)?;
        let program = command[0].clone();
        let what = format!("testbed {name}");
        self.check_program(&what, &program, &self.env, mend)?;
        match self.errand(&what, command).run()?.wrong(|_| true) {
            Some(wrong) => Err(Failure::setup(format!("{what}: {program} {wrong}"), mend)),
            None => Ok(()),
        }
    }
}
