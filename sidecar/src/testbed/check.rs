//! Checks values for a testbed's variables, without starting anything.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::file::{TestbedFile, Value, Variable};
use super::variables::Values;

/// The kind of error in a value.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// The testbed declares no such variable.
    Unknown,
    /// The variable does not accept this value.
    Value,
    /// A required value is missing.
    Missing,
    /// The path does not exist on this machine.
    NoFile,
}

#[derive(Debug, Serialize)]
pub struct Problem {
    pub variable: String,
    pub is: Wrong,
    /// The rest of a sentence that begins with the variable.
    pub text: String,
    /// Allowed values, if they form a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}

/// The answer of `sidecar testbed check`.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// The given values, with the types of the variables.
    pub given: Values,
    /// Sorted by variable.
    pub problems: Vec<Problem>,
    /// The file's `[names]` with these values; empty if there is a problem.
    pub names: BTreeMap<String, String>,
    /// Why a start would be refused, if the names alone show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Checks values as JSON. Texts of a command line are converted first: see `Variable::read`.
pub fn check(file: &TestbedFile, given: &BTreeMap<String, Json>) -> Checked {
    let mut checked = Checked {
        given: Values::new(),
        problems: Vec::new(),
        names: BTreeMap::new(),
        refused: None,
    };
    for (name, variable) in &file.variables {
        if variable.default.is_none() && !given.contains_key(name) {
            checked.add(name, Wrong::Missing, missing(file, variable), Vec::new());
        }
    }
    for (name, value) in given {
        let Some(variable) = file.variables.get(name) else {
            let known: Vec<String> = file.variables.keys().cloned().collect();
            let text = format!(
                "testbeds/{}.toml declares no such variable; it declares: {}",
                file.name,
                known.join(", ")
            );
            checked.add(name, Wrong::Unknown, text, known);
            continue;
        };
        match read(variable, value) {
            Err(text) => {
                let known = variable.choices.clone().unwrap_or_default();
                checked.add(name, Wrong::Value, text, known);
            }
            Ok(value) => {
                if let Some(path) = variable.given_path(&value).filter(|path| !path.exists()) {
                    let text = format!("is {}, and there is no such file", path.display());
                    checked.add(name, Wrong::NoFile, text, Vec::new());
                }
                checked.given.insert(name.clone(), value);
            }
        }
    }
    checked.problems.sort_by(|a, b| a.variable.cmp(&b.variable));
    checked
}

impl Checked {
    fn add(&mut self, variable: &str, is: Wrong, text: String, known: Vec<String>) {
        self.problems.push(Problem {
            variable: variable.to_owned(),
            is,
            text,
            known,
        });
    }
}

fn missing(file: &TestbedFile, variable: &Variable) -> String {
    format!(
        "is missing, and testbeds/{}.toml has no default for it: give {}",
        file.name,
        variable.expects()
    )
}

fn read(variable: &Variable, value: &Json) -> Result<Value, String> {
    let read: Value = serde_json::from_value(value.clone())
        .map_err(|_| format!("is {value}, and must be {}", variable.expects()))?;
    variable.check(&read)?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(given: Json) -> Checked {
        let text = r#"
schema = "windtunnel.testbed/1"
name = "t"
system = "test"
title = "T"
[variables]
queue = { type = "integer", default = 5, min = 1, max = 9, description = "d" }
mode = { type = "choice", default = "a", choices = ["a", "bee"], description = "d" }
binary = { type = "path", description = "d" }
[[process]]
name = "one"
command = ["true"]
[outputs]
URL = "x"
"#;
        let file: TestbedFile = crate::testbed::file::parse(text, "t.toml").unwrap();
        check(&file, &serde_json::from_value(given).unwrap())
    }

    #[test]
    fn what_is_given_may_be_all_that_has_no_default() {
        let found = checked(json!({"queue": 7, "binary": "/"}));
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        assert_eq!(found.given.len(), 2);
        assert_eq!(found.given["queue"], Value::Integer(7));
    }

    #[test]
    fn each_problem_has_its_kind_and_its_text() {
        for (given, is, text) in [
            (
                json!({"binary": "/", "queue": 10}),
                Wrong::Value,
                "is 10, and must be an integer from 1 to 9",
            ),
            (
                json!({"binary": "/", "queue": 5.5}),
                Wrong::Value,
                "is 5.5, and must be an integer from 1 to 9",
            ),
            (
                json!({"binary": "/", "queue": "5"}),
                Wrong::Value,
                "is a string, and must be an integer from 1 to 9",
            ),
            (
                json!({"binary": "/", "mode": "be"}),
                Wrong::Value,
                "is be, and must be one of a, bee",
            ),
            (
                json!({"binary": "/", "queu": 5}),
                Wrong::Unknown,
                "testbeds/t.toml declares no such variable; it declares: binary, mode, queue",
            ),
            (
                json!({"binary": "/no/such"}),
                Wrong::NoFile,
                "is /no/such, and there is no such file",
            ),
            (
                json!({}),
                Wrong::Missing,
                "is missing, and testbeds/t.toml has no default for it: give an absolute path",
            ),
        ] {
            let problems = checked(given).problems;
            assert_eq!(problems.len(), 1);
            assert_eq!((&problems[0].is, problems[0].text.as_str()), (&is, text));
        }
    }
}
