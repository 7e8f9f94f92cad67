//! Golden requests of each API, built from the log of a conversation.

use std::fs;
use std::path::Path;

use millpond_agent::conversation::{Conversation, Turn};
use millpond_agent::model::{ApiKey, Model, ModelApi, ThoughtReplay};
use millpond_agent::request::{ModelInput, build_request};
use millpond_agent::tools::BuiltinTool;
use millpond_engine::event::Record;
use serde_json::json;

fn fixtures_folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests")
}

fn turns_from_log(log: &Path) -> Vec<Turn> {
    let text = fs::read_to_string(log).unwrap();
    let mut conversation = Conversation::default();
    for line in text.lines() {
        conversation.apply(&serde_json::from_str::<Record<'_>>(line).unwrap());
    }
    conversation.build_sendable_turns()
}

fn sample_model(wire: ModelApi) -> Model {
    Model {
        api: wire,
        base_url: "https://models.test/v1".to_owned(),
        name: "heron-2".to_owned(),
        key: Some(ApiKey::new("not-in-any-golden")),
        max_tokens: 4096,
        thinking_tokens: Some(1024),
        thought_replay: ThoughtReplay::Resend,
        extra_params: json!({ "metadata": { "pond": 1 } }).as_object().unwrap().clone(),
    }
}

#[test]
fn every_conversation_gives_its_requests() {
    let tools = [BuiltinTool::ReadFile.tool_spec(), BuiltinTool::RunCommand.tool_spec()];
    let mut file_count = 0;
    for entry in fs::read_dir(fixtures_folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "events") {
            continue;
        }
        file_count += 1;
        let turns = turns_from_log(&path);
        for wire in ModelApi::ALL {
            let input = ModelInput { system_prompt: "Be brief.", turns: &turns, tools: &tools };
            let request = build_request(&sample_model(wire), input);
            let golden = path.with_extension(format!("{}.json", wire.as_str()));
            let actual = json!({
                "url": request.url,
                "headers": request.headers,
                "body": request.body,
            });
            let actual = format!("{actual:#}\n");
            assert!(!actual.contains("not-in-any-golden"));
            if std::env::var_os("UPDATE").is_some() {
                fs::write(&golden, &actual).unwrap();
            }
            let expected = fs::read_to_string(&golden).unwrap_or_default();
            assert_eq!(actual, expected, "{} (UPDATE=1 rewrites it)", golden.display());
        }
    }
    assert!(0 < file_count);
}
