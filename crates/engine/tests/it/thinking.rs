//! Thinking tags as another project's tests expect them, in a whole stream.

use millpond_engine::ingest::{Ingest, IngestOptions};
use serde_json::{Value, json};

use crate::corpus::find_corpus;
use crate::support::RecordedEvents;

/// Cases in which ours is right, and why.
const OURS_IS_RIGHT: &[(&str, &str)] = &[(
    "content before a thinking tag nerfs the thinking tag",
    "a tag in the middle of a reply would be shown with all the thinking in it; SPEC X4 hides it",
)];

#[test]
fn ollamas_thinking_cases_agree_step_by_step() {
    let Some(corpus) = find_corpus("ollama's thinking cases") else { return };
    let text = std::fs::read_to_string(corpus.join("thinking/ollama-thinking.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let mut differ = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        let name = case["desc"].as_str().unwrap();
        let mut ingest = Ingest::new(&IngestOptions::default());
        let mut kept = RecordedEvents::default();
        let (mut content, mut thought) = (String::new(), String::new());
        for step in case["steps"].as_array().unwrap() {
            let delta = json!({"choices": [{"index": 0, "delta": {"content": step["input"]}}]});
            ingest.push(format!("data: {delta}\n\n").as_bytes(), None, &mut kept);
            content.push_str(step["content"].as_str().unwrap());
            thought.push_str(step["thinking"].as_str().unwrap());
            if (kept.visible_text(), kept.reasoning_text()) != (content.clone(), thought.clone()) {
                differ.push(name);
                break;
            }
        }
    }
    let listed: Vec<&str> = OURS_IS_RIGHT.iter().map(|&(name, _)| name).collect();
    assert!(listed.len() <= 3);
    assert_eq!(differ, listed);
}
