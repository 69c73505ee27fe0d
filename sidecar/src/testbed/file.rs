//! The content of a testbed file as written. `sidecar schema` makes `k6/schemas/testbed.schema.json` of these types and their comments.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::process::role::{Role, StopSignal};
use crate::schema_form::merged;

const MEND: &str = "fix the file; k6/schemas/testbed.schema.json describes every field";

pub const SCHEMA: &str = "windtunnel.testbed/1";
pub const NAME: &str = "^[a-z0-9][a-z0-9-]{0,39}$";
pub const PROCESS_NAME: &str = "^[a-z][a-z0-9-]*$";
pub const ENVIRONMENT_NAME: &str = "^[A-Z][A-Z0-9_]*$";
pub const GENERATED_NAME: &str = "^[a-z][a-z0-9_]*$";
pub const PROGRAM_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._+-]*$";
pub const DEVICE_NAME: &str = "^[a-z][a-z0-9-]{0,14}$";
pub const SYSCTL_NAME: &str = r"^net(\.[A-Za-z0-9_-]+)+$";

/// How to start a system on this machine: processes, variables, configuration templates, readiness, outputs. Strings marked as templates
/// are rendered with the names root, dir, work, vars, names, secrets, generated, namespaces, hop.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Windtunnel testbed")]
pub struct TestbedFile {
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Must equal the file's name without .toml.
    #[schemars(regex(pattern = NAME))]
    pub name: String,
    #[schemars(regex(pattern = PROCESS_NAME))]
    pub system: String,
    /// Other systems whose scenarios start this testbed. Only `k6 x bench` uses it.
    #[serde(default)]
    #[schemars(length(min = 1), inner(regex(pattern = PROCESS_NAME)), extend("uniqueItems" = true))]
    pub also: Vec<String>,
    #[schemars(length(min = 1))]
    pub title: String,
    /// The only scenarios of the system that may use this testbed; empty means all that need no separate testbed. Only
    /// `k6 x bench` uses it.
    #[serde(default)]
    #[schemars(length(min = 1), inner(regex(pattern = NAME)), extend("uniqueItems" = true))]
    pub scenarios: Vec<String>,
    #[serde(default)]
    pub variables: BTreeMap<String, Variable>,
    /// Texts that several templates share as names.NAME. They are templates of root, dir and vars, without ports.
    #[serde(default)]
    #[schemars(extend("propertyNames" = {"pattern": GENERATED_NAME}))]
    pub names: BTreeMap<String, String>,
    /// Random values, made anew at each start. They are never written to a file, a log or a process's arguments.
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
    /// The conditions of a start: files and programs that exist, commands that succeed.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// How to find out versions. The first printed line is recorded.
    #[serde(default)]
    pub versions: BTreeMap<String, Version>,
    /// Values that a program makes, such as a pair of keys: each command runs once at each start, before the files are rendered, for 10 s at
    /// most. The values are secrets, named generated.NAME.FIELD.
    #[serde(default)]
    pub generate: Vec<Generate>,
    /// Configuration files, rendered into the working folder before the processes start.
    #[serde(default)]
    pub file: Vec<ConfigFile>,
    /// Network namespaces, in which processes, probes and echo servers can run. They have no names on the machine and vanish with the
    /// sidecar. They need root, or a user namespace (unshare -Ur).
    #[serde(default)]
    pub namespace: Vec<Namespace>,
    #[serde(default)]
    pub link: Vec<Link>,
    #[schemars(length(min = 1))]
    pub process: Vec<Process>,
    pub sweep: Option<Sweep>,
    /// Environment variables for the scenarios, templates. One that uses a secret is a secret itself.
    #[schemars(extend("propertyNames" = {"pattern": ENVIRONMENT_NAME}))]
    pub outputs: BTreeMap<String, String>,
}

/// Write a relative path without `..`.
#[derive(JsonSchema)]
#[schemars(extend("minLength" = 1, "not" = {"pattern": r"^/|^\.(/|$)|(^|/)\.\.(/|$)"}))]
struct PlainPath(#[expect(dead_code, reason = "only the schema has it")] String);

/// Template: false or empty leaves it out, true takes it, any other text is an error. The default is true.
#[derive(JsonSchema)]
struct When(#[expect(dead_code, reason = "only the schema has it")] String);

/// cpus: a list of CPUs such as 0, 0-1 or 0,2; may be empty. port: a TCP and UDP port on loopback; 0 means any free one. path: the absolute
/// path of something that exists; empty only if the default is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VariableType {
    Boolean,
    Integer,
    String,
    Choice,
    Port,
    Path,
    Cpus,
}

shown_as_json!(VariableType);

/// A variable's value in a file, a request or an answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = merged)]
pub enum Value {
    Boolean(bool),
    Integer(i64),
    String(String),
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("if" = {"required": ["type"], "properties": {"type": {"const": "choice"}}}, "then" = {"anyOf": [{"required": ["choices"]}, {"required": ["from"]}]}))]
pub struct Variable {
    #[serde(rename = "type")]
    pub kind: VariableType,
    /// If it is left out, a value must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    #[schemars(length(min = 1))]
    pub description: String,
    /// integer: smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// integer: largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// choice: the allowed values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub choices: Option<Vec<String>>,
    /// choice: a folder beside the testbed file. Each TOML file in it that has `parts` is a choice, named as the file. Its `variables` and
    /// `requires` are the testbed's, and `chosen.VARIABLE` in templates is its parts.
    #[serde(skip_serializing)]
    #[schemars(with = "Option<PlainPath>")]
    pub from: Option<String>,
    /// string, path: the regular expression that the whole value must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// Number of random bytes. The value has twice as many hexadecimal digits.
    #[serde(default = "default_secret_bytes")]
    #[schemars(range(min = 16, max = 64))]
    pub bytes: usize,
    /// Take the value from this environment variable if it is set.
    #[schemars(regex(pattern = ENVIRONMENT_NAME))]
    pub env: Option<String>,
    /// The least length of a value from the environment, characters.
    #[serde(default)]
    #[schemars(range(max = 128))]
    pub min_length: usize,
}

/// The default sweep of dataplane/queue-sweep and dataplane/tproxy: a declared variable and values for it. Only `k6 x bench` uses it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub variable: String,
    #[schemars(length(min = 2, max = 12))]
    pub values: Vec<Value>,
    /// Variables and their values for which this sweep exists.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub only: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["path", "mend"]},
    {"required": ["program", "mend"]},
    {"required": ["make"], "not": {"required": ["mend"]}},
    {"required": ["command", "mend"]}
], "dependentRequired" = {"with": ["make"]}))]
pub struct Requirement {
    /// Template; a file. Exactly one of path, program, make and command must be set.
    pub path: Option<String>,
    /// A program of this machine. If it is not installed, k6 x bench leaves scenarios with this testbed out.
    #[schemars(regex(pattern = PROGRAM_NAME))]
    pub program: Option<String>,
    /// Template; a file in root that is a target of make. Make builds it before a run that needs it, so its fix is known.
    pub make: Option<String>,
    /// Template; a further NAME=VALUE for make, such as a file from which make builds the target. Allowed only with `make`.
    pub with: Option<String>,
    /// Program and arguments, templates. It must end with 0 within 10 s. If not, the last line that it prints is shown.
    #[schemars(length(min = 1))]
    pub command: Option<Vec<String>>,
    /// How to fix a missing requirement, such as the command that installs the program. It must be absent with `make`.
    pub mend: Option<String>,
    #[schemars(with = "Option<When>")]
    pub when: Option<String>,
}

/// Program and arguments, templates, or a table of them as command, and when to ask.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "write [\"PROGRAM\", …] or { command = [\"PROGRAM\", …], when = \"…\" }"
)]
#[schemars(transform = merged)]
pub enum Version {
    Always(#[schemars(length(min = 1))] Vec<String>),
    Sometimes(SometimesVersion),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct SometimesVersion {
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    #[schemars(with = "Option<When>")]
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

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Generate {
    #[schemars(regex(pattern = GENERATED_NAME))]
    pub name: String,
    /// Program and arguments, templates. No shell. It gets PATH, HOME, LANG and TMPDIR.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// A regular expression for each value. The value is the first group in the first line that matches.
    #[schemars(extend("minProperties" = 1, "propertyNames" = {"pattern": GENERATED_NAME}, "additionalProperties" = {"type": "string", "pattern": r"\("}))]
    pub fields: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// Template file beside the testbed file.
    #[schemars(with = "PlainPath")]
    pub template: String,
    /// Its place, relative to the working folder.
    #[schemars(with = "PlainPath")]
    pub path: String,
    #[schemars(with = "Option<When>")]
    pub when: Option<String>,
}

/// A separate network, in which processes, probes and echo servers can run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Namespace {
    #[schemars(regex(pattern = PROCESS_NAME))]
    pub name: String,
    /// Settings of the kernel that each namespace has separately, such as net.ipv4.ip_forward; templates.
    #[serde(default)]
    #[schemars(extend("propertyNames" = {"pattern": SYSCTL_NAME}))]
    pub sysctl: BTreeMap<String, String>,
    /// Commands, such as of ip and iptables, that run in the namespace one after the other after its links exist, 10 s each at most;
    /// templates. No shell.
    #[serde(default)]
    #[schemars(inner(length(min = 1)))]
    pub setup: Vec<Vec<String>>,
    #[schemars(with = "Option<When>")]
    pub when: Option<String>,
}

/// A pair of network devices (veth(4)): bytes that enter one device leave the other.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub ends: [End; 2],
    #[schemars(with = "Option<When>")]
    pub when: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// One of [[namespace]].
    pub namespace: String,
    #[schemars(regex(pattern = DEVICE_NAME))]
    pub device: String,
    /// ADDRESS/PREFIX, templates.
    #[serde(default)]
    pub addresses: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Process {
    #[schemars(regex(pattern = PROCESS_NAME))]
    pub name: String,
    /// system counts as the system under test; support does not.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["system", "support"]))]
    pub role: Role,
    /// Program and arguments, templates. No shell.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// Environment variables, templates. The process gets only these, PATH, HOME, LANG and TMPDIR.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Template; the CPUs that it and all that it starts may use, such as 0, 0-1 or 0,2; empty: all.
    #[serde(default)]
    pub cpus: String,
    /// Template; the namespace that it runs in; empty: this machine's own network.
    #[serde(default)]
    pub namespace: String,
    #[serde(default)]
    pub stop_signal: StopSignal,
    /// Seconds before SIGKILL.
    #[serde(default = "default_stop_timeout_s")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 60))]
    pub stop_timeout_s: f64,
    pub ready: Option<Ready>,
    #[schemars(with = "Option<When>")]
    pub when: Option<String>,
}

/// The process is ready when the one check given here succeeds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["http"]}, {"required": ["tcp"]}, {"required": ["listens"]}, {"required": ["log"]}]))]
pub struct Ready {
    /// Template; an http:// address that must answer 2xx.
    #[schemars(regex(pattern = "^http://"))]
    pub http: Option<String>,
    /// Template; HOST:PORT that must accept a connection.
    pub tcp: Option<String>,
    /// Template; a TCP port that something must listen on. Nothing connects: a transparent proxy would pass a connection to its own port on.
    pub listens: Option<String>,
    /// A regular expression that a line of its output must match.
    pub log: Option<String>,
    #[serde(default = "default_ready_timeout_s")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 300))]
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
