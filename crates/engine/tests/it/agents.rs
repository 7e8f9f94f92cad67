//! Agents with their own protocol: known behaviour and the expected events.

use millpond_engine::event::{AnsweredBy, AskKind, Event, Outcome, StepId, ToolOutcome};

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};

/// Number of asks answered by a person.
fn person_answered_count(kept: &RecordedEvents) -> usize {
    kept.count_events(|event| matches!(event, Event::AskResolved { by: AnsweredBy::Person, .. }))
}

mod acp {
    use super::*;

    fn text_chunk_line(kind: &str, id: &str, text: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"{kind}","messageId":"{id}","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        ) + "\n"
    }

    #[test]
    fn ids_too_long_to_keep_are_still_told_apart() {
        let long = "x".repeat(1000);
        let (a, b) = (format!("{long}a"), format!("{long}b"));
        let stream = text_chunk_line("agent_message_chunk", &a, "Hel")
            + &text_chunk_line("agent_message", &a, "Hello")
            + &text_chunk_line("agent_message_chunk", &b, "World")
            + &text_chunk_line("agent_message", &a, "Hello");
        let kept = ingest_whole(stream.as_bytes());
        assert_eq!(kept.text_deltas(), ["Hel", "lo", "World"]);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn an_error_alone_is_told_from_that_of_others() {
        let kept = ingest_fixture("acp/error-alone.jsonl");
        assert_eq!(kept.ending().outcome, Outcome::Failed);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn what_a_sub_agent_says_late_or_thinks_is_neither_reply_nor_output() {
        let kept = ingest_fixture("acp/sub-agent-thinks-and-speaks-late.jsonl");
        assert_eq!(kept.final_text(), "Main");
        assert_eq!(kept.tool_output(StepId(0)), "in time");
        assert_eq!(kept.unrecognised_count(), 1);
        assert_eq!(kept.count_events(|event| matches!(event, Event::ImageReceived { .. })), 0);
    }

    #[test]
    fn a_message_that_another_came_between_stays_open_and_is_whole() {
        let kept = ingest_fixture("acp/messages-in-between.jsonl");
        assert_eq!(kept.message_texts(), ["Hello!", "other"]);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn a_whole_message_replaces_a_longer_one_and_null_clears_it() {
        let kept = ingest_fixture("acp/version-2-shorter-and-cleared.jsonl");
        assert_eq!(kept.final_text(), "Right");
        let rewritten = |event: &Event<'_>| matches!(event, Event::TextRewritten { .. });
        assert_eq!(kept.count_events(rewritten), 2);
    }

    #[test]
    fn words_before_the_last_tool_are_no_reply() {
        let kept = ingest_fixture("acp/nothing-said-after-the-tool.jsonl");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.final_text(), "");
    }

    #[test]
    fn calls_may_be_numbered_sound_is_recorded_and_a_prompt_may_come_twice() {
        let kept = ingest_fixture("acp/odd-content-and-ids.jsonl");
        assert_eq!(kept.tool_output(StepId(0)), "seven");
        assert_eq!(kept.unrecognised_count(), 2);
        let prompt = |event: &Event<'_>| matches!(event, Event::PromptReceived { .. });
        assert_eq!(kept.count_events(prompt), 2);
    }

    #[test]
    fn a_transcript_of_both_sides_gives_prompt_steps_and_final_text() {
        let kept = ingest_fixture("acp/both-sides.jsonl");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.final_text(), "There are **twelve** pears.");
        assert_eq!(kept.tool_output(StepId(1)), "12 pears");
        assert_eq!(kept.round_count(), 2);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn a_call_known_only_from_its_permission_request_is_one_step() {
        let kept = ingest_fixture("acp/call-known-from-permission-only.jsonl");
        assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded]);
        assert_eq!(kept.final_text(), "Watered.");
        assert!(kept.events().any(|event| matches!(event,
            Event::AskOpened { kind: AskKind::Command, step: Some(StepId(0)), options, .. }
                if options.len() == 2)));
        assert!(kept.events().any(|event| matches!(event,
            Event::AskResolved { answer, .. } if answer == "once")));
    }

    #[test]
    fn a_refused_call_is_denied_and_its_late_failure_starts_nothing() {
        let kept = ingest_fixture("acp/permission-refused.jsonl");
        assert_eq!(kept.tool_outcomes(), [ToolOutcome::Denied]);
        assert_eq!(kept.ending().outcome, Outcome::Completed);
    }

    #[test]
    fn a_line_of_half_a_megabyte_passes() {
        let mut stream = String::from(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":""#,
        );
        stream.push_str(&"long ".repeat(120_000));
        stream.push_str(concat!(
            r#""}]}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Here."}}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#,
            "\n",
        ));
        let kept = ingest_whole(stream.as_bytes());
        assert_eq!(kept.final_text(), "Here.");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn a_message_sent_in_chunks_and_whole_is_shown_once() {
        let kept = ingest_fixture("acp/version-2-upserts.jsonl");
        assert_eq!(kept.visible_text(), "The ash.It is an ash.");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
    }

    #[test]
    fn the_prompt_an_agent_echoes_is_told_once() {
        let kept = ingest_fixture("acp/two-turns-limit-then-refusal.jsonl");
        assert_eq!(kept.count_events(|event| matches!(event, Event::PromptReceived { .. })), 2);
        assert_eq!(kept.ending().outcome, Outcome::Failed);
        assert_eq!(kept.final_text(), "Not this.");
    }

    #[test]
    fn only_the_agents_error_fails_the_run() {
        let kept = ingest_fixture("acp/error.jsonl");
        assert!(matches!(kept.events().last(), Some(Event::RunEnded { ending })
            if ending.detail.as_deref() == Some("the spade broke")));
    }

    #[test]
    fn cancelled_and_cut_turns_say_so() {
        assert_eq!(
            ingest_fixture("acp/agent-only-and-cancelled.jsonl").ending().outcome,
            Outcome::Cancelled
        );
        assert_eq!(ingest_fixture("acp/cut.jsonl").ending().outcome, Outcome::Truncated);
    }
}

mod opencode {
    use super::*;

    #[test]
    fn parts_without_ids_are_parts_of_their_own() {
        let kept = ingest_fixture("opencode/run-parts-without-ids.jsonl");
        assert_eq!(kept.text_deltas(), ["Hello", "World", "Done"]);
        assert_eq!([kept.tool_output(StepId(0)), kept.tool_output(StepId(1))], ["a", "b"]);
    }

    #[test]
    fn what_a_sub_agent_asks_is_asked() {
        let kept = ingest_fixture("opencode/serve-sub-agent-asks.sse");
        assert_eq!(person_answered_count(&kept), 2);
        assert_eq!(kept.unrecognised_count(), 1);
        assert_eq!(kept.final_text(), "Milk is here.");
    }

    #[test]
    fn a_session_joined_late_ends_and_another_is_named_once() {
        let kept = ingest_fixture("opencode/serve-joined-late-and-another-session.sse");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.final_text(), "Still here.");
        assert_eq!(kept.count_events(|event| matches!(event, Event::NoticeGiven { .. })), 1);
    }

    #[test]
    fn the_reason_of_a_step_tells_a_round_from_the_end() {
        let kept = ingest_fixture("opencode/run.jsonl");
        assert_eq!(kept.round_count(), 2);
        assert_eq!(kept.final_text(), "Tea is **ready**.");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn a_step_begun_again_after_a_cut_keeps_what_was_said_and_doubles_nothing() {
        let kept = ingest_fixture("opencode/run-cut-and-begun-again.jsonl");
        assert_eq!(kept.visible_text(), "Heating water.Tea is nearlyTea is ready.");
        assert_eq!(kept.final_text(), "Tea is ready.");
        assert_eq!(kept.ending().outcome, Outcome::Truncated);
    }

    #[test]
    fn deltas_and_the_parts_that_repeat_them_are_shown_once() {
        let kept = ingest_fixture("opencode/serve.sse");
        assert_eq!(kept.visible_text(), "Let me look. It is cold.");
        assert_eq!(kept.tool_output(StepId(1)), "cold\nas ice\n");
        assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded]);
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn a_sub_agent_belongs_to_its_tool_and_a_strangers_session_to_nobody() {
        let kept = ingest_fixture("opencode/serve-sub-agent-and-permission.sse");
        assert_eq!(kept.visible_text(), "Milk it is.");
        assert_eq!(kept.tool_output(StepId(0)), "Milk found.");
        assert_eq!(kept.tool_outcomes(), [ToolOutcome::Denied, ToolOutcome::Succeeded]);
        assert_eq!(kept.count_events(|event| matches!(event, Event::PromptReceived { .. })), 1);
    }

    #[test]
    fn errors_aborts_and_cuts_are_told_apart() {
        assert_eq!(ingest_fixture("opencode/run-error.jsonl").ending().outcome, Outcome::Failed);
        assert_eq!(ingest_fixture("opencode/serve-error.sse").ending().outcome, Outcome::Failed);
        assert_eq!(
            ingest_fixture("opencode/serve-aborted.sse").ending().outcome,
            Outcome::Cancelled
        );
        assert_eq!(ingest_fixture("opencode/serve-cut.sse").ending().outcome, Outcome::Truncated);
    }
}

mod cline {
    use super::*;

    #[test]
    fn a_second_run_of_one_stream_has_its_ending() {
        let kept = ingest_fixture("cline/two-runs.jsonl");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
        assert_eq!(kept.final_text(), "B");
    }

    #[test]
    fn calls_without_ids_are_told_apart() {
        let kept = ingest_fixture("cline/calls-without-ids.jsonl");
        assert_eq!([kept.tool_output(StepId(0)), kept.tool_output(StepId(1))], ["1", "2"]);
        assert_eq!(kept.unrecognised_count(), 1);
    }

    #[test]
    fn the_final_message_comes_through_a_tool_without_the_tools_words() {
        let kept = ingest_fixture("cline/final-through-a-tool.jsonl");
        assert_eq!(kept.final_text(), "The drawer holds **spoons**.");
        assert_eq!(kept.visible_text(), "haha, looking.Wrapping up.The drawer holds **spoons**.");
        assert_eq!(kept.unrecognised_count(), 0);
    }

    #[test]
    fn a_final_text_that_was_shown_is_not_shown_again() {
        assert_eq!(ingest_fixture("cline/final-as-text.jsonl").visible_text(), "Just this.");
    }

    #[test]
    fn a_run_without_its_done_is_truncated() {
        assert_eq!(ingest_fixture("cline/cut.jsonl").ending().outcome, Outcome::Truncated);
        assert_eq!(ingest_fixture("cline/error.jsonl").ending().outcome, Outcome::Failed);
    }
}

mod kilo {
    use super::*;

    #[test]
    fn what_follows_an_ask_shows_that_it_was_answered() {
        let kept = ingest_fixture("kilo/answers-that-show.jsonl");
        assert_eq!(person_answered_count(&kept), 3);
    }

    #[test]
    fn messages_without_a_time_are_messages_of_their_own() {
        let kept = ingest_fixture("kilo/messages-without-ts.jsonl");
        assert_eq!(kept.text_deltas(), ["Hello", "World", "Greeted."]);
        assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded; 2]);
    }

    #[test]
    fn a_message_that_comes_again_extends_itself_and_never_shrinks() {
        let kept = ingest_fixture("kilo/normal-flow.jsonl");
        assert_eq!(kept.visible_text(), "On the wall, I think.The map is on the wall.");
        assert_eq!(kept.final_text(), "The map is on the wall.");
        assert_eq!(kept.count_events(|event| matches!(event, Event::RequestEnded { .. })), 1);
        assert_eq!(kept.ending().outcome, Outcome::Completed);
    }

    #[test]
    fn an_approved_tool_and_its_result_are_one_step() {
        let kept = ingest_fixture("kilo/tool-approval.jsonl");
        assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Succeeded]);
        assert_eq!(kept.tool_output(StepId(1)), "old\nnew");
    }

    #[test]
    fn a_run_that_waits_for_an_answer_has_not_ended() {
        assert_eq!(
            ingest_fixture("kilo/waiting-for-an-answer.jsonl").ending().outcome,
            Outcome::Truncated
        );
        assert_eq!(ingest_fixture("kilo/followup.jsonl").ending().outcome, Outcome::Completed);
    }

    #[test]
    fn an_unreadable_request_is_an_error_and_blocks_nothing() {
        let kept = ingest_fixture("kilo/requests-failed-cancelled-unreadable.jsonl");
        assert_eq!(kept.visible_text(), "Still here.");
        assert_eq!(kept.ending().outcome, Outcome::Cancelled);
        assert_eq!(
            ingest_fixture("kilo/request-failed-for-good.jsonl").ending().outcome,
            Outcome::Failed
        );
    }

    #[test]
    fn a_whole_history_begins_with_what_the_person_asked() {
        let kept = ingest_fixture("kilo/whole-history.json");
        assert!(kept.events().any(|event| matches!(event,
            Event::PromptReceived { text, .. } if text == "Find the map")));
        assert_eq!(kept.visible_text(), "Looking.Page 4.");
        assert_eq!(kept.unrecognised_count(), 1);
    }

    #[test]
    fn a_changed_text_is_rewritten_and_clines_own_mark_is_not_text() {
        let kept = ingest_fixture("kilo/rewritten.jsonl");
        assert_eq!(kept.visible_text(), "The red map.Red.");
    }
}
