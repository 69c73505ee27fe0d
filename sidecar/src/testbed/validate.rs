//! Rules of a testbed file beyond its shape. Every error names the file, the field and the fix.

mod network;
mod requires;

use std::collections::HashSet;
use std::path::{Component, Path};

use regex::Regex;

use super::choices::{Choices, strings};
use super::file::{
    ENVIRONMENT_NAME, GENERATED_NAME, NAME, PROCESS_NAME, Ready, SCHEMA, TestbedFile, VariableType,
};
use super::template::{NAMES, SECRET_NAMES, Templates};
use super::variables::whole;
use crate::failure::{Failure, Result};
use crate::process::role::Role;

/// Whether a secret in a template would be visible to others: in `ps`, in an error or in a path.
#[derive(Clone, Copy, PartialEq)]
enum SecretsAre {
    Welcome,
    Refused,
}

struct Checker<'a> {
    file: &'a TestbedFile,
    label: &'a str,
    templates: Templates,
}

/// Whether `name` is a valid name of a testbed.
pub fn is_name(name: &str) -> bool {
    whole(NAME).is_ok_and(|pattern| pattern.is_match(name))
}

/// Checks one parsed file. `stem` is its name without `.toml`, `dir` the folder of its templates.
pub fn validate(
    file: &TestbedFile,
    choices: &Choices,
    stem: &str,
    label: &str,
    dir: &Path,
) -> Result<()> {
    let checker = Checker {
        file,
        label,
        templates: Templates::new(),
    };
    checker.head(stem)?;
    checker.variables()?;
    checker.choices(choices)?;
    checker.sweep()?;
    checker.names()?;
    checker.secrets()?;
    checker.generate()?;
    checker.requires()?;
    checker.files(dir)?;
    checker.network()?;
    checker.processes()?;
    checker.outputs()
}

impl Checker<'_> {
    fn wrong<T>(&self, field: &str, wrong: impl AsRef<str>, mend: impl AsRef<str>) -> Result<T> {
        Err(Failure::invalid(
            format!("{}: {field}: {}", self.label, wrong.as_ref()),
            mend.as_ref(),
        ))
    }

    fn named(&self, field: &str, value: &str, pattern: &str) -> Result<()> {
        if whole(pattern).is_ok_and(|pattern| pattern.is_match(value)) {
            return Ok(());
        }
        self.wrong(
            field,
            format!("`{value}` is not a name"),
            format!("use a name that matches {pattern}"),
        )
    }

    fn head(&self, stem: &str) -> Result<()> {
        if self.file.schema != SCHEMA {
            return self.wrong(
                "schema",
                format!("`{}` is not known", self.file.schema),
                format!("write schema = \"{SCHEMA}\""),
            );
        }
        self.named("name", &self.file.name, NAME)?;
        if self.file.name != stem {
            return self.wrong(
                "name",
                format!("`{}` differs from the file's name", self.file.name),
                format!("write name = \"{stem}\""),
            );
        }
        self.named("system", &self.file.system, PROCESS_NAME)?;
        for name in &self.file.also {
            self.named("also", name, PROCESS_NAME)?;
        }
        for name in &self.file.scenarios {
            self.named("scenarios", name, NAME)?;
        }
        self.filled("title", &self.file.title)
    }

    fn filled(&self, field: &str, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return self.wrong(field, "is empty", "write one line of text");
        }
        Ok(())
    }

    fn sweep(&self) -> Result<()> {
        let Some(sweep) = &self.file.sweep else {
            return Ok(());
        };
        let swept = sweep
            .values
            .iter()
            .map(|value| ("values", &sweep.variable, value));
        let only = sweep.only.iter().map(|(name, value)| ("only", name, value));
        for (field, name, value) in swept.chain(only) {
            let Some(variable) = self.file.variables.get(name) else {
                let wrong = format!("`{name}` is not declared");
                return self.wrong("sweep", wrong, "name one of the variables");
            };
            if let Err(wrong) = variable.check(value) {
                let field = format!("sweep.{field}");
                return self.wrong(&field, wrong, "give allowed values");
            }
        }
        Ok(())
    }

    fn variables(&self) -> Result<()> {
        for (name, variable) in &self.file.variables {
            let field = format!("variables.{name}");
            self.filled(&format!("{field}.description"), &variable.description)?;
            let choices = variable.choices.as_deref().unwrap_or_default();
            if variable.kind == VariableType::Choice && choices.is_empty() {
                return self.wrong(
                    &format!("{field}.choices"),
                    "is missing",
                    "list the allowed values",
                );
            }
            if let Some(pattern) = &variable.pattern
                && let Err(error) = whole(pattern)
            {
                return self.wrong(
                    &format!("{field}.pattern"),
                    error.to_string(),
                    "write a regular expression",
                );
            }
            if let Some(default) = &variable.default
                && let Err(wrong) = variable.check(default)
            {
                return self.wrong(
                    &format!("{field}.default"),
                    wrong,
                    "fix the default or the limits",
                );
            }
        }
        Ok(())
    }

    /// Parts are rendered before the values that are made of them.
    fn choices(&self, choices: &Choices) -> Result<()> {
        for (variable, parts) in choices {
            for (choice, own) in parts {
                let field = format!("parts of {variable} {choice}");
                for (field, source) in strings(&field, own) {
                    self.template(&field, source, SecretsAre::Welcome)?;
                    let used = self.templates.names(source).unwrap_or_default();
                    let later =
                        |name: &String| name.starts_with("names") || name.starts_with("chosen");
                    if let Some(name) = used.iter().find(|name| later(name)) {
                        return self.wrong(
                            &field,
                            format!("the template uses `{name}`, which is not known yet"),
                            "use root, dir, vars, secrets and generated",
                        );
                    }
                }
            }
        }
        Ok(())
    }

    fn secrets(&self) -> Result<()> {
        for (name, secret) in &self.file.secrets {
            if !(16..=64).contains(&secret.bytes) {
                return self.wrong(
                    &format!("secrets.{name}.bytes"),
                    format!("is {}", secret.bytes),
                    "write 16 to 64",
                );
            }
            if secret.min_length > 2 * secret.bytes {
                return self.wrong(
                    &format!("secrets.{name}.min_length"),
                    format!("is {}", secret.min_length),
                    "write at most twice as much as bytes, the length of a random value",
                );
            }
            if let Some(env) = &secret.env {
                self.named(&format!("secrets.{name}.env"), env, ENVIRONMENT_NAME)?;
            }
        }
        Ok(())
    }

    fn generate(&self) -> Result<()> {
        let mut names = HashSet::new();
        for (index, generate) in self.file.generate.iter().enumerate() {
            let field = format!("generate[{index}]");
            self.own_name(&mut names, &field, (&generate.name, GENERATED_NAME), "one")?;
            self.command(&format!("{field}.command"), &generate.command)?;
            if generate.fields.is_empty() {
                return self.wrong(
                    &format!("{field}.fields"),
                    "is empty",
                    "write a pattern for each value that is taken",
                );
            }
            for (name, pattern) in &generate.fields {
                let field = format!("{field}.fields.{name}");
                self.named(&field, name, GENERATED_NAME)?;
                let wrong = match Regex::new(pattern) {
                    Ok(regex) if regex.captures_len() > 1 => continue,
                    Ok(_) => format!("`{pattern}` has no group"),
                    Err(error) => error.to_string(),
                };
                return self.wrong(&field, wrong, "put the value's part into ( )");
            }
        }
        Ok(())
    }

    fn command(&self, field: &str, command: &[String]) -> Result<()> {
        if command.is_empty() {
            return self.wrong(field, "is empty", "write a program and its arguments");
        }
        for part in command {
            self.template(field, part, SecretsAre::Refused)?;
        }
        Ok(())
    }

    /// A template that may be left out.
    fn optional(&self, field: &str, key: &str, source: Option<&str>) -> Result<()> {
        source.map_or(Ok(()), |source| {
            self.template(&format!("{field}.{key}"), source, SecretsAre::Refused)
        })
    }

    /// Checks the name of a part. `names` holds the names of earlier parts of its kind.
    fn own_name<'n>(
        &self,
        names: &mut HashSet<&'n str>,
        field: &str,
        (name, pattern): (&'n str, &str),
        kind: &str,
    ) -> Result<()> {
        let field = format!("{field}.name");
        self.named(&field, name, pattern)?;
        if names.insert(name) {
            return Ok(());
        }
        self.wrong(
            &field,
            format!("`{name}` is used twice"),
            format!("give each {kind} its own name"),
        )
    }

    fn files(&self, dir: &Path) -> Result<()> {
        for (name, version) in &self.file.versions {
            let field = format!("versions.{name}");
            self.command(&field, version.command())?;
            self.optional(&field, "when", version.when())?;
        }
        for (index, file) in self.file.file.iter().enumerate() {
            for (field, path) in [("template", &file.template), ("path", &file.path)] {
                let plain = Path::new(path)
                    .components()
                    .all(|part| matches!(part, Component::Normal(_)));
                if path.is_empty() || !plain {
                    return self.wrong(
                        &format!("file[{index}].{field}"),
                        format!("`{path}` leaves its folder"),
                        "write a relative path without `..`",
                    );
                }
            }
            self.optional(&format!("file[{index}]"), "when", file.when.as_deref())?;
            let field = format!("file[{index}].template");
            match std::fs::read_to_string(dir.join(&file.template)) {
                Ok(source) => self.template(&field, &source, SecretsAre::Welcome)?,
                Err(error) => {
                    return self.wrong(
                        &field,
                        format!("`{}` cannot be read: {error}", file.template),
                        format!("put it into testbeds/{}/", self.file.name),
                    );
                }
            }
        }
        Ok(())
    }

    fn processes(&self) -> Result<()> {
        if self.file.process.is_empty() {
            return self.wrong("process", "there is none", "write at least one [[process]]");
        }
        let mut names = HashSet::new();
        for (index, process) in self.file.process.iter().enumerate() {
            let field = format!("process[{index}]");
            self.own_name(&mut names, &field, (&process.name, PROCESS_NAME), "process")?;
            if process.role == Role::Generator {
                return self.wrong(
                    &format!("{field}.role"),
                    "`generator` is not for testbeds",
                    "write system or support",
                );
            }
            self.optional(&field, "when", process.when.as_deref())?;
            self.command(&format!("{field}.command"), &process.command)?;
            self.template(&format!("{field}.cpus"), &process.cpus, SecretsAre::Refused)?;
            for (name, value) in &process.env {
                if name.is_empty() || name.contains(['=', '\0']) {
                    return self.wrong(
                        &format!("{field}.env"),
                        format!("`{name}` is not a name"),
                        "use letters, digits and _",
                    );
                }
                self.template(&format!("{field}.env.{name}"), value, SecretsAre::Welcome)?;
            }
            self.seconds(
                &format!("{field}.stop_timeout_s"),
                process.stop_timeout_s,
                60.0,
            )?;
            if let Some(ready) = &process.ready {
                self.ready(&format!("{field}.ready"), ready)?;
            }
        }
        Ok(())
    }

    fn ready(&self, field: &str, ready: &Ready) -> Result<()> {
        let checks = [&ready.http, &ready.tcp, &ready.listens, &ready.log]
            .into_iter()
            .flatten()
            .count();
        if checks != 1 {
            return self.wrong(
                field,
                format!("has {checks} checks"),
                "give one of http, tcp, listens and log",
            );
        }
        self.seconds(&format!("{field}.timeout_s"), ready.timeout_s, 300.0)?;
        if let Some(url) = ready
            .http
            .as_ref()
            .filter(|url| !url.starts_with("http://"))
        {
            return self.wrong(
                &format!("{field}.http"),
                format!("`{url}` is not an http:// address"),
                "write http://127.0.0.1:{{ vars.PORT }}/PATH",
            );
        }
        self.optional(field, "http", ready.http.as_deref())?;
        self.optional(field, "tcp", ready.tcp.as_deref())?;
        self.optional(field, "listens", ready.listens.as_deref())?;
        if let Some(pattern) = &ready.log
            && let Err(error) = Regex::new(pattern)
        {
            return self.wrong(
                &format!("{field}.log"),
                error.to_string(),
                "write a regular expression",
            );
        }
        Ok(())
    }

    fn seconds(&self, field: &str, value: f64, most: f64) -> Result<()> {
        if value > 0.0 && value <= most {
            return Ok(());
        }
        self.wrong(
            field,
            format!("is {value}"),
            format!("write more than 0 and at most {most} seconds"),
        )
    }

    fn outputs(&self) -> Result<()> {
        for (name, template) in &self.file.outputs {
            self.named(&format!("outputs.{name}"), name, ENVIRONMENT_NAME)?;
            self.template(&format!("outputs.{name}"), template, SecretsAre::Welcome)?;
        }
        Ok(())
    }

    fn generates(&self, name: &str, field: Option<&str>) -> bool {
        self.file
            .generate
            .iter()
            .filter(|generate| generate.name == name)
            .any(|generate| field.is_none_or(|field| generate.fields.contains_key(field)))
    }

    /// Every name that a template uses must be declared.
    fn template(&self, field: &str, source: &str, secrets: SecretsAre) -> Result<()> {
        let names = match self.templates.names(source) {
            Ok(names) => names,
            Err(error) => return self.wrong(field, error, "fix the template"),
        };
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        for name in names {
            let mut parts = name.split('.');
            let first = parts.next().unwrap_or_default();
            let second = parts.next();
            if !NAMES.contains(&first) {
                return self.wrong(
                    field,
                    format!("the template uses `{first}`, which does not exist"),
                    format!("use {}", NAMES.join(", ")),
                );
            }
            if SECRET_NAMES.contains(&first) && secrets == SecretsAre::Refused {
                return self.wrong(
                    field,
                    "a secret would be visible here",
                    "pass secrets by env or by a file",
                );
            }
            let (declared, table) = match (first, second) {
                ("vars", Some(name)) => (self.file.variables.contains_key(name), "[variables]"),
                ("chosen", Some(name)) => {
                    let variable = self.file.variables.get(name);
                    let declared = variable.is_some_and(|one| one.from.is_some());
                    (declared, "[variables] with `from`")
                }
                ("names", Some(name)) => (self.file.names.contains_key(name), "[names]"),
                ("namespaces", Some(name)) => {
                    let declared = self.file.namespace.iter().any(|one| one.name == name);
                    (declared, "[[namespace]]")
                }
                ("secrets", Some(name)) => (self.file.secrets.contains_key(name), "[secrets]"),
                ("generated", Some(name)) => {
                    let third = parts.next();
                    (self.generates(name, third), "[[generate]]")
                }
                _ => continue,
            };
            if !declared {
                return self.wrong(
                    field,
                    format!("the template uses `{name}`, which is not declared"),
                    format!("declare it under {table}"),
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
