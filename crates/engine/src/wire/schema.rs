//! Schema of the frames in patch format; the types of clients in other languages are generated from
//! it.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::view::Page;

use super::patch::PatchPayload;

/// Payloads of the frames in patch format, by the name of the frame.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Frames<'a> {
    snapshot: SnapshotPayload<'a>,
    patch: PatchFrame<'a>,
}

/// Payload of a `snapshot` frame in protocol version 2.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct SnapshotPayload<'a> {
    /// The active run.
    #[schemars(extend("nullable" = true))]
    run: Option<Cow<'a, str>>,
    page: Page,
    protocol: u32,
}

/// Payload of a `patch` frame; a bare string is appended to the last item.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum PatchFrame<'a> {
    Append(Cow<'a, str>),
    Fields(Box<PatchPayload<'a>>),
}

/// Returns the JSON schema of the `snapshot` and `patch` frames.
pub fn patch_format_frames_schema() -> Schema {
    SchemaSettings::draft07()
        .with_transform(OmittedInsteadOfNull)
        .into_generator()
        .into_root_schema_for::<Frames<'static>>()
}

/// Tells omitted members from those that are `null`: a member marked `nullable` is always written,
/// and any other optional member is omitted and never `null`. Only `overlay` of a patch can be
/// omitted, `null` or an object.
#[derive(Clone)]
struct OmittedInsteadOfNull;

impl Transform for OmittedInsteadOfNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let mut required = match schema.remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        if let Some(Value::Object(members)) = schema.get_mut("properties") {
            let is_patch = members.contains_key("keep");
            for (name, member) in members {
                if is_patch && name == "overlay" {
                    continue;
                }
                if take_nullable_mark(member) {
                    required.push(json!(name));
                } else {
                    remove_null_type(member);
                }
            }
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
    }
}

/// Removes the mark `nullable` and returns true if it was there.
fn take_nullable_mark(member: &mut Value) -> bool {
    member.as_object_mut().is_some_and(|member| member.remove("nullable").is_some())
}

/// Removes `null` from `{"type": [.., "null"]}` and `{"anyOf": [.., {"type": "null"}]}`.
fn remove_null_type(member: &mut Value) {
    let Some(member) = member.as_object_mut() else { return };
    if let Some(Value::Array(types)) = member.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            member.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(schemas)) = member.get_mut("anyOf") {
        schemas.retain(|schema| schema.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = &schemas[..] {
            let only = only.clone();
            member.remove("anyOf");
            member.extend(only);
        }
    }
}
