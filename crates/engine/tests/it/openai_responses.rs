//! What makes the Responses dialect hard, each in a fixture of its own.

use engine::event::{
    Event, Executor, FailureReason, Level, MessageId, Outcome, Phase, ReasoningOrigin, StepId,
    Stop, ToolKind, ToolOutcome, UnrecognisedReason,
};

use crate::fixture::told;
use crate::support::{Kept, ingest_whole};

fn run(name: &str) -> Kept {
    told(&format!("openai-responses/{name}"))
}

fn messages(kept: &Kept) -> usize {
    kept.messages().len()
}

/// Name, kind, who runs it, arguments, output and outcome of a tool.
type Tool = (String, ToolKind, Executor, String, String, ToolOutcome);

fn tools(kept: &Kept) -> Vec<Tool> {
    let mut found: Vec<(StepId, Tool)> = Vec::new();
    let tool_of = |found: &mut Vec<(StepId, Tool)>, step: StepId| {
        found.iter().position(|(id, _)| *id == step).unwrap()
    };
    for event in kept.events() {
        match event {
            Event::ToolStarted { step, name, kind, executor, .. } => {
                let nothing = (String::new(), String::new());
                let tool =
                    (name.to_string(), *kind, *executor, nothing.0, nothing.1, ToolOutcome::Cut);
                found.push((*step, tool));
            }
            Event::ArgumentsAppended { step, text } => {
                let at = tool_of(&mut found, *step);
                found[at].1.3.push_str(text);
            }
            Event::ArgumentsReplaced { step, .. } => panic!("{step:?} said its arguments twice"),
            Event::OutputAppended { step, text } => {
                let at = tool_of(&mut found, *step);
                found[at].1.4.push_str(text);
            }
            Event::ToolEnded { step, outcome, .. } => {
                let at = tool_of(&mut found, *step);
                found[at].1.5 = *outcome;
            }
            _ => {}
        }
    }
    found.into_iter().map(|(_, tool)| tool).collect()
}

fn tool(kept: &Kept, name: &str) -> (ToolKind, Executor, String, String, ToolOutcome) {
    let tools = tools(kept).into_iter();
    let mut named = tools.filter(|tool| tool.0 == name);
    let (_, kind, executor, arguments, output, outcome) = named.next().unwrap();
    (kind, executor, arguments, output, outcome)
}

#[test]
fn each_summary_part_is_a_step_and_a_second_response_is_a_second_round() {
    let kept = run("thinking-text-tool.sse");
    assert_eq!(kept.thoughts(), ["**Weighing** the herons", "Two ponds, one boat"]);
    assert_eq!(kept.visible(), "Let me count.There are three herons.\n");
    let ending = kept.ending();
    assert_eq!((ending.stop, ending.message), (Some(Stop::End), Some(MessageId(1))));
}

#[test]
fn an_item_is_known_by_its_index_where_its_id_changes_with_every_event() {
    let kept = run("ids-rotate-in-every-event.sse");
    assert_eq!(kept.visible(), "Reeds grow here.");
    assert_eq!(kept.thoughts(), ["**Looking at reeds**"]);
    assert_eq!(tool(&kept, "cut_reeds").2, r#"{"n":3}"#);
    assert_eq!((messages(&kept), tools(&kept).len()), (1, 1));
}

#[test]
fn an_item_is_known_by_its_id_where_it_has_no_index() {
    let kept = run("items-without-index-and-late-dones.sse");
    assert_eq!(kept.visible(), "Looking it up.\n");
    assert_eq!(kept.thoughts(), ["A frog asks.\n"]);
    assert_eq!(tool(&kept, "find_frog").2, r#"{"colour": "green"}"#);
    assert_eq!(kept.ending().stop, Some(Stop::Tools));
}

#[test]
fn deltas_that_name_no_item_are_of_the_one_that_is_open() {
    let kept = run("deltas-name-no-item.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("Still water.", 1));
}

#[test]
fn a_source_without_deltas_shows_its_text_once() {
    let kept = run("only-done-events.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("Four ducks. And a goose.", 1));
    assert_eq!(kept.thoughts(), ["Counting ducks"]);
    assert_eq!(tool(&kept, "feed").2, r#"{"bird":"goose"}"#);
}

#[test]
fn output_that_only_the_end_carries_is_shown() {
    let kept = run("only-the-end-carries-output.sse");
    assert_eq!(kept.visible(), "Still water.");
    let redacted = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert!(kept.events().any(redacted));
}

#[test]
fn parts_of_an_item_are_one_message_and_the_final_answer_is_the_reply() {
    let kept = run("phases-and-parts.sse");
    let phases: Vec<Option<Phase>> = kept
        .events()
        .filter_map(|event| match event {
            Event::MessageStarted { phase, .. } => Some(*phase),
            _ => None,
        })
        .collect();
    let (commentary, last) = (Some(Phase::Commentary), Some(Phase::Final));
    assert_eq!(phases, [commentary, last, commentary]);
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn a_done_text_that_differs_replaces_what_the_deltas_said_with_a_warning() {
    let kept = run("done-text-differs-from-deltas.sse");
    assert_eq!(kept.visible(), "The lake is frozen.");
    let warning =
        |event: &&Event<'_>| matches!(event, Event::NoticeGiven { level: Level::Warning, .. });
    assert_eq!(kept.events().filter(warning).count(), 1);
}

#[test]
fn a_done_text_that_goes_on_after_the_deltas_is_shown_to_its_end() {
    let kept = run("done-text-goes-on-after-deltas.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("The pond is frozen.", 1));
    let kept = run("done-events-each-longer-than-the-last.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("Hello, ünder the reeds", 1));
    assert_eq!(kept.thoughts(), ["Reeds and rushes"]);
    assert!(!kept.events().any(|event| matches!(event, Event::NoticeGiven { .. })));
}

#[test]
fn an_item_of_the_end_is_never_taken_for_one_of_another_type() {
    let kept = run("the-end-leaves-out-reasoning.sse");
    assert_eq!(kept.visible(), "Two herons.One boat.No ducks.");
    assert_eq!(
        (messages(&kept), kept.thoughts()),
        (3, vec![String::new(), "Counting".to_owned(), String::new()])
    );
}

fn late(kept: &Kept) -> usize {
    let is_late = |event: &&Event<'_>| {
        matches!(event, Event::Unrecognised { reason: UnrecognisedReason::Late, .. })
    };
    kept.events().filter(is_late).count()
}

#[test]
fn what_comes_after_the_end_of_its_item_is_kept_and_not_shown() {
    let kept = run("deltas-after-the-end-of-their-item.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept), late(&kept)), ("Still water.", 1, 3));
}

#[test]
fn an_event_sent_twice_is_shown_once_where_the_server_counts() {
    let kept = run("events-sent-twice.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept), late(&kept)), ("Ripples.", 1, 2));
    let kept = run("every-sequence-number-is-0.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept), late(&kept)), ("Ripples.", 1, 0));
}

#[test]
fn a_final_answer_that_is_named_at_its_end_is_the_reply() {
    let kept = run("phase-only-in-the-end-of-an-item.sse");
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
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("Still water.", 1));
}

#[test]
fn a_source_is_cited_once_whether_it_came_with_the_text_or_after_it() {
    let kept = run("search-and-sources.sse");
    let cited = |event: &&Event<'_>| matches!(event, Event::SourceCited { .. });
    assert_eq!(kept.events().filter(cited).count(), 2);
    let (kind, executor, _, _, outcome) = tool(&kept, "web_search");
    assert_eq!(kind, ToolKind::WebSearch);
    assert_eq!((executor, outcome), (Executor::Provider, ToolOutcome::Succeeded));
}

#[test]
fn a_refusal_is_shown_and_ends_the_run_as_refused() {
    let kept = run("refusal.sse");
    assert_eq!(kept.visible(), "I will not drain the pond.");
    assert_eq!(kept.ending().reason, Some(FailureReason::Refused));
}

#[test]
fn an_incomplete_response_was_cut_by_length_or_stopped_by_a_filter() {
    let length = run("cut-by-length.sse").ending().clone();
    assert_eq!((length.stop, length.incomplete), (Some(Stop::Length), true));
    assert_eq!(run("content-filter.sse").ending().reason, Some(FailureReason::Refused));
}

#[test]
fn the_first_words_about_a_failure_stand() {
    let kept = run("error-then-failed.sse");
    assert_eq!(kept.visible(), "Half a ");
    assert_eq!(kept.ending().detail.as_deref(), Some("The pond is empty."));
    let flat = run("flat-error.sse").ending().clone();
    assert_eq!(flat.detail.as_deref(), Some("The dam broke."));
    let whole = run("whole-reply-that-failed.json").ending().clone();
    assert_eq!(whole.detail.as_deref(), Some("The mill stopped."));
}

#[test]
fn a_stream_without_its_end_is_truncated_and_its_open_call_is_cut() {
    let kept = run("cut-stream.sse");
    assert_eq!(kept.visible(), "Water lilies ");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(tool(&kept, "pick").4, ToolOutcome::Cut);
    assert_eq!(run("cancelled.sse").ending().outcome, Outcome::Cancelled);
}

#[test]
fn a_stream_joined_in_its_middle_shows_what_was_missed_and_nothing_twice() {
    let kept = run("joined-in-the-middle.sse");
    assert_eq!(kept.visible(), "Early and late.More.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn a_response_sent_again_from_its_beginning_takes_back_its_first_half() {
    assert_eq!(run("stream-sent-again-from-its-beginning.sse").visible(), "Ripples");
}

#[test]
fn arguments_built_from_pieces_of_code_and_commands_are_json() {
    let kept = run("code-image-and-shell.sse");
    let code = tool(&kept, "code_interpreter");
    assert_eq!(code.2, r#"{"code":"print(\"2\n\")"}"#);
    assert_eq!(code.3, "2\n");
    let shell = tool(&kept, "shell");
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
    assert_eq!(kept.visible(), "A pond.");
    assert_eq!((kept.unrecognised(), kept.ending().outcome), (0, Outcome::Completed));
    assert!(kept.lines().len() < 1 << 14);
    assert!(kept.lines().contains("partial image"));
}

#[test]
fn random_padding_in_every_delta_means_nothing() {
    let kept = run("cut-by-length.sse");
    assert!(!kept.lines().contains("obfuscation"));
    assert_eq!(kept.unrecognised(), 0);
}

#[test]
fn an_mcp_approval_is_asked_for_and_a_list_without_its_own_end_gets_it_from_the_response() {
    let kept = run("mcp-and-approval.sse");
    let asked =
        |event: &Event<'_>| matches!(event, Event::AskOpened { ask, .. } if ask == "mcpr_1");
    assert!(kept.events().any(asked));
    assert_eq!(kept.ending().stop, Some(Stop::Paused));
    let outcomes: Vec<ToolOutcome> = tools(&kept).into_iter().map(|tool| tool.5).collect();
    let (well, badly) = (ToolOutcome::Succeeded, ToolOutcome::Failed);
    assert_eq!(outcomes, [well, well, badly]);
}

#[test]
fn tools_the_client_runs_are_left_to_it() {
    let kept = run("tools-the-client-runs.sse");
    assert_eq!(kept.ending().stop, Some(Stop::Tools));
    assert!(tools(&kept).iter().all(|tool| tool.2 == Executor::Client));
    let patch = tool(&kept, "apply_patch");
    assert_eq!(patch.0, ToolKind::Edit);
    assert_eq!(patch.2, r#"{"type":"create_file","path":"pond.md","diff":"+# Pond\n"}"#);
    assert_eq!(tool(&kept, "query").2, "FROM ponds");
}

#[test]
fn searches_that_xai_runs_itself_do_not_ask_for_tools() {
    let kept = run("searches-xai-runs-itself.sse");
    assert!(tools(&kept).iter().all(|tool| tool.2 == Executor::Provider));
    assert_eq!(kept.ending().stop, Some(Stop::End));
}

#[test]
fn a_program_is_answered_in_a_later_response_and_the_unknown_is_kept() {
    let kept = run("search-program-compaction-and-the-unknown.sse");
    assert_eq!(tool(&kept, "program").4, ToolOutcome::Succeeded);
    assert_eq!(tool(&kept, "tool_search").4, ToolOutcome::Succeeded);
    assert!(kept.events().any(|event| matches!(event, Event::HistoryCompacted { .. })));
    let unknown = |event: &&Event<'_>| {
        matches!(event, Event::Unrecognised { reason: UnrecognisedReason::Frame, .. })
    };
    assert_eq!(kept.events().filter(unknown).count(), 3);
    assert_eq!(kept.visible(), "Two fish.");
}

#[test]
fn the_output_of_a_program_that_was_called_elsewhere_is_a_step() {
    let kept = run("output-of-an-earlier-response.sse");
    assert_eq!(tool(&kept, "program").3, r#"{"fish":2}"#);
}

#[test]
fn reasoning_that_is_done_after_the_message_is_not_said_again() {
    let kept = run("reasoning-done-after-the-message.sse");
    assert_eq!(kept.thoughts(), ["Simple sum."]);
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("4", 1));
}

#[test]
fn what_comes_after_the_end_changes_nothing() {
    let kept = run("late-events-after-the-end.sse");
    assert_eq!((kept.visible().as_str(), kept.endings()), ("Done.", 1));
}

#[test]
fn a_whole_reply_is_read_like_a_stream() {
    let kept = run("whole-reply.json");
    assert_eq!(kept.visible(), "Carp live here.");
    assert_eq!(tool(&kept, "weigh").2, r#"{"fish":"carp"}"#);
    assert_eq!(kept.ending().stop, Some(Stop::Tools));
}

#[test]
fn a_spoken_reply_is_shown_by_its_transcript() {
    assert_eq!(run("spoken-reply.sse").visible(), "Quack quack.");
}

#[test]
fn messages_whose_deltas_come_in_turns_are_whole_and_keep_their_sources() {
    let kept = run("two-messages-at-once.sse");
    assert_eq!(kept.visible(), "Reeds and rushes.Two herons.");
    assert_eq!(kept.reply(), "Two herons.");
    let last = kept.ending().message;
    let cited = |event: &&Event<'_>| matches!(event, Event::SourceCited { message, .. } if Some(*message) == last);
    assert_eq!(kept.events().filter(cited).count(), 1);
}

#[test]
fn a_later_part_that_differs_leaves_the_parts_before_it() {
    let kept = run("second-part-differs-from-its-deltas.sse");
    assert_eq!((kept.visible().as_str(), messages(&kept)), ("First. Second <one>.", 1));
}

#[test]
fn a_safety_check_is_for_a_person_to_acknowledge() {
    let kept = run("tools-the-client-runs.sse");
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
