//! Thinking tags in a whole stream, step by step: the cases of the project, and those of another
//! project if the corpus is there.

use millpond_engine::ingest::{Ingest, IngestOptions};
use serde_json::{Value, json};

use crate::support::RecordedEvents;
use crate::texts::{elements, read_corpus, read_own, text_field};

/// Cases of the corpus in which ours is right, and why.
const OURS_IS_RIGHT: &[(&str, &str)] = &[(
    "content before a thinking tag nerfs the thinking tag",
    "a tag in the middle of a reply would be shown with all the thinking in it; SPEC X4 hides it",
)];

/// The first step after which visible text and thinking are not what the case says.
fn first_difference(case: &Value) -> Option<String> {
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut kept = RecordedEvents::default();
    let (mut content, mut thought) = (String::new(), String::new());
    for step in elements(&case["steps"]) {
        let delta = json!({"choices": [{"index": 0, "delta": {"content": step["input"]}}]});
        ingest.push(format!("data: {delta}\n\n").as_bytes(), None, &mut kept);
        content.push_str(text_field(step, "content"));
        thought.push_str(text_field(step, "thinking"));
        let shown = (kept.visible_text(), kept.reasoning_text());
        if shown != (content.clone(), thought.clone()) {
            return Some(format!("after {step}: {shown:?}, not {:?}", (content, thought)));
        }
    }
    None
}

#[test]
fn thinking_tags_are_read_step_by_step() {
    let own = read_own("thinking.json");
    assert!(40 <= elements(&own).len(), "only {} cases", elements(&own).len());
    let wrong: Vec<String> = elements(&own)
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case["name"], first_difference(case)?)))
        .collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));

    let Some(corpus) = read_corpus("thinking/ollama-thinking.json") else { return };
    let cases = elements(&corpus["cases"]).iter();
    let differ = cases.filter(|case| first_difference(case).is_some());
    let differ: Vec<&str> = differ.map(|case| text_field(case, "desc")).collect();
    let listed: Vec<&str> = OURS_IS_RIGHT.iter().map(|&(name, _)| name).collect();
    assert_eq!(differ, listed);
}
