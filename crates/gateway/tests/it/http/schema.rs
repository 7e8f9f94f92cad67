//! Holds JSON against as much of JSON Schema as the description of the API uses; a keyword that is
//! not known here fails, so that none is passed over.

use serde_json::Value;

/// What is wrong with `value`, in words.
pub(super) fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(document, schema, value, "$", &mut faults);
    faults
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().unwrap() {
        let holds = match &**keyword {
            "description" | "default" => true,
            "$ref" => {
                let name = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                check(document, document.pointer(name).expect(name), value, at, faults);
                true
            }
            "type" => has_type(value, wanted.as_str().unwrap()),
            "enum" => wanted.as_array().unwrap().contains(value),
            "anyOf" => {
                let mut any = wanted.as_array().unwrap().iter();
                any.any(|schema| self::faults(document, schema, value).is_empty())
            }
            "minimum" => value.as_u64().is_some_and(|number| wanted.as_u64().unwrap() <= number),
            "pattern" => value.as_str().is_some_and(|text| fits(text, wanted.as_str().unwrap())),
            "required" => {
                let names = wanted.as_array().unwrap().iter();
                names.map(|name| name.as_str().unwrap()).all(|name| value.get(name).is_some())
            }
            "properties" => {
                for (name, schema) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(document, schema, value, &format!("{at}.{name}"), faults);
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(wanted, false);
                let known = schema["properties"].as_object().unwrap();
                value.as_object().is_some_and(|all| all.keys().all(|name| known.contains_key(name)))
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(document, wanted, item, &format!("{at}[{index}]"), faults);
                }
                true
            }
            other => panic!("nobody here knows the keyword {other}"),
        };
        if !holds {
            faults.push(format!("{at}: {keyword} {wanted} does not hold for {value}"));
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
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

/// The patterns of the document, each by hand.
fn fits(text: &str, pattern: &str) -> bool {
    let all = |len: Option<usize>, is: &dyn Fn(char) -> bool| {
        len.is_none_or(|len| text.len() == len) && !text.is_empty() && text.chars().all(is)
    };
    match pattern {
        "^[0-9A-HJKMNP-TV-Z]{26}$" => {
            all(Some(26), &|c| c.is_ascii_digit() || c.is_ascii_uppercase() && !"ILOU".contains(c))
        }
        "^[0-9a-f]{64}$" => all(Some(64), &|c| matches!(c, '0'..='9' | 'a'..='f')),
        "^[a-z_]+$" => all(None, &|c| c == '_' || c.is_ascii_lowercase()),
        "^/login\\?code=" => text.starts_with("/login?code="),
        other => panic!("nobody here knows the pattern {other}"),
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
    for (value, good) in [
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
        assert_eq!(faults(&document, &schema, &value).is_empty(), good, "{value}");
    }
}
