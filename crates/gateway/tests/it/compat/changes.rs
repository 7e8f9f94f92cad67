//! Sources that rewrite their text often: the cost stays linear, and the final text is correct.

use millpond_gateway::compat::Reasoning;
use millpond_gateway::compat::agui::{self, AgUi};
use millpond_gateway::compat::ai_sdk::{self, AiSdk, Version};
use millpond_gateway::compat::openai_chat::{self, OpenAiChat};
use millpond_gateway::compat::openai_responses::{self, OpenAiResponses};

use super::hiding::each_protocol;
use super::{NamedLog, check_each_prefix, log_from_events};

const START_EVENT: &str =
    r#"{"type":"run_started","version":1,"dialect":"made","mode":"cumulative"}"#;
const END_EVENT: &str =
    r#"{"type":"run_ended","outcome":"completed","stop":"end","reply":"none","incomplete":false}"#;

/// One message that grows by a word and then rewrites it, `times` over.
fn log_with_rewrites(rewrite_count: usize) -> NamedLog {
    let mut events =
        vec![START_EVENT.to_owned(), r#"{"type":"round_started","round":0}"#.to_owned()];
    events.push(r#"{"type":"message_started","message":0,"round":0}"#.to_owned());
    for turn in 0..rewrite_count {
        let kept_bytes = turn * 6;
        events.push(r#"{"type":"text_appended","message":0,"text":"wrong "}"#.to_owned());
        events.push(format!(
            r#"{{"type":"text_rewritten","message":0,"kept_bytes":{kept_bytes},"text":"right "}}"#
        ));
    }
    events.push(r#"{"type":"message_ended","message":0}"#.to_owned());
    events.push(r#"{"type":"round_ended","round":0}"#.to_owned());
    log_between_start_and_end(events)
}

/// A message that is withdrawn, `times` over.
fn log_with_withdrawals(withdrawal_count: usize) -> NamedLog {
    let mut events =
        vec![START_EVENT.to_owned(), r#"{"type":"round_started","round":0}"#.to_owned()];
    for message in 0..withdrawal_count {
        events.push(format!(r#"{{"type":"message_started","message":{message},"round":0}}"#));
        events.push(format!(r#"{{"type":"text_appended","message":{message},"text":"text"}}"#));
        events.push(format!(r#"{{"type":"message_ended","message":{message}}}"#));
        if message % 2 == 0 {
            events.push(format!(r#"{{"type":"withdrawn","messages":[{message}]}}"#));
        }
    }
    events.push(r#"{"type":"round_ended","round":0}"#.to_owned());
    log_between_start_and_end(events)
}

fn log_between_start_and_end(mut events: Vec<String>) -> NamedLog {
    events.push(END_EVENT.to_owned());
    log_from_events(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn stream_sizes(log: &NamedLog) -> Vec<usize> {
    let mut sizes = Vec::new();
    each_protocol(log, Reasoning::Show, |payloads| sizes.push(payloads.concat().len()));
    sizes
}

#[test]
fn twice_the_changes_cost_at_most_two_and_a_half_times() {
    for build_log in [log_with_rewrites, log_with_withdrawals] {
        let (sizes, doubled_sizes) = (stream_sizes(&build_log(400)), stream_sizes(&build_log(800)));
        for (size, doubled_size) in sizes.iter().zip(&doubled_sizes) {
            assert!(doubled_size * 2 <= size * 5, "{size} bytes became {doubled_size}");
        }
    }
}

#[test]
fn every_beginning_of_many_changes_ends_in_the_truth() {
    for log in [log_with_rewrites(40), log_with_withdrawals(40)] {
        for version in [Version::V6, Version::V7] {
            let options = ai_sdk::Options { version, ..ai_sdk::Options::default() };
            check_each_prefix(&AiSdk::new(options), &log, &|payloads, said| {
                super::ai_sdk::check(payloads, said, version)
            });
        }
        let agui = AgUi::new(agui::Options::default());
        check_each_prefix(&agui, &log, &super::agui::check);
        let chat = OpenAiChat::new(openai_chat::Options::default());
        check_each_prefix(&chat, &log, &super::chat::check);
        let responses = OpenAiResponses::new(openai_responses::Options::default());
        check_each_prefix(&responses, &log, &super::responses::check);
    }
}
