//! CLI agent output that other readers get wrong: one test per trap.

use millpond_engine::event::{
    AnsweredBy, Event, FailureReason, NoticeLevel, Outcome, Reply, StopReason, ToolOutcome,
};
use serde_json::json;

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};

#[test]
fn codex_warnings_and_reconnects_do_not_end_the_run() {
    let kept = ingest_fixture("codex/warning-and-reconnect-are-not-fatal.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.notice_texts(NoticeLevel::Warning), ["Unknown model, using defaults."]);
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
    let kept = ingest_fixture("codex/turn-failed.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("stream lost"));
    assert_eq!(kept.visible_text(), "Looking at the sluice.");
}

#[test]
fn codex_fails_when_an_error_is_its_last_word() {
    let kept = ingest_fixture("codex/error-and-no-turn-end.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("the quota is used up"));
}

#[test]
fn codex_that_is_cut_off_is_truncated_and_its_command_has_no_result() {
    let kept = ingest_fixture("codex/cut-off.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::NoResult]);
}

#[test]
fn codex_output_that_is_repeated_as_it_grows_is_recorded_once() {
    let kept = ingest_fixture("codex/thinking-text-command.jsonl");
    assert_eq!(kept.all_output(), "level 42\n");
    assert_eq!(kept.final_text(), "The level is **42**.");
}

#[test]
fn codex_text_that_changes_is_rewritten_and_output_that_changes_is_not_lost() {
    let kept = ingest_fixture("codex/message-grows-and-changes.jsonl");
    assert_eq!(kept.visible_text(), "The pond was full.Done.");
    assert_eq!(kept.all_output(), "line 1\nline 8\nline 9\n");
}

#[test]
fn codex_lines_split_by_a_bare_line_break_are_joined_again() {
    let kept = ingest_fixture("codex/line-break-inside-a-string.jsonl");
    assert_eq!(kept.visible_text(), "first line\nsecond line\nthird line");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn codex_turns_are_rounds_of_one_run() {
    let kept = ingest_fixture("codex/two-turns.jsonl");
    assert_eq!(kept.round_count(), 2);
    assert_eq!(kept.final_text(), "Second answer.");
}

#[test]
fn codex_that_says_nothing_after_its_last_tool_has_no_reply() {
    let kept = ingest_fixture("codex/silent-after-the-last-result.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.ending().reply, Reply::None);
}

#[test]
fn codex_command_that_ends_after_the_reply_does_not_take_the_reply_away() {
    let kept = ingest_fixture("codex/late-result-after-the-reply.jsonl");
    assert_eq!(kept.final_text(), "The watch is running.");
}

#[test]
fn codex_tools_that_fail_or_are_declined_say_so() {
    use ToolOutcome::{Denied, Failed, Succeeded};
    let kept = ingest_fixture("codex/every-kind-of-tool.jsonl");
    assert_eq!(
        kept.tool_outcomes(),
        [Succeeded, Succeeded, Succeeded, Failed, Succeeded, Succeeded, Denied, Failed, Succeeded]
    );
}

#[test]
fn codex_app_server_declares_its_final_answer() {
    let kept = ingest_fixture("codex-app-server/commentary-then-final-answer.jsonl");
    assert_eq!(kept.final_text(), "It is 42 deep.");
    assert_eq!(kept.visible_text(), "Reading the gauge.It is 42 deep.Closing the file.");
    assert_eq!(kept.reasoning_text(), "Ask the gauge.\n\nThen answer.");
    assert_eq!(kept.all_output(), "42\n");
}

#[test]
fn codex_app_server_times_are_the_sources_own() {
    let kept = ingest_fixture("codex-app-server/commentary-then-final-answer.jsonl");
    let prompt = kept.0.iter().find(|(_, event)| matches!(event, Event::PromptReceived { .. }));
    assert_eq!(prompt.and_then(|(at, _)| *at), Some(1_700_000_000_300));
}

fn ask_answers(kept: &RecordedEvents) -> Vec<(&str, AnsweredBy)> {
    let answers = kept.events().filter_map(|event| match event {
        Event::AskResolved { answer, by, .. } => Some((answer.as_ref(), *by)),
        _ => None,
    });
    answers.collect()
}

#[test]
fn codex_app_server_approvals_are_asks_that_the_client_answers() {
    let kept = ingest_fixture("codex-app-server/approvals-of-both-sides.jsonl");
    let person = AnsweredBy::Person;
    assert_eq!(ask_answers(&kept), [("accept", person), ("decline", person)]);
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Denied]);
}

#[test]
fn codex_app_server_items_tell_the_answer_that_was_not_recorded() {
    let kept = ingest_fixture("codex-app-server/approval-answer-not-recorded.jsonl");
    assert_eq!(ask_answers(&kept), [("decline", AnsweredBy::Person), ("", AnsweredBy::Nobody)]);
    assert_eq!(kept.ending().outcome, Outcome::Cancelled);
}

#[test]
fn codex_app_server_retry_takes_back_half_a_message() {
    let kept = ingest_fixture("codex-app-server/retry-takes-back-half-a-message.jsonl");
    assert_eq!(kept.visible_text(), "The ducks are seven.");
    assert_eq!(kept.final_text(), "The ducks are seven.");
}

#[test]
fn codex_app_server_sub_agents_speak_in_the_tool_that_waits_for_them() {
    let kept = ingest_fixture("codex-app-server/sub-agent-speaks-in-its-tool.jsonl");
    assert_eq!(kept.visible_text(), "The heron is back.");
    assert_eq!(kept.all_output(), "Reeds here.tall\n");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn codex_app_server_limits_requests_and_cuts_end_honestly() {
    let limited = ingest_fixture("codex-app-server/turn-failed.jsonl");
    assert_eq!(limited.ending().reason, Some(FailureReason::Limit));
    assert_eq!(
        ingest_fixture("codex-app-server/request-refused.jsonl").ending().outcome,
        Outcome::Failed
    );
    assert_eq!(
        ingest_fixture("codex-app-server/cut-off.jsonl").ending().outcome,
        Outcome::Truncated
    );
}

#[test]
fn codex_app_server_items_without_deltas_are_shown_whole() {
    let kept = ingest_fixture("codex-app-server/whole-items-and-every-kind-of-tool.jsonl");
    assert_eq!(kept.final_text(), "Done with all.");
    assert_eq!(kept.reasoning_text(), "Plan first.\n\nThen act.");
}

#[test]
fn gemini_cli_reply_is_what_came_after_the_last_tool() {
    let kept = ingest_fixture("gemini-cli/text-tool-text.jsonl");
    assert_eq!(kept.final_text(), "There are **three**.");
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Denied]);
    assert_eq!(kept.0.get(1).and_then(|(at, _)| *at), Some(1_772_359_201_500));
    let silent = ingest_fixture("gemini-cli/silent-after-the-last-result.jsonl");
    assert_eq!(silent.ending().reply, Reply::None);
}

#[test]
fn gemini_cli_fails_after_half_the_text_and_keeps_it() {
    let kept = ingest_fixture("gemini-cli/error-after-half-the-text.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.final_text(), "There are thr");
    assert_eq!(kept.notice_texts(NoticeLevel::Warning), ["Loop detected"]);
    assert_eq!(kept.notice_texts(NoticeLevel::Error), ["stream ended early"]);
}

#[test]
fn gemini_cli_limits_and_cuts_end_honestly() {
    assert_eq!(
        ingest_fixture("gemini-cli/turn-limit.jsonl").ending().reason,
        Some(FailureReason::Limit)
    );
    assert_eq!(ingest_fixture("gemini-cli/cut-off.jsonl").ending().outcome, Outcome::Truncated);
}

#[test]
fn copilot_repeats_are_shown_once_and_reasoning_stays_before_the_message() {
    for fixture in ["message-before-reasoning-and-repeated-output", "whole-messages-only"] {
        let kept = ingest_fixture(&format!("copilot/{fixture}.jsonl"));
        assert_eq!(kept.reasoning_text(), "Check it.", "{fixture}");
        let first = |wanted: fn(&Event<'_>) -> bool| kept.events().position(wanted).unwrap();
        let thought = first(|event| matches!(event, Event::ReasoningStarted { .. }));
        let spoke = first(|event| matches!(event, Event::MessageStarted { .. }));
        assert!(thought < spoke, "{fixture}");
    }
    let kept = ingest_fixture("copilot/message-before-reasoning-and-repeated-output.jsonl");
    assert_eq!(kept.visible_text(), "I will check.It is **open**.");
    assert_eq!(kept.all_output(), "open\n<exit 0>");
}

#[test]
fn copilot_shows_what_the_person_wrote_not_what_it_made_of_it() {
    let kept = ingest_fixture("copilot/message-before-reasoning-and-repeated-output.jsonl");
    assert_eq!(kept.prompt_texts(), ["Is the gate open?"]);
}

#[test]
fn copilot_sub_agents_speak_in_the_tool_that_started_them() {
    let kept = ingest_fixture("copilot/sub-agent-speaks-in-its-tool.jsonl");
    assert_eq!(kept.visible_text(), "There are nine.");
    assert_eq!(kept.all_output(), "Nine reeds.9");
}

#[test]
fn copilot_errors_denials_and_cuts_end_honestly() {
    let failed = ingest_fixture("copilot/session-error.jsonl");
    assert_eq!(failed.ending().detail.as_deref(), Some("no quota left"));
    assert_eq!(failed.final_text(), "I wil");
    let denied = ingest_fixture("copilot/permission-denied.jsonl");
    assert_eq!(denied.tool_outcomes(), [ToolOutcome::Denied]);
    assert_eq!(denied.ending().outcome, Outcome::Cancelled);
    let cut = ingest_fixture("copilot/cut-off.jsonl");
    assert_eq!(cut.ending().outcome, Outcome::Truncated);
    assert_eq!(cut.tool_outcomes(), [ToolOutcome::Cut]);
}

#[test]
fn pi_deltas_count_and_partials_that_run_ahead_do_not() {
    let kept = ingest_fixture("pi/partial-runs-ahead-of-delta.jsonl");
    assert_eq!(kept.visible_text(), "I look.Two ducks.");
    assert_eq!(kept.reasoning_text(), "Look first.");
    assert_eq!(kept.all_output(), "one\ntwo\n");
}

#[test]
fn pi_compaction_after_the_end_does_not_open_the_run_again() {
    let kept = ingest_fixture("pi/partial-runs-ahead-of-delta.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.final_text(), "Two ducks.");
    assert!(kept.events().any(|event| matches!(event, Event::HistoryCompacted { .. })));
}

#[test]
fn pi_whole_messages_and_late_names_give_the_same_tools() {
    for fixture in ["whole-messages-only", "call-named-late"] {
        let kept = ingest_fixture(&format!("pi/{fixture}.jsonl"));
        assert_eq!(kept.tool_calls().len(), 1, "{fixture}");
        assert_eq!(kept.final_text(), "Two ducks.", "{fixture}");
    }
}

#[test]
fn pi_retry_takes_back_half_a_message() {
    let kept = ingest_fixture("pi/retry-takes-back-half-a-message.jsonl");
    assert_eq!(kept.visible_text(), "Two ducks.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn pi_errors_aborts_limits_and_cuts_end_honestly() {
    let outcome = |fixture: &str| ingest_fixture(fixture).ending().outcome;
    assert_eq!(outcome("pi/error.jsonl"), Outcome::Failed);
    assert_eq!(outcome("pi/aborted.jsonl"), Outcome::Cancelled);
    assert_eq!(outcome("pi/cut-off.jsonl"), Outcome::Truncated);
    assert!(ingest_fixture("pi/cut-by-length.jsonl").ending().incomplete);
}

#[test]
fn copilot_what_a_sub_agent_asks_is_asked() {
    let kept = ingest_fixture("copilot/sub-agent-asks.jsonl");
    assert_eq!(kept.count_events(|event| matches!(event, Event::AskOpened { .. })), 2);
    assert_eq!(kept.count_events(|event| matches!(event, Event::AskResolved { .. })), 2);
    assert_eq!(kept.unrecognised_count(), 1);
}

#[test]
fn copilot_a_message_that_is_sent_twice_is_shown_once_and_nothing_is_dropped() {
    let kept = ingest_fixture("copilot/message-sent-twice.jsonl");
    assert_eq!(kept.visible_text(), "Five ducks.");
    assert_eq!(kept.reasoning_text(), "Count first.");
    assert_eq!(kept.unrecognised_count(), 2);
}

#[test]
fn pi_an_agent_that_ends_inside_a_message_is_truncated() {
    let kept = ingest_fixture("pi/ended-inside-a-message.jsonl");
    kept.assert_truncated();
    assert_eq!(kept.visible_text(), "Five du");
    assert_eq!(kept.unrecognised_count(), 1);
}

#[test]
fn pi_is_known_by_a_message_that_is_not_a_providers() {
    ingest_fixture("pi/joined-after-the-prompt.jsonl").assert_completed(StopReason::End);
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
    assert_eq!(kept.visible_text(), "Tail of the eel.And more.");
    assert_eq!(kept.notice_texts(NoticeLevel::Warning).len(), 1);
}

#[test]
fn pi_tells_a_prompt_once_whether_or_not_its_beginning_was_seen() {
    assert_eq!(ingest_fixture("pi/joined-after-the-prompt.jsonl").prompt_texts(), ["Ducks?"]);
    let lines = ["message_start", "message_end"].map(|kind| {
        let message = json!({"role": "user", "content": [{"type": "text", "text": "Geese?"}]});
        format!("{}\n", json!({"type": kind, "message": message}))
    });
    assert_eq!(ingest_whole(lines.concat().as_bytes()).prompt_texts(), ["Geese?"]);
}
