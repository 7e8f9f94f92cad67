//! Agents that have a protocol of their own: what each is known to do, and what must come of it.

use engine::event::{AnsweredBy, AskKind, Event, Outcome, Reply, StepId, ToolOutcome};

use crate::support::{Kept, fixtures_dir, ingest_whole};

fn read(fixture: &str) -> Kept {
    ingest_whole(&std::fs::read(fixtures_dir().join(fixture)).unwrap())
}

fn outcome(kept: &Kept) -> Outcome {
    match kept.events().last() {
        Some(Event::RunEnded { ending }) => ending.outcome,
        other => panic!("ends with {other:?}"),
    }
}

/// The text of the message that the run ended with.
fn reply(kept: &Kept) -> String {
    let Some(Event::RunEnded { ending }) = kept.events().last() else { panic!("no ending") };
    let mut reply = String::new();
    for event in kept.events() {
        match event {
            Event::TextAppended { message, text } if Some(*message) == ending.message => {
                reply.push_str(text);
            }
            Event::TextRewritten { message, kept_bytes, text }
                if Some(*message) == ending.message =>
            {
                reply.truncate(*kept_bytes);
                reply.push_str(text);
            }
            _ => {}
        }
    }
    assert_eq!(ending.reply == Reply::Message, !reply.is_empty());
    reply
}

fn output(kept: &Kept, of: u32) -> String {
    let outputs = kept.events().filter_map(|event| match event {
        Event::OutputAppended { step: StepId(step), text } if *step == of => Some(text.as_ref()),
        _ => None,
    });
    outputs.collect()
}

fn tool_outcomes(kept: &Kept) -> Vec<ToolOutcome> {
    let ended = kept.events().filter_map(|event| match event {
        Event::ToolEnded { outcome, .. } => Some(*outcome),
        _ => None,
    });
    ended.collect()
}

fn count(kept: &Kept, is: impl Fn(&Event<'_>) -> bool) -> usize {
    kept.events().filter(|event| is(event)).count()
}

fn unrecognised(kept: &Kept) -> usize {
    count(kept, |event| matches!(event, Event::Unrecognised { .. }))
}

/// Asks that a person has answered.
fn answered_asks(kept: &Kept) -> usize {
    count(kept, |event| matches!(event, Event::AskResolved { by: AnsweredBy::Person, .. }))
}

fn texts(kept: &Kept) -> Vec<&str> {
    let texts = kept.events().filter_map(|event| match event {
        Event::TextAppended { text, .. } => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

fn rounds(kept: &Kept) -> usize {
    count(kept, |event| matches!(event, Event::RoundStarted { .. }))
}

mod acp {
    use super::*;

    fn message(kind: &str, id: &str, text: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"{kind}","messageId":"{id}","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        ) + "\n"
    }

    #[test]
    fn ids_too_long_to_keep_are_still_told_apart() {
        let long = "x".repeat(1000);
        let (a, b) = (format!("{long}a"), format!("{long}b"));
        let stream = message("agent_message_chunk", &a, "Hel")
            + &message("agent_message", &a, "Hello")
            + &message("agent_message_chunk", &b, "World")
            + &message("agent_message", &a, "Hello");
        let kept = ingest_whole(stream.as_bytes());
        assert_eq!(texts(&kept), ["Hel", "lo", "World"]);
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn an_error_alone_is_told_from_that_of_others() {
        let kept = read("acp/error-alone.jsonl");
        assert_eq!(outcome(&kept), Outcome::Failed);
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn what_a_sub_agent_says_late_or_thinks_is_neither_reply_nor_output() {
        let kept = read("acp/sub-agent-thinks-and-speaks-late.jsonl");
        assert_eq!(reply(&kept), "Main");
        assert_eq!(output(&kept, 0), "in time");
        assert_eq!(unrecognised(&kept), 1);
        assert_eq!(count(&kept, |event| matches!(event, Event::ImageReceived { .. })), 0);
    }

    #[test]
    fn a_message_that_another_came_between_is_not_said_twice() {
        let kept = read("acp/messages-in-between.jsonl");
        assert_eq!(reply(&kept), "lo");
        assert_eq!(unrecognised(&kept), 1);
    }

    #[test]
    fn a_whole_message_replaces_a_longer_one_and_null_clears_it() {
        let kept = read("acp/version-2-shorter-and-cleared.jsonl");
        assert_eq!(reply(&kept), "Right");
        let rewritten = |event: &Event<'_>| matches!(event, Event::TextRewritten { .. });
        assert_eq!(count(&kept, rewritten), 2);
    }

    #[test]
    fn words_before_the_last_tool_are_no_reply() {
        let kept = read("acp/nothing-said-after-the-tool.jsonl");
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(reply(&kept), "");
    }

    #[test]
    fn calls_may_be_numbered_sound_is_recorded_and_a_prompt_may_come_twice() {
        let kept = read("acp/odd-content-and-ids.jsonl");
        assert_eq!(output(&kept, 0), "seven");
        assert_eq!(unrecognised(&kept), 2);
        let prompt = |event: &Event<'_>| matches!(event, Event::PromptReceived { .. });
        assert_eq!(count(&kept, prompt), 2);
    }

    #[test]
    fn a_transcript_of_both_sides_gives_prompt_steps_and_final_text() {
        let kept = read("acp/both-sides.jsonl");
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(reply(&kept), "There are **twelve** pears.");
        assert_eq!(output(&kept, 1), "12 pears");
        assert_eq!(rounds(&kept), 2);
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn a_call_known_only_from_its_permission_request_is_one_step() {
        let kept = read("acp/call-known-from-permission-only.jsonl");
        assert_eq!(tool_outcomes(&kept), [ToolOutcome::Succeeded]);
        assert_eq!(reply(&kept), "Watered.");
        assert!(kept.events().any(|event| matches!(event,
            Event::AskOpened { kind: AskKind::Command, step: Some(StepId(0)), options, .. }
                if options.len() == 2)));
        assert!(kept.events().any(|event| matches!(event,
            Event::AskResolved { answer, .. } if answer == "once")));
    }

    #[test]
    fn a_refused_call_is_denied_and_its_late_failure_starts_nothing() {
        let kept = read("acp/permission-refused.jsonl");
        assert_eq!(tool_outcomes(&kept), [ToolOutcome::Denied]);
        assert_eq!(outcome(&kept), Outcome::Completed);
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
        assert_eq!(reply(&kept), "Here.");
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn a_message_sent_in_chunks_and_whole_is_shown_once() {
        let kept = read("acp/version-2-upserts.jsonl");
        assert_eq!(kept.visible(), "The ash.It is an ash.");
        assert_eq!(outcome(&kept), Outcome::Completed);
    }

    #[test]
    fn the_prompt_an_agent_echoes_is_told_once() {
        let kept = read("acp/two-turns-limit-then-refusal.jsonl");
        assert_eq!(count(&kept, |event| matches!(event, Event::PromptReceived { .. })), 2);
        assert_eq!(outcome(&kept), Outcome::Failed);
        assert_eq!(reply(&kept), "Not this.");
    }

    #[test]
    fn only_the_agents_error_fails_the_run() {
        let kept = read("acp/error.jsonl");
        assert!(matches!(kept.events().last(), Some(Event::RunEnded { ending })
            if ending.detail.as_deref() == Some("the spade broke")));
    }

    #[test]
    fn cancelled_and_cut_turns_say_so() {
        assert_eq!(outcome(&read("acp/agent-only-and-cancelled.jsonl")), Outcome::Cancelled);
        assert_eq!(outcome(&read("acp/cut.jsonl")), Outcome::Truncated);
    }
}

mod opencode {
    use super::*;

    #[test]
    fn parts_without_ids_are_parts_of_their_own() {
        let kept = read("opencode/run-parts-without-ids.jsonl");
        assert_eq!(texts(&kept), ["Hello", "World", "Done"]);
        assert_eq!([output(&kept, 0), output(&kept, 1)], ["a", "b"]);
    }

    #[test]
    fn what_a_sub_agent_asks_is_asked() {
        let kept = read("opencode/serve-sub-agent-asks.sse");
        assert_eq!(answered_asks(&kept), 2);
        assert_eq!(unrecognised(&kept), 1);
        assert_eq!(reply(&kept), "Milk is here.");
    }

    #[test]
    fn a_session_joined_late_ends_and_another_is_named_once() {
        let kept = read("opencode/serve-joined-late-and-another-session.sse");
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(reply(&kept), "Still here.");
        assert_eq!(count(&kept, |event| matches!(event, Event::NoticeGiven { .. })), 1);
    }

    #[test]
    fn the_reason_of_a_step_tells_a_round_from_the_end() {
        let kept = read("opencode/run.jsonl");
        assert_eq!(rounds(&kept), 2);
        assert_eq!(reply(&kept), "Tea is **ready**.");
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn a_step_begun_again_after_a_cut_keeps_what_was_said_and_doubles_nothing() {
        let kept = read("opencode/run-cut-and-begun-again.jsonl");
        assert_eq!(kept.visible(), "Heating water.Tea is nearlyTea is ready.");
        assert_eq!(reply(&kept), "Tea is ready.");
        assert_eq!(outcome(&kept), Outcome::Truncated);
    }

    #[test]
    fn deltas_and_the_parts_that_repeat_them_are_shown_once() {
        let kept = read("opencode/serve.sse");
        assert_eq!(kept.visible(), "Let me look. It is cold.");
        assert_eq!(output(&kept, 1), "cold\nas ice\n");
        assert_eq!(tool_outcomes(&kept), [ToolOutcome::Succeeded]);
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn a_sub_agent_belongs_to_its_tool_and_a_strangers_session_to_nobody() {
        let kept = read("opencode/serve-sub-agent-and-permission.sse");
        assert_eq!(kept.visible(), "Milk it is.");
        assert_eq!(output(&kept, 0), "Milk found.");
        assert_eq!(tool_outcomes(&kept), [ToolOutcome::Denied, ToolOutcome::Succeeded]);
        assert_eq!(count(&kept, |event| matches!(event, Event::PromptReceived { .. })), 1);
    }

    #[test]
    fn errors_aborts_and_cuts_are_told_apart() {
        assert_eq!(outcome(&read("opencode/run-error.jsonl")), Outcome::Failed);
        assert_eq!(outcome(&read("opencode/serve-error.sse")), Outcome::Failed);
        assert_eq!(outcome(&read("opencode/serve-aborted.sse")), Outcome::Cancelled);
        assert_eq!(outcome(&read("opencode/serve-cut.sse")), Outcome::Truncated);
    }
}

mod cline {
    use super::*;

    #[test]
    fn a_second_run_of_one_stream_has_its_ending() {
        let kept = read("cline/two-runs.jsonl");
        assert_eq!(outcome(&kept), Outcome::Completed);
        assert_eq!(reply(&kept), "B");
    }

    #[test]
    fn calls_without_ids_are_told_apart() {
        let kept = read("cline/calls-without-ids.jsonl");
        assert_eq!([output(&kept, 0), output(&kept, 1)], ["1", "2"]);
        assert_eq!(unrecognised(&kept), 1);
    }

    #[test]
    fn the_final_message_comes_through_a_tool_without_the_tools_words() {
        let kept = read("cline/final-through-a-tool.jsonl");
        assert_eq!(reply(&kept), "The drawer holds **spoons**.");
        assert_eq!(kept.visible(), "haha, looking.Wrapping up.The drawer holds **spoons**.");
        assert_eq!(unrecognised(&kept), 0);
    }

    #[test]
    fn a_final_text_that_was_shown_is_not_shown_again() {
        assert_eq!(read("cline/final-as-text.jsonl").visible(), "Just this.");
    }

    #[test]
    fn a_run_without_its_done_is_truncated() {
        assert_eq!(outcome(&read("cline/cut.jsonl")), Outcome::Truncated);
        assert_eq!(outcome(&read("cline/error.jsonl")), Outcome::Failed);
    }
}

mod kilo {
    use super::*;

    #[test]
    fn what_follows_an_ask_shows_that_it_was_answered() {
        let kept = read("kilo/answers-that-show.jsonl");
        assert_eq!(answered_asks(&kept), 3);
    }

    #[test]
    fn messages_without_a_time_are_messages_of_their_own() {
        let kept = read("kilo/messages-without-ts.jsonl");
        assert_eq!(texts(&kept), ["Hello", "World", "Greeted."]);
        assert_eq!(tool_outcomes(&kept), [ToolOutcome::Succeeded; 2]);
    }

    #[test]
    fn a_message_that_comes_again_extends_itself_and_never_shrinks() {
        let kept = read("kilo/normal-flow.jsonl");
        assert_eq!(kept.visible(), "On the wall, I think.The map is on the wall.");
        assert_eq!(reply(&kept), "The map is on the wall.");
        assert_eq!(count(&kept, |event| matches!(event, Event::RequestEnded { .. })), 1);
        assert_eq!(outcome(&kept), Outcome::Completed);
    }

    #[test]
    fn an_approved_tool_and_its_result_are_one_step() {
        let kept = read("kilo/tool-approval.jsonl");
        assert_eq!(tool_outcomes(&kept), [ToolOutcome::Succeeded, ToolOutcome::Succeeded]);
        assert_eq!(output(&kept, 1), "old\nnew");
    }

    #[test]
    fn a_run_that_waits_for_an_answer_has_not_ended() {
        assert_eq!(outcome(&read("kilo/waiting-for-an-answer.jsonl")), Outcome::Truncated);
        assert_eq!(outcome(&read("kilo/followup.jsonl")), Outcome::Completed);
    }

    #[test]
    fn an_unreadable_request_is_an_error_and_blocks_nothing() {
        let kept = read("kilo/requests-failed-cancelled-unreadable.jsonl");
        assert_eq!(kept.visible(), "Still here.");
        assert_eq!(outcome(&kept), Outcome::Cancelled);
        assert_eq!(outcome(&read("kilo/request-failed-for-good.jsonl")), Outcome::Failed);
    }

    #[test]
    fn a_whole_history_begins_with_what_the_person_asked() {
        let kept = read("kilo/whole-history.json");
        assert!(kept.events().any(|event| matches!(event,
            Event::PromptReceived { text } if text == "Find the map")));
        assert_eq!(kept.visible(), "Looking.Page 4.");
        assert_eq!(unrecognised(&kept), 1);
    }

    #[test]
    fn a_changed_text_is_rewritten_and_clines_own_mark_is_not_text() {
        let kept = read("kilo/rewritten.jsonl");
        assert_eq!(kept.visible(), "The red map.Red.");
    }
}
