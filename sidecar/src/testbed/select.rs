//! Selects the parts of a testbed that one start uses, according to each `when`.

use std::collections::HashSet;

use super::file::{ConfigFile, Process, VariableType};
use super::parts::{Indexed, Parts};
use super::setting::Setting;
use crate::failure::{Failure, Result, refuse};

/// The longest quoted part of a text that is neither true nor false, characters.
const MAX_CHARS: usize = 60;

/// Used parts, and unused parts.
type Split<'a, T> = (Indexed<'a, T>, Indexed<'a, T>);

impl<'a> Setting<'a> {
    /// Evaluates every `when`. A text that is neither true nor false is an error, and so is a testbed without a process.
    pub fn parts(&self) -> Result<Parts<'a>> {
        let testbed = &self.launch.testbed.file;
        let (requires, _) = self.split("requires", &testbed.requires, |part| &part.when)?;
        let (files, idle_files) = self.split("file", &testbed.file, |part| &part.when)?;
        let (processes, idle_processes) =
            self.split("process", &testbed.process, |part| &part.when)?;
        let (namespaces, _) = self.split("namespace", &testbed.namespace, |part| &part.when)?;
        let (links, _) = self.split("link", &testbed.link, |part| &part.when)?;
        let none = format!(
            "{}: process: `when` leaves out all of them",
            self.file_name()
        );
        refuse(processes.is_empty(), &none, "let at least one be started")?;
        let mut versions = Vec::new();
        for (name, version) in &testbed.versions {
            if self.takes(&format!("versions.{name}"), version.when())? {
                versions.push((name.as_str(), version));
            }
        }
        let mut named = self.names_in_files(&idle_files)?;
        for (_, process) in &idle_processes {
            named.extend(self.names(process.env.values()));
            named.extend(self.names(where_it_listens(process)));
        }
        // A template with `vars[…]` may listen on any port variable.
        let mut listened = self.names_in_files(&files)?;
        for (_, process) in &processes {
            listened.extend(self.names(where_it_listens(process)));
        }
        let idle = |name: &String| {
            let vars_name = format!("vars.{name}");
            named.contains(&vars_name)
                && !listened.contains(&vars_name)
                && !listened.contains("vars")
        };
        let idle_ports = testbed
            .variables
            .iter()
            .filter(|(name, variable)| variable.kind == VariableType::Port && idle(name))
            .map(|(name, _)| name.clone())
            .collect();
        Ok(Parts {
            requires,
            versions,
            files,
            namespaces,
            links,
            processes,
            idle_ports,
        })
    }

    fn split<T>(
        &self,
        key: &str,
        parts: &'a [T],
        when: impl Fn(&T) -> &Option<String>,
    ) -> Result<Split<'a, T>> {
        let (mut taken, mut left_out) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            if self.takes(&format!("{key}[{index}]"), when(part).as_deref())? {
                taken.push((index, part));
            } else {
                left_out.push((index, part));
            }
        }
        Ok((taken, left_out))
    }

    fn takes(&self, field: &str, when: Option<&str>) -> Result<bool> {
        let Some(source) = when else { return Ok(true) };
        let field = format!("{field}.when");
        let text = self.render(&field, source)?;
        match text.trim() {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            other => {
                let quoted: String = other.chars().take(MAX_CHARS).collect();
                Err(Failure::invalid(
                    format!(
                        "{}: {field}: {quoted:?} is neither true nor false",
                        self.file_name()
                    ),
                    "write a comparison, such as {{ vars.NAME == 'value' }}",
                ))
            }
        }
    }

    fn names_in_files(&self, files: &Indexed<'_, ConfigFile>) -> Result<HashSet<String>> {
        let sources: Result<Vec<_>> = files
            .iter()
            .map(|(index, file)| self.source(*index, file))
            .collect();
        Ok(self.names(&sources?))
    }

    /// The outside names that templates use. Validation has already compiled each template.
    fn names(&self, sources: impl IntoIterator<Item = impl AsRef<str>>) -> HashSet<String> {
        sources
            .into_iter()
            .flat_map(|source| self.templates.names(source.as_ref()).unwrap_or_default())
            .collect()
    }
}

/// The templates in which a process names its own ports. Its environment may name ports of other processes.
fn where_it_listens(process: &Process) -> impl Iterator<Item = &String> {
    let ready = process.ready.iter();
    process.command.iter().chain(ready.flat_map(|ready| {
        let addresses = ready.http.iter().chain(&ready.tcp);
        addresses.chain(&ready.listens)
    }))
}
