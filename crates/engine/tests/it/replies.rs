//! Several replies in one run, for callers that run the model and tool loop themselves.

use millpond_engine::event::{
    Event, FailureReason, MessageId, Outcome, StepId, StopReason, ToolOutcome,
};
use millpond_engine::ingest::{DialectName, Ingest, IngestOptions};
use millpond_engine::run::{InputEnd, ReportedEnd, RunOptions, SealPolicy};

use crate::support::{RecordedEvents, fixtures_dir};

fn ingest_for(from: DialectName) -> Ingest {
    let run = RunOptions { seal_policy: SealPolicy::Keep, ..RunOptions::default() };
    Ingest::new(&IngestOptions { dialect: Some(from), run })
}

const CALL: &str = r#"data: {"id":"r1","choices":[{"delta":{"content":"I look.","tool_calls":[{"index":0,"id":"c1","function":{"name":"depth","arguments":"{}"}}]}}]}

data: {"id":"r1","choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
const ANSWER: &str = r#"data: {"id":"r2","choices":[{"delta":{"content":"Three metres."},"finish_reason":"stop"}]}

data: [DONE]

"#;
const HALF_ANSWER: &str = r#"data: {"id":"r2","choices":[{"delta":{"content":"Three me"}}]}

"#;

fn push_call_and_result(ingest: &mut Ingest, kept: &mut RecordedEvents) {
    ingest.push(CALL.as_bytes(), None, kept);
    assert_eq!(ingest.end_reply(None, kept), ReportedEnd::Completed(StopReason::Tools));
    let mut out = ingest.writer(None, kept);
    let step = out.find_open_tool("c1").unwrap();
    out.append_output_if_open(step, "3 m");
    out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
}

#[test]
fn replies_and_what_their_tools_gave_are_one_run() {
    let (mut ingest, mut kept) = (ingest_for(DialectName::OpenAiChat), RecordedEvents::default());
    push_call_and_result(&mut ingest, &mut kept);
    ingest.push(ANSWER.as_bytes(), None, &mut kept);
    assert_eq!(ingest.end_reply(None, &mut kept), ReportedEnd::Completed(StopReason::End));
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    assert_eq!(kept.visible_text(), "I look.Three metres.");
    assert_eq!(
        (kept.ending().outcome, kept.ending().message),
        (Outcome::Completed, Some(MessageId(1)))
    );
    let rounds = kept.events().filter(|event| matches!(event, Event::RoundStarted { .. })).count();
    let ended = kept.events().filter(|event| matches!(event, Event::ToolEnded { .. })).count();
    assert_eq!((rounds, ended), (2, 1));
}

#[test]
fn a_reply_that_broke_off_says_so_and_may_be_followed() {
    let (mut ingest, mut kept) = (ingest_for(DialectName::OpenAiChat), RecordedEvents::default());
    push_call_and_result(&mut ingest, &mut kept);
    ingest.push(HALF_ANSWER.as_bytes(), None, &mut kept);
    assert_eq!(ingest.end_reply(None, &mut kept), ReportedEnd::Pending);
    let mut again = (ingest.clone(), kept.clone());
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    let broke = |kept: &RecordedEvents| {
        let marks = kept.events().filter_map(|event| match event {
            Event::MessageEnded { incomplete, .. } | Event::RoundEnded { incomplete, .. } => {
                Some(*incomplete)
            }
            _ => None,
        });
        marks.collect::<Vec<_>>()
    };
    assert_eq!(broke(&kept), [false, false, true, true]);

    again.0.push(ANSWER.as_bytes(), None, &mut again.1);
    again.0.end_reply(None, &mut again.1);
    again.0.finish(InputEnd::EndOfInput, None, &mut again.1);
    assert_eq!(again.1.ending().outcome, Outcome::Completed);
    assert_eq!(broke(&again.1), [false, false, true, true, false, false]);
}

#[test]
fn a_reply_that_failed_is_the_runs_failure_unless_another_follows() {
    let error = "data: {\"error\":{\"message\":\"too busy\",\"type\":\"overloaded\"}}\n\n";
    let (mut ingest, mut kept) = (ingest_for(DialectName::OpenAiChat), RecordedEvents::default());
    ingest.push(error.as_bytes(), None, &mut kept);
    assert!(matches!(ingest.end_reply(None, &mut kept), ReportedEnd::Failed { .. }));
    let mut again = (ingest.clone(), kept.clone());
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    assert_eq!(kept.ending().reason, Some(FailureReason::Error));

    again.0.push(ANSWER.as_bytes(), None, &mut again.1);
    again.0.end_reply(None, &mut again.1);
    again.0.finish(InputEnd::EndOfInput, None, &mut again.1);
    assert_eq!(again.1.ending().outcome, Outcome::Completed);
}

fn step_seals(dialect: DialectName, fixture: &str) -> Vec<(StepId, String)> {
    let bytes = std::fs::read(fixtures_dir().join(fixture)).unwrap();
    let (mut ingest, mut kept) = (ingest_for(dialect), RecordedEvents::default());
    ingest.push(&bytes, None, &mut kept);
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    let seals = kept.events().filter_map(|event| match event {
        Event::StepSealed { step, seal } => Some((*step, seal.to_string())),
        _ => None,
    });
    seals.collect()
}

#[test]
fn seals_are_kept_for_whoever_goes_on() {
    for (dialect, fixture, member) in [
        (DialectName::Anthropic, "anthropic/thinking-text-tool.sse", "signature"),
        (DialectName::Anthropic, "anthropic/redacted-thinking-and-compaction.sse", "data"),
        (
            DialectName::OpenAiResponses,
            "openai-responses/thinking-text-tool.sse",
            "encrypted_content",
        ),
        (DialectName::Gemini, "gemini/thinking-text-tool-then-reply.sse", "thoughtSignature"),
    ] {
        let seals = step_seals(dialect, fixture);
        assert_eq!(seals.len(), 1, "{fixture}: {seals:?}");
        let seal: serde_json::Value = serde_json::from_str(&seals[0].1).unwrap();
        assert!(seal[member].is_string(), "{fixture}: {seal}");
    }
}
