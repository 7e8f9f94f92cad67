//! Sources that keep changing their mind cost no more than their length, and end in the truth.

use gateway::compat::Reasoning;
use gateway::compat::agui::{self, AgUi};
use gateway::compat::ai_sdk::{self, AiSdk, Version};
use gateway::compat::openai_chat::{self, OpenAiChat};
use gateway::compat::openai_responses::{self, OpenAiResponses};

use super::hiding::each_protocol;
use super::{Log, each_beginning, log};

const START: &str = r#"{"type":"run_started","version":1,"dialect":"made","mode":"cumulative"}"#;
const END: &str =
    r#"{"type":"run_ended","outcome":"completed","stop":"end","reply":"none","incomplete":false}"#;

/// One message that grows by a word and then changes it, `times` over.
fn rewritten(times: usize) -> Log {
    let mut events = vec![START.to_owned(), r#"{"type":"round_started","round":0}"#.to_owned()];
    events.push(r#"{"type":"message_started","message":0,"round":0}"#.to_owned());
    for turn in 0..times {
        let kept = turn * 6;
        events.push(r#"{"type":"text_appended","message":0,"text":"wrong "}"#.to_owned());
        events.push(format!(
            r#"{{"type":"text_rewritten","message":0,"kept_bytes":{kept},"text":"right "}}"#
        ));
    }
    events.push(r#"{"type":"message_ended","message":0}"#.to_owned());
    events.push(r#"{"type":"round_ended","round":0}"#.to_owned());
    made(events)
}

/// A message that is taken back, `times` over.
fn withdrawn(times: usize) -> Log {
    let mut events = vec![START.to_owned(), r#"{"type":"round_started","round":0}"#.to_owned()];
    for message in 0..times {
        events.push(format!(r#"{{"type":"message_started","message":{message},"round":0}}"#));
        events.push(format!(r#"{{"type":"text_appended","message":{message},"text":"text"}}"#));
        events.push(format!(r#"{{"type":"message_ended","message":{message}}}"#));
        if message % 2 == 0 {
            events.push(format!(r#"{{"type":"withdrawn","messages":[{message}]}}"#));
        }
    }
    events.push(r#"{"type":"round_ended","round":0}"#.to_owned());
    made(events)
}

fn made(mut events: Vec<String>) -> Log {
    events.push(END.to_owned());
    log(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn sizes(log: &Log) -> Vec<usize> {
    let mut sizes = Vec::new();
    each_protocol(log, Reasoning::Show, |payloads| sizes.push(payloads.concat().len()));
    sizes
}

#[test]
fn twice_the_changes_cost_at_most_two_and_a_half_times() {
    for make in [rewritten, withdrawn] {
        let (once, twice) = (sizes(&make(400)), sizes(&make(800)));
        for (once, twice) in once.iter().zip(&twice) {
            assert!(twice * 2 <= once * 5, "{once} bytes became {twice}");
        }
    }
}

#[test]
fn every_beginning_of_many_changes_ends_in_the_truth() {
    for log in [rewritten(40), withdrawn(40)] {
        for version in [Version::V6, Version::V7] {
            let options = ai_sdk::Options { version, ..ai_sdk::Options::default() };
            each_beginning(&AiSdk::new(options), &log, &|payloads, said| {
                super::ai_sdk::check(payloads, said, version)
            });
        }
        let agui = AgUi::new(agui::Options::default());
        each_beginning(&agui, &log, &super::agui::check);
        let chat = OpenAiChat::new(openai_chat::Options::default());
        each_beginning(&chat, &log, &super::chat::check);
        let responses = OpenAiResponses::new(openai_responses::Options::default());
        each_beginning(&responses, &log, &super::responses::check);
    }
}
