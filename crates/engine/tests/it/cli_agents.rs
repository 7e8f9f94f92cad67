//! What the output of CLI agents gets wrong in other readers: one test for each trap.

use engine::event::{AnsweredBy, Event, FailureReason, Level, Outcome, Reply, Stop, ToolOutcome};
use serde_json::json;

use crate::fixture::told;
use crate::support::{Kept, ingest_whole};

#[test]
fn codex_warnings_and_reconnects_do_not_end_the_run() {
    let kept = told("codex/warning-and-reconnect-are-not-fatal.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.notices(Level::Warning), ["Unknown model, using defaults."]);
    let retries: Vec<_> = kept
        .events()
        .filter_map(|event| match event {
            Event::RetryScheduled { attempt, attempts_max, .. } => Some((*attempt, *attempts_max)),
            _ => None,
        })
        .collect();
    assert_eq!(retries, [(Some(1), Some(5)), (Some(2), Some(5))]);
}

#[test]
fn codex_fails_when_its_turn_fails() {
    let kept = told("codex/turn-failed.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("stream lost"));
    assert_eq!(kept.visible(), "Looking at the sluice.");
}

#[test]
fn codex_fails_when_an_error_is_its_last_word() {
    let kept = told("codex/error-and-no-turn-end.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("the quota is used up"));
}

#[test]
fn codex_that_is_cut_off_is_truncated_and_its_command_has_no_result() {
    let kept = told("codex/cut-off.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(kept.outcomes(), [ToolOutcome::NoResult]);
}

#[test]
fn codex_output_that_is_repeated_as_it_grows_is_recorded_once() {
    let kept = told("codex/thinking-text-command.jsonl");
    assert_eq!(kept.outputs(), "level 42\n");
    assert_eq!(kept.reply(), "The level is **42**.");
}

#[test]
fn codex_text_that_changes_is_rewritten_and_output_that_changes_is_not_lost() {
    let kept = told("codex/message-grows-and-changes.jsonl");
    assert_eq!(kept.visible(), "The pond was full.Done.");
    assert_eq!(kept.outputs(), "line 1\nline 8\nline 9\n");
}

#[test]
fn codex_lines_split_by_a_bare_line_break_are_joined_again() {
    let kept = told("codex/line-break-inside-a-string.jsonl");
    assert_eq!(kept.visible(), "first line\nsecond line\nthird line");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn codex_turns_are_rounds_of_one_run() {
    let kept = told("codex/two-turns.jsonl");
    assert_eq!(kept.rounds(), 2);
    assert_eq!(kept.reply(), "Second answer.");
}

#[test]
fn codex_that_says_nothing_after_its_last_tool_has_no_reply() {
    let kept = told("codex/silent-after-the-last-result.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.ending().reply, Reply::None);
}

#[test]
fn codex_command_that_ends_after_the_reply_does_not_take_the_reply_away() {
    let kept = told("codex/late-result-after-the-reply.jsonl");
    assert_eq!(kept.reply(), "The watch is running.");
}

#[test]
fn codex_tools_that_fail_or_are_declined_say_so() {
    use ToolOutcome::{Denied, Failed, Succeeded};
    let kept = told("codex/every-kind-of-tool.jsonl");
    assert_eq!(
        kept.outcomes(),
        [Succeeded, Succeeded, Succeeded, Failed, Succeeded, Succeeded, Denied, Failed, Succeeded]
    );
}

#[test]
fn codex_app_server_declares_its_final_answer() {
    let kept = told("codex-app-server/commentary-then-final-answer.jsonl");
    assert_eq!(kept.reply(), "It is 42 deep.");
    assert_eq!(kept.visible(), "Reading the gauge.It is 42 deep.Closing the file.");
    assert_eq!(kept.reasoning(), "Ask the gauge.\n\nThen answer.");
    assert_eq!(kept.outputs(), "42\n");
}

#[test]
fn codex_app_server_times_are_the_sources_own() {
    let kept = told("codex-app-server/commentary-then-final-answer.jsonl");
    let prompt = kept.0.iter().find(|(_, event)| matches!(event, Event::PromptReceived { .. }));
    assert_eq!(prompt.and_then(|(at, _)| *at), Some(1_700_000_000_300));
}

fn answers(kept: &Kept) -> Vec<(&str, AnsweredBy)> {
    let answers = kept.events().filter_map(|event| match event {
        Event::AskResolved { answer, by, .. } => Some((answer.as_ref(), *by)),
        _ => None,
    });
    answers.collect()
}

#[test]
fn codex_app_server_approvals_are_asks_that_the_client_answers() {
    let kept = told("codex-app-server/approvals-of-both-sides.jsonl");
    let person = AnsweredBy::Person;
    assert_eq!(answers(&kept), [("accept", person), ("decline", person)]);
    assert_eq!(kept.outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Denied]);
}

#[test]
fn codex_app_server_items_tell_the_answer_that_was_not_recorded() {
    let kept = told("codex-app-server/approval-answer-not-recorded.jsonl");
    assert_eq!(answers(&kept), [("decline", AnsweredBy::Person), ("", AnsweredBy::Nobody)]);
    assert_eq!(kept.ending().outcome, Outcome::Cancelled);
}

#[test]
fn codex_app_server_retry_takes_back_half_a_message() {
    let kept = told("codex-app-server/retry-takes-back-half-a-message.jsonl");
    assert_eq!(kept.visible(), "The ducks are seven.");
    assert_eq!(kept.reply(), "The ducks are seven.");
}

#[test]
fn codex_app_server_sub_agents_speak_in_the_tool_that_waits_for_them() {
    let kept = told("codex-app-server/sub-agent-speaks-in-its-tool.jsonl");
    assert_eq!(kept.visible(), "The heron is back.");
    assert_eq!(kept.outputs(), "Reeds here.tall\n");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn codex_app_server_limits_requests_and_cuts_end_honestly() {
    let limited = told("codex-app-server/turn-failed.jsonl");
    assert_eq!(limited.ending().reason, Some(FailureReason::Limit));
    assert_eq!(told("codex-app-server/request-refused.jsonl").ending().outcome, Outcome::Failed);
    assert_eq!(told("codex-app-server/cut-off.jsonl").ending().outcome, Outcome::Truncated);
}

#[test]
fn codex_app_server_items_without_deltas_are_shown_whole() {
    let kept = told("codex-app-server/whole-items-and-every-kind-of-tool.jsonl");
    assert_eq!(kept.reply(), "Done with all.");
    assert_eq!(kept.reasoning(), "Plan first.\n\nThen act.");
}

#[test]
fn gemini_cli_reply_is_what_came_after_the_last_tool() {
    let kept = told("gemini-cli/text-tool-text.jsonl");
    assert_eq!(kept.reply(), "There are **three**.");
    assert_eq!(kept.outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Denied]);
    assert_eq!(kept.0.get(1).and_then(|(at, _)| *at), Some(1_772_359_201_500));
    let silent = told("gemini-cli/silent-after-the-last-result.jsonl");
    assert_eq!(silent.ending().reply, Reply::None);
}

#[test]
fn gemini_cli_fails_after_half_the_text_and_keeps_it() {
    let kept = told("gemini-cli/error-after-half-the-text.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.reply(), "There are thr");
    assert_eq!(kept.notices(Level::Warning), ["Loop detected"]);
    assert_eq!(kept.notices(Level::Error), ["stream ended early"]);
}

#[test]
fn gemini_cli_limits_and_cuts_end_honestly() {
    assert_eq!(told("gemini-cli/turn-limit.jsonl").ending().reason, Some(FailureReason::Limit));
    assert_eq!(told("gemini-cli/cut-off.jsonl").ending().outcome, Outcome::Truncated);
}

#[test]
fn copilot_repeats_are_shown_once_and_reasoning_stays_before_the_message() {
    for fixture in ["message-before-reasoning-and-repeated-output", "whole-messages-only"] {
        let kept = told(&format!("copilot/{fixture}.jsonl"));
        assert_eq!(kept.reasoning(), "Check it.", "{fixture}");
        let first = |wanted: fn(&Event<'_>) -> bool| kept.events().position(wanted).unwrap();
        let thought = first(|event| matches!(event, Event::ReasoningStarted { .. }));
        let spoke = first(|event| matches!(event, Event::MessageStarted { .. }));
        assert!(thought < spoke, "{fixture}");
    }
    let kept = told("copilot/message-before-reasoning-and-repeated-output.jsonl");
    assert_eq!(kept.visible(), "I will check.It is **open**.");
    assert_eq!(kept.outputs(), "open\n<exit 0>");
}

#[test]
fn copilot_shows_what_the_person_wrote_not_what_it_made_of_it() {
    let kept = told("copilot/message-before-reasoning-and-repeated-output.jsonl");
    assert_eq!(kept.prompts(), ["Is the gate open?"]);
}

#[test]
fn copilot_sub_agents_speak_in_the_tool_that_started_them() {
    let kept = told("copilot/sub-agent-speaks-in-its-tool.jsonl");
    assert_eq!(kept.visible(), "There are nine.");
    assert_eq!(kept.outputs(), "Nine reeds.9");
}

#[test]
fn copilot_errors_denials_and_cuts_end_honestly() {
    let failed = told("copilot/session-error.jsonl");
    assert_eq!(failed.ending().detail.as_deref(), Some("no quota left"));
    assert_eq!(failed.reply(), "I wil");
    let denied = told("copilot/permission-denied.jsonl");
    assert_eq!(denied.outcomes(), [ToolOutcome::Denied]);
    assert_eq!(denied.ending().outcome, Outcome::Cancelled);
    let cut = told("copilot/cut-off.jsonl");
    assert_eq!(cut.ending().outcome, Outcome::Truncated);
    assert_eq!(cut.outcomes(), [ToolOutcome::Cut]);
}

#[test]
fn pi_deltas_count_and_partials_that_run_ahead_do_not() {
    let kept = told("pi/partial-runs-ahead-of-delta.jsonl");
    assert_eq!(kept.visible(), "I look.Two ducks.");
    assert_eq!(kept.reasoning(), "Look first.");
    assert_eq!(kept.outputs(), "one\ntwo\n");
}

#[test]
fn pi_compaction_after_the_end_does_not_open_the_run_again() {
    let kept = told("pi/partial-runs-ahead-of-delta.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.reply(), "Two ducks.");
    assert!(kept.events().any(|event| matches!(event, Event::HistoryCompacted { .. })));
}

#[test]
fn pi_whole_messages_and_late_names_give_the_same_tools() {
    for fixture in ["whole-messages-only", "call-named-late"] {
        let kept = told(&format!("pi/{fixture}.jsonl"));
        assert_eq!(kept.tools().len(), 1, "{fixture}");
        assert_eq!(kept.reply(), "Two ducks.", "{fixture}");
    }
}

#[test]
fn pi_retry_takes_back_half_a_message() {
    let kept = told("pi/retry-takes-back-half-a-message.jsonl");
    assert_eq!(kept.visible(), "Two ducks.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn pi_errors_aborts_limits_and_cuts_end_honestly() {
    let outcome = |fixture: &str| told(fixture).ending().outcome;
    assert_eq!(outcome("pi/error.jsonl"), Outcome::Failed);
    assert_eq!(outcome("pi/aborted.jsonl"), Outcome::Cancelled);
    assert_eq!(outcome("pi/cut-off.jsonl"), Outcome::Truncated);
    assert!(told("pi/cut-by-length.jsonl").ending().incomplete);
}

#[test]
fn copilot_what_a_sub_agent_asks_is_asked() {
    let kept = told("copilot/sub-agent-asks.jsonl");
    assert_eq!(kept.count(|event| matches!(event, Event::AskOpened { .. })), 2);
    assert_eq!(kept.count(|event| matches!(event, Event::AskResolved { .. })), 2);
    assert_eq!(kept.unrecognised(), 1);
}

#[test]
fn copilot_a_message_that_is_sent_twice_is_shown_once_and_nothing_is_dropped() {
    let kept = told("copilot/message-sent-twice.jsonl");
    assert_eq!(kept.visible(), "Five ducks.");
    assert_eq!(kept.reasoning(), "Count first.");
    assert_eq!(kept.unrecognised(), 2);
}

#[test]
fn pi_an_agent_that_ends_inside_a_message_is_truncated() {
    let kept = told("pi/ended-inside-a-message.jsonl");
    kept.truncated();
    assert_eq!(kept.visible(), "Five du");
    assert_eq!(kept.unrecognised(), 1);
}

#[test]
fn pi_is_known_by_a_message_that_is_not_a_providers() {
    told("pi/joined-after-the-prompt.jsonl").completed(Stop::End);
}

#[test]
fn copilot_messages_that_take_turns_or_were_joined_late_are_whole() {
    let line = |kind: &str, data: serde_json::Value| {
        let at = "2026-03-01T11:00:00.000Z";
        format!("{}\n", json!({"type": kind, "data": data, "id": "e", "timestamp": at}))
    };
    let delta = |id: &str, text: &str| {
        line("assistant.message_delta", json!({"messageId": id, "deltaContent": text}))
    };
    let whole =
        |id: &str, text: &str| line("assistant.message", json!({"messageId": id, "content": text}));
    let stream = [
        delta("a", "of the "),
        delta("b", "And "),
        delta("a", "eel."),
        whole("a", "Tail of the eel."),
        delta("b", "more."),
        whole("b", "And more."),
    ];
    let kept = ingest_whole(stream.concat().as_bytes());
    assert_eq!(kept.visible(), "Tail of the eel.And more.");
    assert_eq!(kept.notices(Level::Warning).len(), 1);
}

#[test]
fn pi_tells_a_prompt_once_whether_or_not_its_beginning_was_seen() {
    assert_eq!(told("pi/joined-after-the-prompt.jsonl").prompts(), ["Ducks?"]);
    let lines = ["message_start", "message_end"].map(|kind| {
        let message = json!({"role": "user", "content": [{"type": "text", "text": "Geese?"}]});
        format!("{}\n", json!({"type": kind, "message": message}))
    });
    assert_eq!(ingest_whole(lines.concat().as_bytes()).prompts(), ["Geese?"]);
}
