//! `sidecar testbed list`, `show` and `needs`, and reading `--var`.

use std::collections::BTreeMap;

use clap::Args;

use super::{Place, say};
use crate::failure::{Failure, Result, refuse};
use crate::testbed::catalogue::{Catalogue, Testbed};
use crate::testbed::check::check;
use crate::testbed::needs::{names, targets};
use crate::testbed::variables::Values;

pub fn list(place: Place) -> Result<u8> {
    let catalogue = Catalogue::find(place.root)?;
    let names = catalogue.names();
    if names.is_empty() {
        say(format_args!(
            "there are no testbeds in {}",
            catalogue.root.join("testbeds").display()
        ));
    }
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let mut first_failure = None;
    for name in names {
        match catalogue.load(&name) {
            Ok(testbed) => say(format_args!(
                "{name:width$}  {}: {}",
                testbed.file.system, testbed.file.title
            )),
            Err(failure) => {
                eprintln!("sidecar: {failure}");
                first_failure.get_or_insert(failure);
            }
        }
    }
    Ok(first_failure.map_or(0, |failure| failure.exit_code()))
}

#[derive(Args)]
pub struct Show {
    /// The testbed's name
    name: String,
    #[command(flatten)]
    place: Place,
}

impl Show {
    pub fn run(self) -> Result<u8> {
        let testbed = Catalogue::find(self.place.root)?.load(&self.name)?;
        let file = &testbed.file;
        say(format_args!(
            "{}: {} (system {})",
            file.name, file.title, file.system
        ));
        say(format_args!("\nvariables (--var NAME=VALUE):"));
        if file.variables.is_empty() {
            say(format_args!("  none"));
        }
        for (name, variable) in &file.variables {
            match &variable.default {
                Some(default) => say(format_args!("  {name} = {default}")),
                None => say(format_args!("  {name} must be given")),
            }
            say(format_args!("      {}", variable.description));
            say(format_args!(
                "      {}: {}",
                variable.kind,
                variable.expects()
            ));
        }
        say(format_args!("\nprocesses:"));
        for process in &file.process {
            say(format_args!("  {}", process.name));
        }
        say(format_args!("\noutputs:"));
        for name in file.outputs.keys() {
            say(format_args!("  {name}"));
        }
        Ok(0)
    }
}

/// A testbed with values of its variables.
#[derive(Args)]
struct With {
    /// The testbed's name
    name: String,
    /// A variable's value
    #[arg(long = "var", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    #[command(flatten)]
    place: Place,
}

impl With {
    fn read(self) -> Result<(Catalogue, Testbed, Values)> {
        let catalogue = Catalogue::find(self.place.root)?;
        let testbed = catalogue.load(&self.name)?;
        let values = read_variables(&testbed, &self.variables)?;
        Ok((catalogue, testbed, values))
    }
}

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    with: With,
    /// Values with their types, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    values: String,
}

impl Check {
    /// Prints the values with their types, and all errors. Exit code 2 means that a value is wrong.
    pub fn run(self) -> Result<u8> {
        let (catalogue, testbed, given) = self.with.read()?;
        let mut values: BTreeMap<String, serde_json::Value> = serde_json::from_str(&self.values)
            .map_err(Failure::of_invalid("--values", "give an object of JSON"))?;
        for (name, value) in given {
            values.insert(name, serde_json::json!(value));
        }
        let mut checked = check(&testbed.file, &values);
        if checked.problems.is_empty() {
            match names(&testbed, &catalogue.root, &checked.given) {
                Ok(names) => checked.names = names,
                Err(failure) => checked.refused = Some(failure.to_string()),
            }
        }
        say(serde_json::json!(checked));
        let right = checked.problems.is_empty() && checked.refused.is_none();
        Ok(if right { 0 } else { 2 })
    }
}

#[derive(Args)]
pub struct Needs {
    #[command(flatten)]
    with: With,
    /// A variable of type choice or boolean; include the needs of each of its values [repeatable]
    #[arg(long, value_name = "VARIABLE")]
    any: Vec<String>,
}

impl Needs {
    pub fn run(self) -> Result<u8> {
        let (catalogue, testbed, given) = self.with.read()?;
        for target in targets(&testbed, &catalogue.root, &given, &self.any)? {
            say(target);
        }
        Ok(0)
    }
}

/// Reads `--var NAME=VALUE`, using the types that the testbed declares.
pub fn read_variables(testbed: &Testbed, given: &[String]) -> Result<Values> {
    let mut values = Values::new();
    for text in given {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure::invalid(
                format!("--var {text}: there is no ="),
                "write --var NAME=VALUE",
            ));
        };
        let read = match testbed.file.variables.get(name) {
            Some(variable) => variable.read(value),
            None => crate::testbed::file::Value::String(value.to_owned()),
        };
        let twice = values.insert(name.to_owned(), read).is_some();
        refuse(
            twice,
            &format!("--var {name} is given twice"),
            "give it once",
        )?;
    }
    Ok(values)
}
