//! The values with which the templates of one start are rendered, and everything that is rendered before processes start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::choices::{self, Chosen};
use super::file::{ConfigFile, Process};
use super::hop::Hop;
use super::launch::Launch;
use super::parts::{Generated, Parts};
use super::secrets;
use super::template::Templates;
use super::variables::Values;
use crate::failure::{Failure, Result};
use crate::limits::group::Group;
use crate::link::Link;
use crate::process::cpus;
use crate::process::folder::Folder;
use crate::process::namespace::Namespaces;
use crate::process::redact::Redactor;

/// How to fix a command whose program is missing.
pub const FIX_COMMAND: &str = "install it, or fix the command in the testbed file";
/// Variables of the sidecar's environment that every process gets.
const PASSED_ON: [&str; 3] = ["PATH", "HOME", "LANG"];

#[derive(Serialize)]
struct Names<'a> {
    root: &'a Path,
    dir: &'a Path,
    work: &'a Path,
    vars: &'a Values,
    chosen: &'a Chosen,
    names: &'a BTreeMap<String, String>,
    secrets: &'a BTreeMap<String, String>,
    generated: &'a Generated,
    namespaces: BTreeMap<&'a str, PathBuf>,
    hop: &'a Hop,
}

/// All values for the templates of one attempt.
pub struct Setting<'a> {
    pub launch: &'a Launch<'a>,
    pub templates: Templates,
    pub variables: &'a Values,
    /// The parts of the chosen values, without parts that use secrets.
    chosen_parts: Chosen,
    /// The file's `[names]`, rendered.
    names: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    pub generated: Generated,
    pub redactor: Redactor,
    pub work: Folder,
    pub namespaces: Namespaces,
    hop: Hop,
    pub link: Option<Arc<Link>>,
    /// The control group of the system's processes, if they have limits.
    pub group: Option<Arc<Group>>,
    pub env: BTreeMap<String, String>,
    /// Ports that were chosen here and are in use, with their variables.
    pub chosen: Vec<(String, u16)>,
}

impl Launch<'_> {
    pub fn setting<'a>(
        &'a self,
        variables: &'a Values,
        chosen: Vec<(String, u16)>,
    ) -> Result<Setting<'a>> {
        let secrets = secrets::make(&self.testbed.file.secrets)?;
        let prefix = format!("windtunnel-{}-", self.testbed.file.name);
        let work = Folder::create(&prefix)
            .map_err(Failure::of_setup("working folder", "make room in TMPDIR"))?;
        let mut env: BTreeMap<String, String> = PASSED_ON
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        env.insert("TMPDIR".to_owned(), work.path().display().to_string());
        let mut setting = Setting {
            launch: self,
            templates: Templates::new(),
            variables,
            chosen_parts: Chosen::new(),
            names: BTreeMap::new(),
            redactor: Redactor::new(secrets.values().map(String::as_str)),
            secrets,
            generated: Generated::new(),
            work,
            namespaces: Namespaces::new(),
            hop: Hop::new(&self.place),
            link: None,
            group: None,
            env,
            chosen,
        };
        setting.chosen_parts = setting.filled_parts(false)?;
        let mut names = BTreeMap::new();
        for (name, text) in &self.testbed.file.names {
            let text = setting.render(&format!("names.{name}"), text)?;
            names.insert(name.clone(), text);
        }
        setting.names = names;
        Ok(setting)
    }
}

impl Setting<'_> {
    pub const fn shared_names(&self) -> &BTreeMap<String, String> {
        &self.names
    }

    pub fn file_name(&self) -> String {
        format!("testbeds/{}.toml", self.launch.testbed.file.name)
    }

    pub fn render(&self, field: &str, template: &str) -> Result<String> {
        self.render_with(&self.chosen_parts, field, template)
    }

    /// Renders each part of a command.
    pub fn render_all(&self, field: &str, command: &[String]) -> Result<Vec<String>> {
        command
            .iter()
            .map(|part| self.render(field, part))
            .collect()
    }

    fn render_with(&self, parts: &Chosen, field: &str, template: &str) -> Result<String> {
        self.templates
            .render(template, &self.names_with(parts))
            .map_err(|error| self.not_rendered(field, &error))
    }

    fn names_with<'s>(&'s self, parts: &'s Chosen) -> Names<'s> {
        Names {
            root: self.launch.root,
            dir: &self.launch.testbed.dir,
            work: self.work.path(),
            vars: self.variables,
            chosen: parts,
            names: &self.names,
            secrets: &self.secrets,
            generated: &self.generated,
            namespaces: self.namespace_files(),
            hop: &self.hop,
        }
    }

    /// The files of the namespaces, for templates.
    fn namespace_files(&self) -> BTreeMap<&str, PathBuf> {
        let namespaces = self.namespaces.iter();
        namespaces
            .map(|(name, namespace)| (name.as_str(), namespace.path()))
            .collect()
    }

    fn not_rendered(&self, field: &str, error: &str) -> Failure {
        let error = self.redactor.text(error);
        Failure::invalid(
            format!("{}: {field}: {error}", self.file_name()),
            "fix the template",
        )
    }

    /// The parts of the chosen values, rendered.
    fn filled_parts(&self, secrets: bool) -> Result<Chosen> {
        let none = Chosen::new();
        let names = self.names_with(&none);
        choices::chosen(&self.launch.testbed.choices, self.variables)
            .iter()
            .map(|(variable, parts)| {
                let filled = self.templates.fill(parts, &names, secrets);
                let field = format!("parts of {variable}");
                let filled = filled.map_err(|error| self.not_rendered(&field, &error))?;
                Ok((variable.clone(), filled))
            })
            .collect()
    }

    /// Checks that the CPUs of every process exist, before any process starts.
    pub fn check_cpus(&self, parts: &Parts<'_>) -> Result<()> {
        for (index, process) in &parts.processes {
            self.cpus(*index, process)?;
        }
        Ok(())
    }

    /// The list of CPUs to which a process is bound, in its shortest form; empty if it is not bound.
    pub fn cpus(&self, index: usize, process: &Process) -> Result<String> {
        let list = self.render(&format!("process[{index}].cpus"), &process.cpus)?;
        let names = self.templates.names(&process.cpus).unwrap_or_default();
        let variables: Vec<_> = names
            .iter()
            .filter_map(|name| name.strip_prefix("vars."))
            .map(|name| format!(", variable {name}"))
            .collect();
        let process = self.of_testbed(&format!("process {}", process.name));
        let field = process + &variables.concat();
        let wanted = cpus::parse(&list).map_err(|wrong| {
            Failure::invalid(format!("{field}: {wrong}"), "write CPUs as 0-1,3")
        })?;
        cpus::check(&field, &wanted)?;
        Ok(cpus::format(&wanted))
    }

    /// The full name of a part, such as `process one of testbed small`.
    pub fn of_testbed(&self, part: &str) -> String {
        format!("{part} of testbed {}", self.launch.testbed.file.name)
    }

    /// Checks that the program that `what` needs is installed.
    pub fn check_program(
        &self,
        what: &str,
        program: &str,
        env: &BTreeMap<String, String>,
        mend: &str,
    ) -> Result<()> {
        if can_run(program, env.get("PATH")) {
            return Ok(());
        }
        Err(Failure::setup(
            format!("{what}: there is no program {program}"),
            mend,
        ))
    }

    /// The text of a file's template.
    pub fn source(&self, index: usize, file: &ConfigFile) -> Result<String> {
        std::fs::read_to_string(self.launch.testbed.dir.join(&file.template)).map_err(|error| {
            let (testbed, template) = (self.file_name(), &file.template);
            Failure::invalid(
                format!("{testbed}: file[{index}].template: {template}: {error}"),
                "put the file there",
            )
        })
    }

    pub fn write_files(&self, parts: &Parts<'_>) -> Result<()> {
        let chosen = self.filled_parts(true)?;
        for (index, file) in &parts.files {
            let source = self.source(*index, file)?;
            let field = format!("file[{index}].template");
            let text = self.render_with(&chosen, &field, &source)?;
            let path = self.work.path().join(&file.path);
            let written = path
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, text));
            written.map_err(Failure::of_setup(
                format!("{}: file[{index}].path", self.file_name()),
                "make room in TMPDIR",
            ))?;
        }
        Ok(())
    }

    /// Public outputs and secret outputs.
    pub fn outputs(&self) -> Result<(BTreeMap<String, String>, BTreeMap<String, String>)> {
        let (mut open, mut secret) = (BTreeMap::new(), BTreeMap::new());
        for (name, template) in &self.launch.testbed.file.outputs {
            let value = self.render(&format!("outputs.{name}"), template)?;
            // Validation has already compiled every template.
            let uses = self.templates.uses_secrets(template).unwrap_or(true);
            if uses {
                secret.insert(name.clone(), value);
            } else {
                open.insert(name.clone(), value);
            }
        }
        Ok((open, secret))
    }
}

pub fn can_run(program: &str, path: Option<&String>) -> bool {
    let executable = |path: &Path| {
        std::fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let path = path.map(OsString::from).unwrap_or_default();
    std::env::split_paths(&path).any(|folder| executable(&folder.join(program)))
}
