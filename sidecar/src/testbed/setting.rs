//! What the templates of one start are rendered with, and what is rendered before anything starts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::launch::Launch;
use super::redact::Redactor;
use super::template::Templates;
use super::variables::Values;
use super::{secrets, versions};
use crate::failure::{Failure, Result};
use crate::process::folder::Folder;

/// The environment that every process gets, from the sidecar's own.
const PASSED_ON: [&str; 3] = ["PATH", "HOME", "LANG"];

#[derive(Serialize)]
struct Names<'a> {
    root: &'a Path,
    dir: &'a Path,
    work: &'a Path,
    vars: &'a Values,
    secrets: &'a BTreeMap<String, String>,
}

/// All that the templates of one attempt are rendered with.
pub struct Setting<'a> {
    pub launch: &'a Launch<'a>,
    pub templates: Templates,
    pub variables: &'a Values,
    pub secrets: BTreeMap<String, String>,
    pub redactor: Redactor,
    pub work: Folder,
    pub env: BTreeMap<String, String>,
    /// Ports that were chosen here, with their variables.
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
        let work = Folder::create(&prefix).map_err(|error| {
            Failure::setup(format!("working folder: {error}"), "make room in TMPDIR")
        })?;
        let mut env: BTreeMap<String, String> = PASSED_ON
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        env.insert("TMPDIR".to_owned(), work.path().display().to_string());
        Ok(Setting {
            launch: self,
            templates: Templates::new(),
            variables,
            redactor: Redactor::new(secrets.values().map(String::as_str)),
            secrets,
            work,
            env,
            chosen,
        })
    }
}

impl Setting<'_> {
    pub fn file_name(&self) -> String {
        format!("testbeds/{}.toml", self.launch.testbed.file.name)
    }

    pub fn render(&self, field: &str, template: &str) -> Result<String> {
        let names = Names {
            root: self.launch.root,
            dir: &self.launch.testbed.dir,
            work: self.work.path(),
            vars: self.variables,
            secrets: &self.secrets,
        };
        self.templates.render(template, &names).map_err(|error| {
            let error = self.redactor.text(&error);
            Failure::invalid(
                format!("{}: {field}: {error}", self.file_name()),
                "mend the template",
            )
        })
    }

    pub fn check_requirements(&self) -> Result<()> {
        for (index, requirement) in self.launch.testbed.file.requires.iter().enumerate() {
            let path = self.render(&format!("requires[{index}].path"), &requirement.path)?;
            if !Path::new(&path).exists() {
                let name = &self.launch.testbed.file.name;
                return Err(Failure::setup(
                    format!("testbed {name} needs {path}, which does not exist"),
                    requirement.mend.clone(),
                ));
            }
        }
        Ok(())
    }

    pub fn write_files(&self) -> Result<()> {
        for (index, file) in self.launch.testbed.file.file.iter().enumerate() {
            let field = format!("file[{index}].template");
            let source = std::fs::read_to_string(self.launch.testbed.dir.join(&file.template))
                .map_err(|error| {
                    let wrong =
                        format!("{}: {field}: {}: {error}", self.file_name(), file.template);
                    Failure::invalid(wrong, "put the file there")
                })?;
            let text = self.render(&field, &source)?;
            let path = self.work.path().join(&file.path);
            let written = path
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, text));
            written.map_err(|error| {
                Failure::setup(
                    format!("{}: file[{index}].path: {error}", self.file_name()),
                    "make room in TMPDIR",
                )
            })?;
        }
        Ok(())
    }

    /// Open ones and secret ones.
    pub fn outputs(&self) -> Result<(BTreeMap<String, String>, BTreeMap<String, String>)> {
        let (mut open, mut secret) = (BTreeMap::new(), BTreeMap::new());
        for (name, template) in &self.launch.testbed.file.outputs {
            let value = self.render(&format!("outputs.{name}"), template)?;
            // Validation has compiled every template before.
            let uses = self.templates.uses_secrets(template).unwrap_or(true);
            if uses {
                secret.insert(name.clone(), value);
            } else {
                open.insert(name.clone(), value);
            }
        }
        Ok((open, secret))
    }

    pub fn versions(&self) -> Result<BTreeMap<String, String>> {
        let mut commands = BTreeMap::new();
        for (name, command) in &self.launch.testbed.file.versions {
            let command: Result<Vec<_>> = command
                .iter()
                .map(|part| self.render(&format!("versions.{name}"), part))
                .collect();
            commands.insert(name.clone(), command?);
        }
        versions::learn(
            commands,
            &self.env,
            self.work.path(),
            &self.redactor,
            self.launch.cancelled,
        )
        .map_err(|cancelled| {
            let testbed = &self.launch.testbed.file.name;
            Failure::given_up(format!("version {} of testbed {testbed}", cancelled.0))
        })
    }
}
