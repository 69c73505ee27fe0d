//! Variables of a testbed: typed, checked, with free ports filled in.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;

use super::file::{Value, Variable, VariableType};
use crate::failure::{Failure, Result};
use crate::process::cpus;

pub type Values = BTreeMap<String, Value>;

impl Value {
    fn type_name(&self) -> &'static str {
        match self {
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) => "an integer",
            Value::String(_) => "a string",
        }
    }
}

shown_as_json!(Value);

impl Variable {
    /// A description of the allowed values.
    pub fn expects(&self) -> String {
        match self.kind {
            VariableType::Boolean => "true or false".to_owned(),
            VariableType::Integer => match (self.min, self.max) {
                (Some(min), Some(max)) => format!("an integer from {min} to {max}"),
                (Some(min), None) => format!("an integer of {min} or more"),
                (None, Some(max)) => format!("an integer of {max} or less"),
                (None, None) => "an integer".to_owned(),
            },
            VariableType::String => match &self.pattern {
                Some(pattern) => format!("a string that matches {pattern}"),
                None => "a string of one line".to_owned(),
            },
            VariableType::Choice => format!(
                "one of {}",
                self.choices.as_deref().unwrap_or_default().join(", ")
            ),
            VariableType::Port => "a port from 1 to 65535, or 0 for any free one".to_owned(),
            VariableType::Path => {
                let which = self.pattern.as_ref();
                let which = which.map_or_else(String::new, |one| format!(" that matches {one}"));
                let or = if self.may_be_empty() {
                    ", or empty"
                } else {
                    ""
                };
                format!("an absolute path{which}{or}")
            }
            VariableType::Cpus => "a list of CPUs such as 0, 0-1 or 0,2, or empty".to_owned(),
        }
    }

    /// Checks whether `value` is allowed. The error is a message.
    pub fn check(&self, value: &Value) -> std::result::Result<(), String> {
        let right = match (self.kind, value) {
            (VariableType::Boolean, Value::Boolean(_)) => true,
            (VariableType::Integer, Value::Integer(number)) => {
                self.min.is_none_or(|min| *number >= min)
                    && self.max.is_none_or(|max| *number <= max)
            }
            (VariableType::Port, Value::Integer(number)) => (0..=65535).contains(number),
            (VariableType::Choice, Value::String(text)) => {
                self.choices.as_deref().unwrap_or_default().contains(text)
            }
            (VariableType::String, Value::String(text)) => {
                !text.chars().any(char::is_control) && self.matches(text)
            }
            (VariableType::Path, Value::String(text)) => {
                !text.chars().any(char::is_control)
                    && (text.starts_with('/') && self.matches(text)
                        || text.is_empty() && self.may_be_empty())
            }
            (VariableType::Cpus, Value::String(text)) => cpus::parse(text).is_ok(),
            _ => {
                return Err(format!(
                    "is {}, and must be {}",
                    value.type_name(),
                    self.expects()
                ));
            }
        };
        if right {
            Ok(())
        } else {
            Err(format!("is {value}, and must be {}", self.expects()))
        }
    }

    /// The path of `value`, if it is one that is given and is not the default.
    pub fn given_path<'v>(&self, value: &'v Value) -> Option<&'v Path> {
        let Value::String(path) = value else {
            return None;
        };
        let given = self.kind == VariableType::Path && self.default.as_ref() != Some(value);
        (given && !path.is_empty()).then(|| Path::new(path))
    }

    /// Whether an empty path is allowed.
    fn may_be_empty(&self) -> bool {
        matches!(&self.default, Some(Value::String(text)) if text.is_empty())
    }

    fn matches(&self, text: &str) -> bool {
        match &self.pattern {
            None => true,
            Some(pattern) => whole(pattern).is_ok_and(|pattern| pattern.is_match(text)),
        }
    }

    /// Reads a value from the command line, by the variable's type.
    pub fn read(&self, text: &str) -> Value {
        let read = match self.kind {
            VariableType::Boolean => text.parse().ok().map(Value::Boolean),
            VariableType::Integer | VariableType::Port => text.parse().ok().map(Value::Integer),
            VariableType::String
            | VariableType::Choice
            | VariableType::Path
            | VariableType::Cpus => None,
        };
        read.unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

/// A pattern that the whole value must match.
pub fn whole(pattern: &str) -> std::result::Result<Regex, regex::Error> {
    Regex::new(&format!("^(?:{pattern})$"))
}

/// Defaults, replaced by given values, all checked. Port 0 remains 0.
pub fn resolve(
    testbed: &str,
    declared: &BTreeMap<String, Variable>,
    given: &Values,
) -> Result<Values> {
    for name in given.keys() {
        if !declared.contains_key(name) {
            let known: Vec<_> = declared.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", known.join(", "))
            };
            return Err(Failure::invalid(
                format!("testbed {testbed} has no variable {name}"),
                format!("{known}; see `sidecar testbed show {testbed}`"),
            ));
        }
    }
    let mut values = Values::new();
    for (name, variable) in declared {
        let Some(value) = given.get(name).or(variable.default.as_ref()) else {
            return Err(Failure::invalid(
                format!(
                    "testbed {testbed} needs its variable {name}: {}",
                    variable.description.trim_end_matches('.')
                ),
                format!("give {name}, {}", variable.expects()),
            ));
        };
        variable.check(value).map_err(|wrong| {
            Failure::invalid(
                format!("variable {name} of testbed {testbed} {wrong}"),
                format!("see `sidecar testbed show {testbed}`"),
            )
        })?;
        values.insert(name.clone(), value.clone());
    }
    Ok(values)
}

/// The variables of type port with their ports. Port 0 means that any free port is needed.
pub fn ports<'a>(
    declared: &'a BTreeMap<String, Variable>,
    values: &'a Values,
) -> impl Iterator<Item = (String, u16)> + 'a {
    declared
        .iter()
        .filter(|(_, variable)| variable.kind == VariableType::Port)
        .filter_map(|(name, _)| match values.get(name) {
            Some(Value::Integer(port)) => Some((name.clone(), u16::try_from(*port).ok()?)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(text: &str) -> Variable {
        toml::from_str(&format!("description = \"d\"\n{text}")).unwrap()
    }

    #[test]
    fn each_type_takes_its_own_values_only() {
        let boolean = variable("type = \"boolean\"\ndefault = false");
        assert!(boolean.check(&Value::Boolean(true)).is_ok());
        assert!(boolean.check(&Value::String("true".into())).is_err());
        let integer = variable("type = \"integer\"\ndefault = 5\nmin = 1\nmax = 9");
        assert!(integer.check(&Value::Integer(9)).is_ok());
        assert!(integer.check(&Value::Integer(10)).is_err());
        assert!(integer.check(&Value::Integer(0)).is_err());
        assert!(integer.check(&Value::Boolean(true)).is_err());
        let choice = variable("type = \"choice\"\ndefault = \"a\"\nchoices = [\"a\", \"b\"]");
        assert!(choice.check(&Value::String("b".into())).is_ok());
        assert!(choice.check(&Value::String("c".into())).is_err());
        let port = variable("type = \"port\"\ndefault = 0");
        assert!(port.check(&Value::Integer(65535)).is_ok());
        assert!(port.check(&Value::Integer(65536)).is_err());
        assert!(port.check(&Value::Integer(-1)).is_err());
    }

    #[test]
    fn cpus_are_a_list_or_nothing() {
        let cpus = variable("type = \"cpus\"\ndefault = \"\"");
        for (text, right) in [("", true), ("0-1,3", true), ("none", false), ("1-0", false)] {
            let checked = cpus.check(&Value::String(text.to_owned()));
            assert_eq!(checked.is_ok(), right, "{text:?}");
        }
        assert_eq!(cpus.read("0"), Value::String("0".into()));
    }

    #[test]
    fn a_path_is_absolute_and_empty_only_where_its_default_is() {
        let optional = variable("type = \"path\"\ndefault = \"\"");
        let needed = variable("type = \"path\"\ndefault = \"/usr/bin/env\"");
        for (text, [in_optional, in_needed]) in [
            ("/opt/python", [true, true]),
            ("", [true, false]),
            ("venv/bin/python", [false, false]),
            ("~/python", [false, false]),
            ("/a\nb", [false, false]),
        ] {
            let value = Value::String(text.into());
            assert_eq!(optional.check(&value).is_ok(), in_optional, "{text:?}");
            assert_eq!(needed.check(&value).is_ok(), in_needed, "{text:?}");
        }
        let wrong = optional.check(&Value::String("venv".into())).unwrap_err();
        assert_eq!(wrong, "is venv, and must be an absolute path, or empty");
        assert_eq!(optional.read("/80"), Value::String("/80".into()));
    }

    #[test]
    fn a_path_may_have_a_pattern_and_be_empty_all_the_same() {
        let path = variable("type = \"path\"\ndefault = \"\"\npattern = \"/.*[.]whl\"");
        for (text, right) in [
            ("/a/b.whl", true),
            ("", true),
            ("/a/b.zip", false),
            ("b.whl", false),
        ] {
            assert_eq!(
                path.check(&Value::String(text.to_owned())).is_ok(),
                right,
                "{text}"
            );
        }
        assert_eq!(
            path.expects(),
            "an absolute path that matches /.*[.]whl, or empty"
        );
    }

    #[test]
    fn a_pattern_must_match_the_whole_string() {
        let string = variable("type = \"string\"\ndefault = \"ab\"\npattern = \"a|ab\"");
        assert!(string.check(&Value::String("ab".into())).is_ok());
        assert!(string.check(&Value::String("abc".into())).is_err());
        let free = variable("type = \"string\"\ndefault = \"\"");
        assert!(free.check(&Value::String("a\nb".into())).is_err());
    }

    #[test]
    fn the_command_line_reads_by_type() {
        assert_eq!(
            variable("type = \"port\"\ndefault = 0").read("80"),
            Value::Integer(80)
        );
        assert_eq!(
            variable("type = \"string\"\ndefault = \"\"").read("80"),
            Value::String("80".into())
        );
        assert_eq!(
            variable("type = \"boolean\"\ndefault = false").read("true"),
            Value::Boolean(true)
        );
        let wrong = variable("type = \"integer\"\ndefault = 0").read("many");
        assert!(
            variable("type = \"integer\"\ndefault = 0")
                .check(&wrong)
                .is_err()
        );
    }

    #[test]
    fn an_unknown_variable_is_named_with_the_known_ones() {
        let declared = BTreeMap::from([(
            "queue".to_owned(),
            variable("type = \"integer\"\ndefault = 1"),
        )]);
        let given = Values::from([("quue".to_owned(), Value::Integer(1))]);
        let error = resolve("t", &declared, &given).unwrap_err().to_string();
        assert!(
            error.contains("no variable quue") && error.contains("it has queue"),
            "{error}"
        );
    }

    #[test]
    fn a_variable_without_a_default_must_be_given() {
        let declared = BTreeMap::from([("binary".to_owned(), variable("type = \"string\""))]);
        let error = resolve("t", &declared, &Values::new()).unwrap_err();
        assert!(
            error.to_string().contains("needs its variable binary: d"),
            "{error}"
        );
        let given = Values::from([("binary".to_owned(), Value::String("/b".into()))]);
        assert_eq!(resolve("t", &declared, &given).unwrap(), given);
    }

    #[test]
    fn given_and_free_ports_are_distinguished() {
        let declared = BTreeMap::from([
            ("a".to_owned(), variable("type = \"port\"\ndefault = 0")),
            ("b".to_owned(), variable("type = \"port\"\ndefault = 0")),
        ]);
        let values = resolve(
            "t",
            &declared,
            &Values::from([("b".to_owned(), Value::Integer(81))]),
        )
        .unwrap();
        let ports: Vec<_> = ports(&declared, &values).collect();
        assert_eq!(ports, [("a".to_owned(), 0), ("b".to_owned(), 81)]);
    }
}
