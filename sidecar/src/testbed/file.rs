//! The content of a testbed file as written: the Rust side of `k6/schemas/testbed.schema.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::process::role::{Role, StopSignal};

const MEND: &str = "fix the file; k6/schemas/testbed.schema.json describes every field";

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestbedFile {
    pub schema: String,
    pub name: String,
    pub system: String,
    /// Other systems whose scenarios start this testbed. Only `k6 x bench` uses it.
    #[serde(default)]
    pub also: Vec<String>,
    pub title: String,
    /// The only systems that may use this testbed; empty means all. Only `k6 x bench` uses it.
    #[serde(default)]
    pub scenarios: Vec<String>,
    #[serde(default)]
    pub variables: BTreeMap<String, Variable>,
    /// Texts that several templates share. They are templates of `root`, `dir` and `vars`.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
    #[serde(default)]
    pub requires: Vec<Requirement>,
    #[serde(default)]
    pub versions: BTreeMap<String, Version>,
    #[serde(default)]
    pub generate: Vec<Generate>,
    #[serde(default)]
    pub file: Vec<ConfigFile>,
    #[serde(default)]
    pub namespace: Vec<Namespace>,
    #[serde(default)]
    pub link: Vec<Link>,
    pub process: Vec<Process>,
    pub sweep: Option<Sweep>,
    pub outputs: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VariableType {
    Boolean,
    Integer,
    String,
    Choice,
    Port,
    /// An absolute path. If the default is empty, the path is optional.
    Path,
    /// A list of CPUs, which may be empty.
    Cpus,
}

shown_as_json!(VariableType);

/// A variable's value in a file, a request or an answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Value {
    Boolean(bool),
    Integer(i64),
    String(String),
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    #[serde(rename = "type")]
    pub kind: VariableType,
    /// `None` means that a value is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<String>>,
    /// A folder of the testbed. The names of its files are choices as well.
    #[serde(skip_serializing)]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// Number of random bytes. The value has twice as many hexadecimal digits.
    #[serde(default = "default_secret_bytes")]
    pub bytes: usize,
    pub env: Option<String>,
    /// The least length of a value from the environment, characters.
    #[serde(default)]
    pub min_length: usize,
}

/// The default sweep. Only `k6 x bench` uses it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub variable: String,
    pub values: Vec<Value>,
    /// Variables and their values for which this sweep exists.
    #[serde(default)]
    pub only: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Exactly one of the four kinds must be set. This one: a file, a template.
    pub path: Option<String>,
    /// The name of a program that must be installed on this machine.
    pub program: Option<String>,
    /// A file in `root`, a template. It is a make target, so its fix is known.
    pub make: Option<String>,
    /// Further make arguments, NAME=VALUE, a template. Allowed only with `make`.
    pub with: Option<String>,
    /// A program with its arguments, templates. It must exit with 0.
    pub command: Option<Vec<String>>,
    /// How to fix a missing requirement. It must be absent with `make`.
    pub mend: Option<String>,
    /// The condition of the requirement, a template; `None` means always. The same holds for `when` in other parts.
    pub when: Option<String>,
}

/// How to find out a version: a command, or a table with the command and its condition.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "write [\"PROGRAM\", …] or { command = [\"PROGRAM\", …], when = \"…\" }"
)]
pub enum Version {
    Always(Vec<String>),
    Sometimes(SometimesVersion),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SometimesVersion {
    pub command: Vec<String>,
    pub when: Option<String>,
}

impl Version {
    pub fn command(&self) -> &[String] {
        match self {
            Version::Always(command) => command,
            Version::Sometimes(version) => &version.command,
        }
    }

    pub fn when(&self) -> Option<&str> {
        match self {
            Version::Always(_) => None,
            Version::Sometimes(version) => version.when.as_deref(),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    pub name: String,
    pub command: Vec<String>,
    /// Patterns of lines, by field. The first group is the value.
    pub fields: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    pub template: String,
    pub path: String,
    pub when: Option<String>,
}

/// A separate network, in which processes, probes and echo servers can run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    pub name: String,
    /// Kernel settings by their names, such as `net.ipv4.ip_forward`. Values are templates.
    #[serde(default)]
    pub sysctl: BTreeMap<String, String>,
    /// Commands that run in the namespace after its links exist, templates.
    #[serde(default)]
    pub setup: Vec<Vec<String>>,
    pub when: Option<String>,
}

/// A pair of network devices (veth(4)): bytes that enter one device leave the other.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub ends: [End; 2],
    pub when: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub namespace: String,
    pub device: String,
    /// ADDRESS/PREFIX, templates.
    #[serde(default)]
    pub addresses: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub name: String,
    #[serde(default)]
    pub role: Role,
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub cpus: String,
    /// The process's namespace, a template; empty means this machine's own network.
    #[serde(default)]
    pub namespace: String,
    #[serde(default)]
    pub stop_signal: StopSignal,
    #[serde(default = "default_stop_timeout_s")]
    pub stop_timeout_s: f64,
    pub ready: Option<Ready>,
    pub when: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    pub http: Option<String>,
    pub tcp: Option<String>,
    pub listens: Option<String>,
    pub log: Option<String>,
    #[serde(default = "default_ready_timeout_s")]
    pub timeout_s: f64,
}

fn default_secret_bytes() -> usize {
    32
}

fn default_stop_timeout_s() -> f64 {
    5.0
}

fn default_ready_timeout_s() -> f64 {
    30.0
}

/// Reads one file. The error names the file, the line and the field.
pub fn read<T: DeserializeOwned>(path: &Path, label: &str) -> Result<T> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::invalid(format!("{label}: cannot be read: {error}"), MEND))?;
    parse(&text, label)
}

/// Parses the text of a file. `label` is the file's name in errors.
pub fn parse<T: DeserializeOwned>(text: &str, label: &str) -> Result<T> {
    let document =
        toml::Deserializer::parse(text).map_err(|error| malformed(text, label, "", &error))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let field = error.path().to_string();
        malformed(text, label, &field, error.inner())
    })
}

fn malformed(text: &str, label: &str, field: &str, error: &toml::de::Error) -> Failure {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let at = line.map_or(String::new(), |line| format!(":{line}"));
    let field = if field.is_empty() || field == "." {
        String::new()
    } else {
        format!(" {field}:")
    };
    Failure::invalid(format!("{label}{at}:{field} {}", error.message()), MEND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, label: &str) -> Result<TestbedFile> {
        super::parse(text, label)
    }

    const SMALL: &str = r#"
schema = "windtunnel.testbed/1"
name = "small"
system = "test"
title = "A small one"
[[process]]
name = "one"
command = ["sleep", "1"]
stop_timeout_s = 2
[outputs]
URL = "x"
"#;

    #[test]
    fn a_small_file_gets_the_schema_s_defaults() {
        let file = parse(SMALL, "small.toml").unwrap();
        let process = &file.process[0];
        assert_eq!(process.role, Role::System);
        assert_eq!(process.stop_signal, StopSignal::Term);
        assert_eq!(process.stop_timeout_s, 2.0);
        assert!(process.ready.is_none());
    }

    #[test]
    fn an_unknown_field_is_named_with_its_line() {
        let text = SMALL.replace("stop_timeout_s", "stop_timeout");
        let error = parse(&text, "testbeds/small.toml").unwrap_err().to_string();
        assert!(error.starts_with("testbeds/small.toml:9:"), "{error}");
        assert!(
            error.contains("process[0]") && error.contains("stop_timeout"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn a_missing_field_is_named() {
        let text = SMALL.replace("title = \"A small one\"\n", "");
        let error = parse(&text, "small.toml").unwrap_err().to_string();
        assert!(error.contains("missing field `title`"), "{error}");
    }

    #[test]
    fn broken_toml_says_file_and_line() {
        let error = parse("schema = [\n", "small.toml").unwrap_err().to_string();
        assert!(error.starts_with("small.toml:"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn a_wrong_type_says_the_field() {
        let text = SMALL.replace("command = [\"sleep\", \"1\"]", "command = \"sleep 1\"");
        let error = parse(&text, "small.toml").unwrap_err().to_string();
        assert!(error.contains("process[0].command"), "{error}");
    }

    #[test]
    fn a_version_is_a_command_or_a_table() {
        let versions = |line: &str| parse(&SMALL.replace("[outputs]", line), "small.toml");
        let line = "[versions]\na = [\"x\"]\nb = { command = [\"y\"], when = \"w\" }\n[outputs]";
        let file = versions(line).unwrap();
        let read = |name: &str| (file.versions[name].command(), file.versions[name].when());
        assert_eq!(read("a"), (&["x".to_owned()][..], None));
        assert_eq!(read("b"), (&["y".to_owned()][..], Some("w")));
        for wrong in [
            "\"x\"",
            "{ command = [\"y\"], wen = \"w\" }",
            "{ when = \"w\" }",
        ] {
            let line = format!("[versions]\na = {wrong}\n[outputs]");
            let error = versions(&line).unwrap_err().to_string();
            assert!(
                error.contains(" versions.a: write [\"PROGRAM\", …] or {"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_role_generator_is_refused_by_validation_not_known_to_the_schema() {
        let text = SMALL.replace("stop_timeout_s = 2", "role = \"generator\"");
        assert_eq!(
            parse(&text, "small.toml").unwrap().process[0].role,
            Role::Generator
        );
    }
}
