//! Difficult cases of the Responses dialect, one fixture each.

mod tool_summaries;

use millpond_engine::event::{
    Event, Executor, FailureReason, MessageId, MessagePhase, NoticeLevel, Outcome, ReasoningOrigin,
    StopReason, ToolKind, ToolOutcome, UnrecognisedReason,
};

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};

use tool_summaries::{tool_summaries, tool_summary};

fn ingest_responses(name: &str) -> RecordedEvents {
    ingest_fixture(&format!("openai-responses/{name}"))
}

fn message_count(kept: &RecordedEvents) -> usize {
    kept.message_texts().len()
}

#[test]
fn each_summary_part_is_a_step_and_a_second_response_is_a_second_round() {
    let kept = ingest_responses("thinking-text-tool.sse");
    assert_eq!(kept.reasoning_steps(), ["**Weighing** the herons", "Two ponds, one boat"]);
    assert_eq!(kept.visible_text(), "Let me count.There are three herons.\n");
    let ending = kept.ending();
    assert_eq!((ending.stop, ending.message), (Some(StopReason::End), Some(MessageId(1))));
}

#[test]
fn an_item_is_known_by_its_index_where_its_id_changes_with_every_event() {
    let kept = ingest_responses("ids-rotate-in-every-event.sse");
    assert_eq!(kept.visible_text(), "Reeds grow here.");
    assert_eq!(kept.reasoning_steps(), ["**Looking at reeds**"]);
    assert_eq!(tool_summary(&kept, "cut_reeds").2, r#"{"n":3}"#);
    assert_eq!((message_count(&kept), tool_summaries(&kept).len()), (1, 1));
}

#[test]
fn an_item_is_known_by_its_id_where_it_has_no_index() {
    let kept = ingest_responses("items-without-index-and-late-dones.sse");
    assert_eq!(kept.visible_text(), "Looking it up.\n");
    assert_eq!(kept.reasoning_steps(), ["A frog asks.\n"]);
    assert_eq!(tool_summary(&kept, "find_frog").2, r#"{"colour": "green"}"#);
    assert_eq!(kept.ending().stop, Some(StopReason::Tools));
}

#[test]
fn deltas_that_name_no_item_are_of_the_one_that_is_open() {
    let kept = ingest_responses("deltas-name-no-item.sse");
    assert_eq!((kept.visible_text().as_str(), message_count(&kept)), ("Still water.", 1));
}

#[test]
fn a_source_without_deltas_shows_its_text_once() {
    let kept = ingest_responses("only-done-events.sse");
    assert_eq!(
        (kept.visible_text().as_str(), message_count(&kept)),
        ("Four ducks. And a goose.", 1)
    );
    assert_eq!(kept.reasoning_steps(), ["Counting ducks"]);
    assert_eq!(tool_summary(&kept, "feed").2, r#"{"bird":"goose"}"#);
}

#[test]
fn output_that_only_the_end_carries_is_shown() {
    let kept = ingest_responses("only-the-end-carries-output.sse");
    assert_eq!(kept.visible_text(), "Still water.");
    let redacted = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert!(kept.events().any(redacted));
}

#[test]
fn parts_of_an_item_are_one_message_and_the_final_answer_is_the_reply() {
    let kept = ingest_responses("phases-and-parts.sse");
    let phases: Vec<Option<MessagePhase>> = kept
        .events()
        .filter_map(|event| match event {
            Event::MessageStarted { phase, .. } => Some(*phase),
            _ => None,
        })
        .collect();
    let (commentary, last) = (Some(MessagePhase::Commentary), Some(MessagePhase::Final));
    assert_eq!(phases, [commentary, last, commentary]);
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn a_done_text_that_differs_replaces_what_the_deltas_said_with_a_warning() {
    let kept = ingest_responses("done-text-differs-from-deltas.sse");
    assert_eq!(kept.visible_text(), "The lake is frozen.");
    let warning = |event: &&Event<'_>| {
        matches!(event, Event::NoticeGiven { level: NoticeLevel::Warning, .. })
    };
    assert_eq!(kept.events().filter(warning).count(), 1);
}

#[test]
fn a_done_text_that_goes_on_after_the_deltas_is_shown_to_its_end() {
    let kept = ingest_responses("done-text-goes-on-after-deltas.sse");
    assert_eq!((kept.visible_text().as_str(), message_count(&kept)), ("The pond is frozen.", 1));
    let kept = ingest_responses("done-events-each-longer-than-the-last.sse");
    assert_eq!((kept.visible_text().as_str(), message_count(&kept)), ("Hello, ünder the reeds", 1));
    assert_eq!(kept.reasoning_steps(), ["Reeds and rushes"]);
    assert!(!kept.events().any(|event| matches!(event, Event::NoticeGiven { .. })));
}

#[test]
fn an_item_of_the_end_is_never_taken_for_one_of_another_type() {
    let kept = ingest_responses("the-end-leaves-out-reasoning.sse");
    assert_eq!(kept.visible_text(), "Two herons.One boat.No ducks.");
    assert_eq!(
        (message_count(&kept), kept.reasoning_steps()),
        (3, vec![String::new(), "Counting".to_owned(), String::new()])
    );
}

fn late_count(kept: &RecordedEvents) -> usize {
    let is_late = |event: &&Event<'_>| {
        matches!(event, Event::Unrecognised { reason: UnrecognisedReason::Late, .. })
    };
    kept.events().filter(is_late).count()
}

#[test]
fn what_comes_after_the_end_of_its_item_is_kept_and_not_shown() {
    let kept = ingest_responses("deltas-after-the-end-of-their-item.sse");
    assert_eq!(
        (kept.visible_text().as_str(), message_count(&kept), late_count(&kept)),
        ("Still water.", 1, 3)
    );
}

#[test]
fn an_event_sent_twice_is_shown_once_where_the_server_counts() {
    let kept = ingest_responses("events-sent-twice.sse");
    assert_eq!(
        (kept.visible_text().as_str(), message_count(&kept), late_count(&kept)),
        ("Ripples.", 1, 2)
    );
    let kept = ingest_responses("every-sequence-number-is-0.sse");
    assert_eq!(
        (kept.visible_text().as_str(), message_count(&kept), late_count(&kept)),
        ("Ripples.", 1, 0)
    );
}

#[test]
fn a_final_answer_that_is_named_at_its_end_is_the_reply() {
    let kept = ingest_responses("phase-only-in-the-end-of-an-item.sse");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn an_id_is_told_from_others_by_its_beginning() {
    let id = "m".repeat(1 << 16);
    let delta = |text: &str| {
        format!(
            r#"data: {{"type":"response.output_text.delta","item_id":"{id}","delta":"{text}"}}"#
        )
    };
    let stream = format!("{}\n\n{}\n\n", delta("Still "), delta("water."));
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!((kept.visible_text().as_str(), message_count(&kept)), ("Still water.", 1));
}

#[test]
fn a_source_is_cited_once_whether_it_came_with_the_text_or_after_it() {
    let kept = ingest_responses("search-and-sources.sse");
    let cited = |event: &&Event<'_>| matches!(event, Event::SourceCited { .. });
    assert_eq!(kept.events().filter(cited).count(), 2);
    let (kind, executor, _, _, outcome) = tool_summary(&kept, "web_search");
    assert_eq!(kind, ToolKind::WebSearch);
    assert_eq!((executor, outcome), (Executor::Provider, ToolOutcome::Succeeded));
}

#[test]
fn a_refusal_is_shown_and_ends_the_run_as_refused() {
    let kept = ingest_responses("refusal.sse");
    assert_eq!(kept.visible_text(), "I will not drain the pond.");
    assert_eq!(kept.ending().reason, Some(FailureReason::Refused));
}

#[test]
fn an_incomplete_response_was_cut_by_length_or_stopped_by_a_filter() {
    let length = ingest_responses("cut-by-length.sse").ending().clone();
    assert_eq!((length.stop, length.incomplete), (Some(StopReason::Length), true));
    assert_eq!(
        ingest_responses("content-filter.sse").ending().reason,
        Some(FailureReason::Refused)
    );
}

#[test]
fn the_first_words_about_a_failure_stand() {
    let kept = ingest_responses("error-then-failed.sse");
    assert_eq!(kept.visible_text(), "Half a ");
    assert_eq!(kept.ending().detail.as_deref(), Some("The pond is empty."));
    let flat = ingest_responses("flat-error.sse").ending().clone();
    assert_eq!(flat.detail.as_deref(), Some("The dam broke."));
    let whole = ingest_responses("whole-reply-that-failed.json").ending().clone();
    assert_eq!(whole.detail.as_deref(), Some("The mill stopped."));
}

#[test]
fn a_stream_without_its_end_is_truncated_and_its_open_call_is_cut() {
    let kept = ingest_responses("cut-stream.sse");
    assert_eq!(kept.visible_text(), "Water lilies ");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(tool_summary(&kept, "pick").4, ToolOutcome::Cut);
    assert_eq!(ingest_responses("cancelled.sse").ending().outcome, Outcome::Cancelled);
}

#[test]
fn a_stream_joined_in_its_middle_shows_what_was_missed_and_nothing_twice() {
    let kept = ingest_responses("joined-in-the-middle.sse");
    assert_eq!(kept.visible_text(), "Early and late.More.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn a_response_sent_again_from_its_beginning_takes_back_its_first_half() {
    assert_eq!(
        ingest_responses("stream-sent-again-from-its-beginning.sse").visible_text(),
        "Ripples"
    );
}

#[test]
fn arguments_built_from_pieces_of_code_and_commands_are_json() {
    let kept = ingest_responses("code-image-and-shell.sse");
    let code = tool_summary(&kept, "code_interpreter");
    assert_eq!(code.2, r#"{"code":"print(\"2\n\")"}"#);
    assert_eq!(code.3, "2\n");
    let shell = tool_summary(&kept, "shell");
    assert_eq!(shell.2, r#"{"commands":["ls \"a\"","pwd"]}"#);
    assert_eq!((shell.3.as_str(), shell.4), ("no such pond\n/pond\n", ToolOutcome::Failed));
    let images = |event: &&Event<'_>| matches!(event, Event::ImageReceived { .. });
    assert_eq!(kept.events().filter(images).count(), 2);
}

#[test]
fn an_image_of_megabytes_in_one_event_is_progress_and_its_bytes_are_left_out() {
    let image = "QUJD".repeat(1 << 20);
    let stream = [
        r#"{"type":"response.created","response":{"id":"r","status":"in_progress"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"g","type":"image_generation_call"}}"#,
        &format!(r#"{{"type":"response.image_generation_call.partial_image","item_id":"g","output_index":0,"partial_image_index":0,"partial_image_b64":"{image}"}}"#),
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"A pond."}"#,
        r#"{"type":"response.completed","response":{"id":"r","status":"completed"}}"#,
    ]
    .map(|payload| format!("data: {payload}\n\n"))
    .concat();
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible_text(), "A pond.");
    assert_eq!((kept.unrecognised_count(), kept.ending().outcome), (0, Outcome::Completed));
    assert!(kept.to_json_lines().len() < 1 << 14);
    assert!(kept.to_json_lines().contains("partial image"));
}

#[test]
fn random_padding_in_every_delta_means_nothing() {
    let kept = ingest_responses("cut-by-length.sse");
    assert!(!kept.to_json_lines().contains("obfuscation"));
    assert_eq!(kept.unrecognised_count(), 0);
}

#[test]
fn an_mcp_approval_is_asked_for_and_a_list_without_its_own_end_gets_it_from_the_response() {
    let kept = ingest_responses("mcp-and-approval.sse");
    let asked =
        |event: &Event<'_>| matches!(event, Event::AskOpened { ask, .. } if ask == "mcpr_1");
    assert!(kept.events().any(asked));
    assert_eq!(kept.ending().stop, Some(StopReason::Paused));
    let outcomes: Vec<ToolOutcome> = tool_summaries(&kept).into_iter().map(|tool| tool.5).collect();
    let (well, badly) = (ToolOutcome::Succeeded, ToolOutcome::Failed);
    assert_eq!(outcomes, [well, well, badly]);
}

#[test]
fn tools_the_client_runs_are_left_to_it() {
    let kept = ingest_responses("tools-the-client-runs.sse");
    assert_eq!(kept.ending().stop, Some(StopReason::Tools));
    assert!(tool_summaries(&kept).iter().all(|tool| tool.2 == Executor::Client));
    let patch = tool_summary(&kept, "apply_patch");
    assert_eq!(patch.0, ToolKind::Edit);
    assert_eq!(patch.2, r#"{"type":"create_file","path":"pond.md","diff":"+# Pond\n"}"#);
    assert_eq!(tool_summary(&kept, "query").2, "FROM ponds");
}

#[test]
fn searches_that_xai_runs_itself_do_not_ask_for_tools() {
    let kept = ingest_responses("searches-xai-runs-itself.sse");
    assert!(tool_summaries(&kept).iter().all(|tool| tool.2 == Executor::Provider));
    assert_eq!(kept.ending().stop, Some(StopReason::End));
}

#[test]
fn a_program_is_answered_in_a_later_response_and_the_unknown_is_kept() {
    let kept = ingest_responses("search-program-compaction-and-the-unknown.sse");
    assert_eq!(tool_summary(&kept, "program").4, ToolOutcome::Succeeded);
    assert_eq!(tool_summary(&kept, "tool_search").4, ToolOutcome::Succeeded);
    assert!(kept.events().any(|event| matches!(event, Event::HistoryCompacted { .. })));
    let unknown = |event: &&Event<'_>| {
        matches!(event, Event::Unrecognised { reason: UnrecognisedReason::Frame, .. })
    };
    assert_eq!(kept.events().filter(unknown).count(), 3);
    assert_eq!(kept.visible_text(), "Two fish.");
}

#[test]
fn the_output_of_a_program_that_was_called_elsewhere_is_a_step() {
    let kept = ingest_responses("output-of-an-earlier-response.sse");
    assert_eq!(tool_summary(&kept, "program").3, r#"{"fish":2}"#);
}

#[test]
fn reasoning_that_is_done_after_the_message_is_not_said_again() {
    let kept = ingest_responses("reasoning-done-after-the-message.sse");
    assert_eq!(kept.reasoning_steps(), ["Simple sum."]);
    assert_eq!((kept.visible_text().as_str(), message_count(&kept)), ("4", 1));
}

#[test]
fn what_comes_after_the_end_changes_nothing() {
    let kept = ingest_responses("late-events-after-the-end.sse");
    assert_eq!((kept.visible_text().as_str(), kept.ending_count()), ("Done.", 1));
}

#[test]
fn a_whole_reply_is_read_like_a_stream() {
    let kept = ingest_responses("whole-reply.json");
    assert_eq!(kept.visible_text(), "Carp live here.");
    assert_eq!(tool_summary(&kept, "weigh").2, r#"{"fish":"carp"}"#);
    assert_eq!(kept.ending().stop, Some(StopReason::Tools));
}

#[test]
fn a_spoken_reply_is_shown_by_its_transcript() {
    assert_eq!(ingest_responses("spoken-reply.sse").visible_text(), "Quack quack.");
}

#[test]
fn messages_whose_deltas_come_in_turns_are_whole_and_keep_their_sources() {
    let kept = ingest_responses("two-messages-at-once.sse");
    assert_eq!(kept.visible_text(), "Reeds and rushes.Two herons.");
    assert_eq!(kept.final_text(), "Two herons.");
    let last = kept.ending().message;
    let cited = |event: &&Event<'_>| matches!(event, Event::SourceCited { message, .. } if Some(*message) == last);
    assert_eq!(kept.events().filter(cited).count(), 1);
}

#[test]
fn a_later_part_that_differs_leaves_the_parts_before_it() {
    let kept = ingest_responses("second-part-differs-from-its-deltas.sse");
    assert_eq!((kept.visible_text().as_str(), message_count(&kept)), ("First. Second <one>.", 1));
}

#[test]
fn a_safety_check_is_for_a_person_to_acknowledge() {
    let kept = ingest_responses("tools-the-client-runs.sse");
    let ask = kept.events().find_map(|event| match event {
        Event::AskOpened { ask, text, step, .. } => Some((ask.as_ref(), text.as_ref(), *step)),
        _ => None,
    });
    let (ask, text, step) = ask.unwrap();
    assert_eq!((ask, text), ("call_m", "look twice (malicious_instructions)"));
    assert!(step.is_some());
    let resolved = kept.events().any(|event| matches!(event, Event::AskResolved { .. }));
    assert!(!resolved, "nobody has answered");
}
