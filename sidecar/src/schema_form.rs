//! Transforms of derived schemas: their forms in JSON, for the readers that we have.

use schemars::Schema;
use serde_json::{Value, json};

/// A reference alone keeps its name in TypeScript.
pub fn of_answers(schema: &mut Schema) {
    plain(schema);
    if schema.as_object().is_some_and(|fields| fields.len() > 1)
        && let Some(target) = schema.remove("$ref")
    {
        schema.insert("allOf".to_owned(), json!([{ "$ref": target }]));
    }
}

/// Formats of numbers and line breaks of comments say nothing here.
fn plain(schema: &mut Schema) {
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}

/// TOML has no null.
pub fn of_toml(schema: &mut Schema) {
    plain(schema);
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(forms)) = schema.get("anyOf")
        && let [Value::Object(form), null] = &forms[..]
        && *null == json!({"type": "null"})
    {
        let form = form.clone();
        schema.remove("anyOf");
        schema.ensure_object().extend(form);
    }
}

/// One schema of several types in place of `anyOf`, so that an error names one fault and not one for each form.
pub fn merged(schema: &mut Schema) {
    let Some(Value::Array(forms)) = schema.remove("anyOf") else {
        return;
    };
    let mut types = Vec::new();
    for mut form in forms {
        let form = form.as_object_mut().expect("a form is a schema");
        types.extend(form.remove("type"));
        schema.ensure_object().append(form);
    }
    schema.insert("type".to_owned(), types.into());
}
