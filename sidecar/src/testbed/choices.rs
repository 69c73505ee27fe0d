//! Choices that are files. A variable with `from` takes the names of a folder's files as choices. Each file describes its choice:
//! additional variables, requirements, and parts that templates combine.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use super::file::{Requirement, TestbedFile, Variable, read};
use super::variables::Values;
use crate::failure::{Failure, Result, refuse};
use crate::toml_files;

/// By variable and choice: the parts in the choice's file, or null if a choice has no file.
pub type Choices = BTreeMap<String, BTreeMap<String, Json>>;
/// By variable: the parts of the chosen value.
pub type Chosen = BTreeMap<String, Json>;

/// The fields that a testbed uses. Other programs read the other fields.
#[derive(Deserialize)]
struct ChoiceFile {
    #[serde(default)]
    variables: BTreeMap<String, Variable>,
    #[serde(default)]
    requires: Vec<Requirement>,
    /// Strings in `parts` are templates. A file without parts is no choice.
    parts: Option<Json>,
}

/// Reads the folders in `dir` that the variables of `file` name. Their files become choices, and declarations in them become the testbed's,
/// once for each folder.
pub fn read_into(file: &mut TestbedFile, dir: &Path) -> Result<Choices> {
    let folders: BTreeMap<String, String> = file
        .variables
        .iter()
        .filter_map(|(name, variable)| Some((name.clone(), variable.from.clone()?)))
        .collect();
    let mut choices = Choices::new();
    let mut seen = Vec::new();
    for (variable, folder) in folders {
        let label = format!("testbeds/{}/{folder}", file.name);
        let found = read_folder(&dir.join(&folder), &label)?;
        let mut parts: BTreeMap<String, Json> = file.variables[&variable]
            .choices
            .iter()
            .flatten()
            .map(|choice| (choice.clone(), Json::Null))
            .collect();
        for (choice, own) in found {
            let Some(own_parts) = own.parts else { continue };
            if !seen.contains(&folder) {
                let label = format!("{label}/{choice}.toml");
                take(
                    file,
                    &variable,
                    &choice,
                    own.variables,
                    own.requires,
                    &label,
                )?;
            }
            parts.insert(choice, own_parts);
        }
        if let Some(declared) = file.variables.get_mut(&variable) {
            declared.choices = Some(parts.keys().cloned().collect());
        }
        choices.insert(variable, parts);
        seen.push(folder);
    }
    Ok(choices)
}

fn read_folder(folder: &Path, label: &str) -> Result<Vec<(String, ChoiceFile)>> {
    toml_files::names(folder)
        .map_err(Failure::of_invalid(label, "put the folder there"))?
        .into_iter()
        .map(|name| {
            let path = folder.join(format!("{name}.toml"));
            let own = read(&path, &format!("{label}/{name}.toml"))?;
            Ok((name, own))
        })
        .collect()
}

/// Adds the declarations of a choice's file to the testbed. Its requirements apply only if it is chosen.
fn take(
    file: &mut TestbedFile,
    variable: &str,
    choice: &str,
    variables: BTreeMap<String, Variable>,
    requires: Vec<Requirement>,
    label: &str,
) -> Result<()> {
    for (name, declared) in variables {
        refuse(
            file.variables.insert(name.clone(), declared).is_some(),
            &format!("{label}: variables.{name}: is declared elsewhere too"),
            "give it another name, or use that one",
        )?;
    }
    for mut requirement in requires {
        let own = requirement.when.as_deref().unwrap_or("true");
        let chosen = format!("vars.{variable} == '{choice}'");
        requirement.when = Some(format!("{{% if {chosen} %}}{own}{{% endif %}}"));
        file.requires.push(requirement);
    }
    Ok(())
}

/// The parts of the values that `variables` choose, with their strings unrendered.
pub fn chosen(choices: &Choices, variables: &Values) -> Chosen {
    choices
        .iter()
        .map(|(variable, parts)| {
            let choice = variables.get(variable).map(ToString::to_string);
            let own = choice.and_then(|choice| parts.get(&choice));
            (variable.clone(), own.cloned().unwrap_or(Json::Null))
        })
        .collect()
}

/// Every string in `value`, with its path, which begins with `field`.
pub fn strings<'a>(field: &str, value: &'a Json) -> Vec<(String, &'a str)> {
    match value {
        Json::String(text) => vec![(field.to_owned(), text.as_str())],
        Json::Array(entries) => entries
            .iter()
            .enumerate()
            .flat_map(|(index, entry)| strings(&format!("{field}[{index}]"), entry))
            .collect(),
        Json::Object(entries) => entries
            .iter()
            .flat_map(|(key, entry)| strings(&format!("{field}.{key}"), entry))
            .collect(),
        _ => Vec::new(),
    }
}
