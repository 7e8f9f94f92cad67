//! What a model is asked, in each protocol's own words, from the log of a conversation.

use std::fs;
use std::path::Path;

use agent::conversation::{Conversation, Turn};
use agent::model::{Key, Model, Thoughts, Wire};
use agent::request::{Asked, build};
use agent::tools::Builtin;
use engine::event::Record;
use serde_json::json;

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests")
}

fn turns(log: &Path) -> Vec<Turn> {
    let text = fs::read_to_string(log).unwrap();
    let mut conversation = Conversation::default();
    for line in text.lines() {
        conversation.hear(&serde_json::from_str::<Record<'_>>(line).unwrap());
    }
    conversation.turns()
}

fn model(wire: Wire) -> Model {
    Model {
        wire,
        base: "https://models.test/v1".to_owned(),
        name: "heron-2".to_owned(),
        key: Some(Key::new("not-in-any-golden")),
        max_tokens: 4096,
        thinking_tokens: Some(1024),
        thoughts: Thoughts::GiveBack,
        extra: json!({ "metadata": { "pond": 1 } }).as_object().unwrap().clone(),
    }
}

#[test]
fn every_conversation_gives_its_requests() {
    let tools = [Builtin::ReadFile.spec(), Builtin::RunCommand.spec()];
    let mut seen = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "events") {
            continue;
        }
        seen += 1;
        let turns = turns(&path);
        for wire in Wire::ALL {
            let asked = Asked { system: "Be brief.", turns: &turns, tools: &tools };
            let request = build(&model(wire), asked);
            let golden = path.with_extension(format!("{}.json", wire.as_str()));
            let given = json!({
                "url": request.url,
                "headers": request.headers,
                "body": request.body,
            });
            let given = format!("{given:#}\n");
            assert!(!given.contains("not-in-any-golden"));
            if std::env::var_os("UPDATE").is_some() {
                fs::write(&golden, &given).unwrap();
            }
            let expected = fs::read_to_string(&golden).unwrap_or_default();
            assert_eq!(given, expected, "{} (UPDATE=1 rewrites it)", golden.display());
        }
    }
    assert!(0 < seen);
}
