//! The make targets and the programs of a start, found without starting anything.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::catalogue::Testbed;
use super::file::{Value, VariableType};
use super::hop::Place;
use super::launch::Launch;
use super::variables::{Values, resolve};
use crate::failure::{Failure, Result};

/// The make targets, sorted. Variables in `any`, of type choice or boolean, take each of their values.
pub fn targets(
    testbed: &Testbed,
    root: &Path,
    given: &Values,
    any: &[String],
) -> Result<BTreeSet<String>> {
    let launch = of_nothing(testbed, root);
    let mut found = BTreeSet::new();
    for values in combinations(testbed, given, any)? {
        let values = resolve(&testbed.file.name, &testbed.file.variables, &values)?;
        let setting = launch.setting(&values, Vec::new())?;
        found.append(&mut setting.targets(&setting.parts()?)?);
    }
    Ok(found)
}

/// The file's `[names]` with these values, including paths of programs that a start would run.
pub fn names(testbed: &Testbed, root: &Path, given: &Values) -> Result<BTreeMap<String, String>> {
    let values = resolve(&testbed.file.name, &testbed.file.variables, given)?;
    let launch = of_nothing(testbed, root);
    Ok(launch.setting(&values, Vec::new())?.shared_names().clone())
}

/// A launch that starts nothing.
fn of_nothing<'a>(testbed: &'a Testbed, root: &'a Path) -> Launch<'a> {
    Launch {
        place: Place::Loopback,
        limits: None,
        ledger: Arc::default(),
        testbed,
        root,
        id: String::new(),
        logs: root,
        log_name: "",
        log_dir: OnceCell::new(),
        cancelled: &|| false,
        reserve_ports: &|_| Ok(Vec::new()),
    }
}

fn combinations(testbed: &Testbed, given: &Values, any: &[String]) -> Result<Vec<Values>> {
    let mut all = vec![given.clone()];
    for name in any {
        let each = each_of(testbed, name)?;
        all = all
            .iter()
            .flat_map(|values| {
                each.iter().map(|value| {
                    let mut values = values.clone();
                    values.insert(name.clone(), value.clone());
                    values
                })
            })
            .collect();
    }
    Ok(all)
}

/// Whether the file of a choice says that it is built only for a start that names it.
fn is_optional(testbed: &Testbed, variable: &str, choice: &str) -> bool {
    let parts = testbed
        .choices
        .get(variable)
        .and_then(|all| all.get(choice));
    parts.is_some_and(|parts| parts["optional"] == true)
}

fn each_of(testbed: &Testbed, name: &str) -> Result<Vec<Value>> {
    let file = &testbed.file;
    match file.variables.get(name) {
        Some(variable) if variable.kind == VariableType::Choice => Ok(variable
            .choices
            .iter()
            .flatten()
            .filter(|choice| !is_optional(testbed, name, choice))
            .map(|text| Value::String(text.clone()))
            .collect()),
        Some(variable) if variable.kind == VariableType::Boolean => {
            Ok(vec![Value::Boolean(false), Value::Boolean(true)])
        }
        _ => Err(Failure::invalid(
            format!("testbed {} has no choice or boolean {name}", file.name),
            format!("see `sidecar testbed show {}`", file.name),
        )),
    }
}
