//! Several replies of one run, for whoever calls the model and runs its tools.

use engine::event::{Event, FailureReason, MessageId, Outcome, StepId, Stop, ToolOutcome};
use engine::ingest::{DialectName, Ingest, Options};
use engine::run::{Cut, RunOptions, Seals, Verdict};

use crate::support::{Kept, fixtures_dir};

fn ingest(from: DialectName) -> Ingest {
    let run = RunOptions { seals: Seals::Keep, ..RunOptions::default() };
    Ingest::new(&Options { from: Some(from), run })
}

const CALL: &str = r#"data: {"id":"r1","choices":[{"delta":{"content":"I look.","tool_calls":[{"index":0,"id":"c1","function":{"name":"depth","arguments":"{}"}}]}}]}

data: {"id":"r1","choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
const ANSWER: &str = r#"data: {"id":"r2","choices":[{"delta":{"content":"Three metres."},"finish_reason":"stop"}]}

data: [DONE]

"#;
const HALF: &str = r#"data: {"id":"r2","choices":[{"delta":{"content":"Three me"}}]}

"#;

fn call_and_result(ingest: &mut Ingest, kept: &mut Kept) {
    ingest.push(CALL.as_bytes(), None, kept);
    assert_eq!(ingest.end_reply(None, kept), Verdict::Completed(Stop::Tools));
    let mut out = ingest.writer(None, kept);
    let step = out.step_of("c1").unwrap();
    out.output(step, "3 m");
    out.end_tool(step, ToolOutcome::Succeeded, None);
}

#[test]
fn replies_and_what_their_tools_gave_are_one_run() {
    let (mut ingest, mut kept) = (ingest(DialectName::OpenAiChat), Kept::default());
    call_and_result(&mut ingest, &mut kept);
    ingest.push(ANSWER.as_bytes(), None, &mut kept);
    assert_eq!(ingest.end_reply(None, &mut kept), Verdict::Completed(Stop::End));
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    assert_eq!(kept.visible(), "I look.Three metres.");
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
    let (mut ingest, mut kept) = (ingest(DialectName::OpenAiChat), Kept::default());
    call_and_result(&mut ingest, &mut kept);
    ingest.push(HALF.as_bytes(), None, &mut kept);
    assert_eq!(ingest.end_reply(None, &mut kept), Verdict::Pending);
    let mut again = (ingest.clone(), kept.clone());
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    let broke = |kept: &Kept| {
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
    again.0.finish(Cut::EndOfInput, None, &mut again.1);
    assert_eq!(again.1.ending().outcome, Outcome::Completed);
    assert_eq!(broke(&again.1), [false, false, true, true, false, false]);
}

#[test]
fn a_reply_that_failed_is_the_runs_failure_unless_another_follows() {
    let error = "data: {\"error\":{\"message\":\"too busy\",\"type\":\"overloaded\"}}\n\n";
    let (mut ingest, mut kept) = (ingest(DialectName::OpenAiChat), Kept::default());
    ingest.push(error.as_bytes(), None, &mut kept);
    assert!(matches!(ingest.end_reply(None, &mut kept), Verdict::Failed { .. }));
    let mut again = (ingest.clone(), kept.clone());
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    assert_eq!(kept.ending().reason, Some(FailureReason::Error));

    again.0.push(ANSWER.as_bytes(), None, &mut again.1);
    again.0.end_reply(None, &mut again.1);
    again.0.finish(Cut::EndOfInput, None, &mut again.1);
    assert_eq!(again.1.ending().outcome, Outcome::Completed);
}

fn seals(dialect: DialectName, fixture: &str) -> Vec<(StepId, String)> {
    let bytes = std::fs::read(fixtures_dir().join(fixture)).unwrap();
    let (mut ingest, mut kept) = (ingest(dialect), Kept::default());
    ingest.push(&bytes, None, &mut kept);
    ingest.finish(Cut::EndOfInput, None, &mut kept);
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
        let seals = seals(dialect, fixture);
        assert_eq!(seals.len(), 1, "{fixture}: {seals:?}");
        let seal: serde_json::Value = serde_json::from_str(&seals[0].1).unwrap();
        assert!(seal[member].is_string(), "{fixture}: {seal}");
    }
}
