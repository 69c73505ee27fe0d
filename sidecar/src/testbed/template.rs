//! Templates of testbed files, rendered by minijinja. Every name must exist.

use std::collections::HashSet;
use std::fs::File;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value as Json;

use crate::process::programs;

/// The names that a template may use.
pub const NAMES: [&str; 10] = [
    "root",
    "dir",
    "work",
    "vars",
    "chosen",
    "names",
    "secrets",
    "generated",
    "namespaces",
    "hop",
];

/// The names in [`NAMES`] whose values are secrets.
pub const SECRET_NAMES: [&str; 2] = ["secrets", "generated"];

/// The function by which a template reports why it cannot be rendered.
const REFUSE: &str = "refuse";

/// The function that identifies a file by its content.
const DIGEST: &str = "digest";
const DIGEST_CHARS: usize = 12;

pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    pub fn new() -> Self {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder()
            .keep_trailing_newline(true)
            .build()
            .unwrap_or_default();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(syntax);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        // Configuration files and environments need `true`; Jinja writes `True`.
        environment.set_formatter(|out, state, value| match value.kind() {
            ValueKind::Bool => out
                .write_str(if value.is_true() { "true" } else { "false" })
                .map_err(Into::into),
            _ => minijinja::escape_formatter(out, state, value),
        });
        // `debug` prints the whole context, including secrets, without naming them.
        environment.remove_global("debug");
        environment.add_function(REFUSE, |why: String| -> Result<(), minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, why))
        });
        environment.add_function(DIGEST, |path: String| digest(&path));
        Self { environment }
    }

    /// Renders `source`. The error is one line, without the source.
    pub fn render(&self, source: &str, context: &impl Serialize) -> Result<String, String> {
        if is_plain(source) {
            return Ok(source.to_owned());
        }
        self.environment
            .render_str(source, Serde(context))
            .map_err(|error| describe(&error))
    }

    /// `value` with its strings rendered. A string that is a single expression becomes that expression's value. If the value is none, the
    /// key or the entry is left out. Without `secrets`, a string that uses a secret is left out as well.
    pub fn fill(
        &self,
        value: &Json,
        context: &impl Serialize,
        secrets: bool,
    ) -> Result<Json, String> {
        let fill = |entry: &Json| self.fill(entry, context, secrets);
        match value {
            Json::String(source) if !secrets && self.uses_secrets(source)? => Ok(Json::Null),
            Json::String(source) => match expression(source) {
                Some(expression) => self.worth(expression, context),
                None => Ok(Json::String(self.render(source, context)?)),
            },
            Json::Array(entries) => {
                let filled: Result<Vec<Json>, _> = entries.iter().map(fill).collect();
                Ok(filled?.into_iter().filter(|one| !one.is_null()).collect())
            }
            Json::Object(entries) => {
                let filled: Result<Vec<(String, Json)>, String> = entries
                    .iter()
                    .map(|(key, entry)| Ok((key.clone(), fill(entry)?)))
                    .collect();
                let given = filled?.into_iter().filter(|(_, one)| !one.is_null());
                Ok(Json::Object(given.collect()))
            }
            other => Ok(other.clone()),
        }
    }

    /// The value of an expression, null if the expression is none.
    fn worth(&self, expression: &str, context: &impl Serialize) -> Result<Json, String> {
        let value = self
            .environment
            .compile_expression(expression)
            .and_then(|compiled| compiled.eval(Serde(context)))
            .map_err(|error| describe(&error))?;
        if value.is_undefined() {
            return Err(format!("{expression} is undefined"));
        }
        serde_json::to_value(value).map_err(|error| error.to_string())
    }

    /// The outside names that `source` uses, such as `vars.http_port`.
    pub fn names(&self, source: &str) -> Result<HashSet<String>, String> {
        if is_plain(source) {
            return Ok(HashSet::new());
        }
        let template = self
            .environment
            .template_from_str(source)
            .map_err(|error| describe(&error))?;
        let mut names = template.undeclared_variables(true);
        names.remove(REFUSE);
        names.remove(DIGEST);
        Ok(names)
    }

    /// Whether `source` uses any secret, in any branch.
    pub fn uses_secrets(&self, source: &str) -> Result<bool, String> {
        // Most texts do not even have the words, so they need no parser.
        if !SECRET_NAMES.iter().any(|name| source.contains(name)) {
            return Ok(false);
        }
        Ok(self
            .names(source)?
            .iter()
            .filter_map(|name| name.split('.').next())
            .any(|first| SECRET_NAMES.contains(&first)))
    }
}

/// Whether `source` has no template's syntax: most texts of a testbed file, which need no parser.
fn is_plain(source: &str) -> bool {
    !source.contains('{')
}

/// The first digits of the SHA-256 of a file's content.
fn digest(path: &str) -> Result<String, minijinja::Error> {
    let hash = File::open(path).and_then(programs::hash);
    hash.map(|hash| hash[..DIGEST_CHARS].to_owned())
        .map_err(|error| {
            let why = format!("{path} cannot be read: {error}");
            minijinja::Error::new(ErrorKind::InvalidOperation, why)
        })
}

/// The text between the braces, if a string is a single `{{ … }}`.
fn expression(source: &str) -> Option<&str> {
    let inner = source.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{")).then_some(inner)
}

fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        // Messages of `refuse` and `digest` need no prefix.
        Some(detail) if error.kind() == ErrorKind::InvalidOperation => detail.to_owned(),
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_rendered_as_configuration_files_want_them() {
        let context = json!({"vars": {"on": true, "n": 5, "s": "a<b"}, "root": "/r"});
        let text = Templates::new()
            .render(
                "{{ root }} {{ vars.on }} {{ vars.n }} {{ vars.s }}\n",
                &context,
            )
            .unwrap();
        assert_eq!(text, "/r true 5 a<b\n");
    }

    #[test]
    fn parts_are_filled_with_values_and_lose_what_is_none() {
        let context = json!({"vars": {"n": 5, "on": false, "s": "a"}, "secrets": {"k": "hidden"}});
        let parts = json!({
            "port": "{{ vars.n }}",
            "address": "h:{{ vars.n }}",
            "two": "{{ vars.s }}{{ vars.s }}",
            "cover": "{{ {'type': {'a': 1}} if vars.on else none }}",
            "kept": ["{{ {'type': {'a': 1}} }}", "{{ none }}", 7, true, "{{ vars.on }}"],
            "key": "{{ secrets.k }}",
        });
        let mut filled = json!({
            "port": 5,
            "address": "h:5",
            "two": "aa",
            "kept": [{"type": {"a": 1}}, 7, true, false],
            "key": "hidden",
        });
        let templates = Templates::new();
        assert_eq!(templates.fill(&parts, &context, true).unwrap(), filled);
        filled.as_object_mut().unwrap().remove("key");
        assert_eq!(templates.fill(&parts, &context, false).unwrap(), filled);
        for wrong in ["{{ vars.nope }}", "{{ nope.n }}", "a{{ vars.nope }}"] {
            assert!(templates.fill(&json!([wrong]), &context, true).is_err());
        }
    }

    #[test]
    fn a_template_says_why_it_cannot_be_rendered() {
        let error = Templates::new().render("{{ refuse('no part') }}", &json!({}));
        assert_eq!(error.unwrap_err(), "no part");
    }

    #[test]
    fn files_are_told_apart_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let context = json!({"vars": {"path": path}});
        let rendered = Templates::new().render("{{ digest(vars.path) }}", &context);
        assert_eq!(rendered.unwrap(), "ba7816bf8f01");
        let missing = Templates::new().render("{{ digest('/no/such') }}", &json!({}));
        assert!(
            missing
                .unwrap_err()
                .starts_with("/no/such cannot be read: ")
        );
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = Templates::new().render("{{ vars.nope }}", &json!({"vars": {}}));
        assert!(error.is_err());
    }

    #[test]
    fn secrets_are_found_in_every_way_to_reach_them() {
        let templates = Templates::new();
        for source in [
            "{{ secrets.a }}",
            "{{ generated.a.b }}",
            "{% set g = generated %}{{ g }}",
            "{{ secrets['a'] }}",
            "{% set s = secrets %}{{ s.a }}",
            "{% for k in secrets %}{{ k }}{% endfor %}",
            "{% if false %}{{ secrets.a }}{% endif %}",
            "{% with s = secrets.a %}{{ s }}{% endwith %}",
            "{{ vars.a ~ secrets.b | upper }}",
            "{% macro m() %}{{ secrets.a }}{% endmacro %}{{ m() }}",
        ] {
            assert!(templates.uses_secrets(source).unwrap(), "{source}");
        }
        for source in [
            "{{ vars.secrets }}",
            "secrets.a",
            "{{ 'secrets.a' }}",
            "{{ vars.a }}",
        ] {
            assert!(!templates.uses_secrets(source).unwrap(), "{source}");
        }
    }

    #[test]
    fn the_context_cannot_be_dumped() {
        let context = json!({"secrets": {"a": "hidden"}});
        let text = Templates::new().render("{{ debug() }}", &context);
        assert!(text.is_err(), "{text:?}");
    }
}
