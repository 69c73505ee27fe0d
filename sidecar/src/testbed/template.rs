//! Templates of testbed files: minijinja, every name must exist.

use std::collections::HashSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

/// The names that a template may use.
pub const NAMES: [&str; 9] = [
    "root",
    "dir",
    "work",
    "vars",
    "names",
    "secrets",
    "generated",
    "namespaces",
    "hop",
];

/// Those of them whose values are secrets.
pub const SECRET_NAMES: [&str; 2] = ["secrets", "generated"];

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
        // Configuration files and environments want `true`, Jinja writes `True`.
        environment.set_formatter(|out, state, value| match value.kind() {
            ValueKind::Bool => out
                .write_str(if value.is_true() { "true" } else { "false" })
                .map_err(Into::into),
            _ => minijinja::escape_formatter(out, state, value),
        });
        // It prints the whole context, secrets included, without naming them.
        environment.remove_global("debug");
        Self { environment }
    }

    /// Renders `source`. The error is one line, without the source.
    pub fn render(&self, source: &str, context: &impl Serialize) -> Result<String, String> {
        self.environment
            .render_str(source, Serde(context))
            .map_err(|error| describe(&error))
    }

    /// The outside names that `source` uses, such as `vars.http_port`.
    pub fn names(&self, source: &str) -> Result<HashSet<String>, String> {
        let template = self
            .environment
            .template_from_str(source)
            .map_err(|error| describe(&error))?;
        Ok(template.undeclared_variables(true))
    }

    /// Whether `source` uses any secret, in any branch.
    pub fn uses_secrets(&self, source: &str) -> Result<bool, String> {
        Ok(self
            .names(source)?
            .iter()
            .filter_map(|name| name.split('.').next())
            .any(|first| SECRET_NAMES.contains(&first)))
    }
}

fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
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
