//! Validates JSON against the subset of JSON Schema that the document uses; an unknown keyword
//! fails.

use serde_json::Value;

/// Errors of `value`, in words.
pub(super) fn schema_errors(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    collect_schema_errors(document, schema, value, "$", &mut faults);
    faults
}

#[allow(clippy::too_many_lines, reason = "one block per keyword of the schema")]
fn collect_schema_errors(
    document: &Value,
    schema: &Value,
    value: &Value,
    path: &str,
    faults: &mut Vec<String>,
) {
    for (keyword, expected) in schema.as_object().unwrap() {
        let is_valid = match &**keyword {
            "description" | "default" => true,
            "$ref" => {
                let name = expected.as_str().unwrap().strip_prefix('#').unwrap();
                collect_schema_errors(
                    document,
                    document.pointer(name).expect(name),
                    value,
                    path,
                    faults,
                );
                true
            }
            "type" => is_of_type(value, expected.as_str().unwrap()),
            "enum" => expected.as_array().unwrap().contains(value),
            "anyOf" => {
                let mut alternatives = expected.as_array().unwrap().iter();
                alternatives.any(|schema| schema_errors(document, schema, value).is_empty())
            }
            "minimum" => value.as_u64().is_some_and(|number| expected.as_u64().unwrap() <= number),
            "pattern" => {
                value.as_str().is_some_and(|text| matches_pattern(text, expected.as_str().unwrap()))
            }
            "required" => {
                let names = expected.as_array().unwrap().iter();
                names.map(|name| name.as_str().unwrap()).all(|name| value.get(name).is_some())
            }
            "properties" => {
                for (name, schema) in expected.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        collect_schema_errors(
                            document,
                            schema,
                            value,
                            &format!("{path}.{name}"),
                            faults,
                        );
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(expected, false);
                let properties = schema["properties"].as_object().unwrap();
                value
                    .as_object()
                    .is_some_and(|object| object.keys().all(|name| properties.contains_key(name)))
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    collect_schema_errors(
                        document,
                        expected,
                        item,
                        &format!("{path}[{index}]"),
                        faults,
                    );
                }
                true
            }
            other => panic!("unsupported keyword {other}"),
        };
        if !is_valid {
            faults.push(format!("{path}: {keyword} {expected} does not hold for {value}"));
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("no type is called {other}"),
    }
}

/// Matches the patterns of the document, each by hand.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    let all_chars = |len: Option<usize>, is: &dyn Fn(char) -> bool| {
        len.is_none_or(|len| text.len() == len) && !text.is_empty() && text.chars().all(is)
    };
    match pattern {
        "^[0-9A-HJKMNP-TV-Z]{26}$" => all_chars(Some(26), &|c| {
            c.is_ascii_digit() || c.is_ascii_uppercase() && !"ILOU".contains(c)
        }),
        "^[0-9a-f]{64}$" => all_chars(Some(64), &|c| matches!(c, '0'..='9' | 'a'..='f')),
        "^[a-z_]+$" => all_chars(None, &|c| c == '_' || c.is_ascii_lowercase()),
        "^/login\\?code=" => text.starts_with("/login?code="),
        other => panic!("unsupported pattern {other}"),
    }
}

#[test]
fn what_does_not_fit_is_found() {
    let document: Value = serde_json::json!({ "components": { "schemas": { "Id": {
        "type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$"
    } } } });
    let schema: Value = serde_json::json!({
        "type": "object",
        "properties": {
            "id": { "$ref": "#/components/schemas/Id" },
            "all": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
            "run": { "anyOf": [{ "$ref": "#/components/schemas/Id" }, { "type": "null" }] }
        },
        "required": ["id"],
        "additionalProperties": false
    });
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (value, is_valid) in [
        (serde_json::json!({ "id": id }), true),
        (serde_json::json!({ "id": id, "all": [1, 2], "run": null }), true),
        (serde_json::json!({ "id": id, "run": id }), true),
        (serde_json::json!({}), false),
        (serde_json::json!({ "id": "a" }), false),
        (serde_json::json!({ "id": id, "other": 1 }), false),
        (serde_json::json!({ "id": id, "all": [-1] }), false),
        (serde_json::json!({ "id": id, "all": ["1"] }), false),
        (serde_json::json!({ "id": id, "run": 7 }), false),
        (serde_json::json!([]), false),
    ] {
        assert_eq!(schema_errors(&document, &schema, &value).is_empty(), is_valid, "{value}");
    }
}
