//! Chat completions, streamed and whole.

use millpond_engine::event::{FailureReason, Outcome, StopReason};
use millpond_gateway::compat::openai_chat::body::OpenAiChatBody;
use millpond_gateway::compat::openai_chat::{Content, IncludeUsage, OpenAiChat, Options};
use serde_json::Value;

use super::{
    ExpectedText, check_each_stream, encode_payloads, fixture_logs, log_from_events, parse_payload,
    require, string_member,
};

#[derive(Default)]
struct ChatClient {
    content: String,
    calls: usize,
    finish_reason: Option<String>,
    truth: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

impl ChatClient {
    fn read_payloads(payloads: &[String]) -> Result<ChatClient, String> {
        let (last, chunks) = payloads.split_last().ok_or("nothing")?;
        require(last == "[DONE]", || format!("ends with {last}"))?;
        let mut client = ChatClient::default();
        for payload in chunks {
            client.apply_chunk(&parse_payload(payload)?)?;
        }
        Ok(client)
    }

    fn apply_chunk(&mut self, chunk: &Value) -> Result<(), String> {
        require(self.error.is_none() && self.usage.is_none(), || format!("{chunk} after the end"))?;
        if chunk["error"].is_object() {
            require(self.finish_reason.is_none(), || "both finished and failed".into())?;
            self.error = Some(chunk["error"].clone());
            return Ok(());
        }
        require(chunk["object"] == "chat.completion.chunk", || format!("no chunk: {chunk}"))?;
        if let Some(content) = chunk["millpond"]["content"].as_str() {
            self.truth = Some(content.to_owned());
        }
        let Some(choice) = chunk["choices"].get(0) else {
            require(self.finish_reason.is_some(), || "usage before the end".into())?;
            self.usage = Some(chunk["usage"].clone());
            return Ok(());
        };
        require(self.finish_reason.is_none(), || format!("{chunk} after the end"))?;
        let delta = &choice["delta"];
        self.content.push_str(delta["content"].as_str().unwrap_or_default());
        self.calls += delta["tool_calls"].as_array().map_or(0, Vec::len);
        self.finish_reason = choice["finish_reason"].as_str().map(str::to_owned);
        Ok(())
    }
}

fn expected_reason(expected_text: &ExpectedText) -> Option<&'static str> {
    let ending = expected_text.ending.as_ref()?;
    match (ending.outcome, ending.stop) {
        (Outcome::Completed, Some(StopReason::Length)) => Some("length"),
        (Outcome::Completed, _) => Some("stop"),
        _ if ending.reason == Some(FailureReason::Refused) => Some("content_filter"),
        _ => None,
    }
}

pub(crate) fn check(payloads: &[String], expected_text: &ExpectedText) -> Result<(), String> {
    let client = ChatClient::read_payloads(payloads)?;
    let reason = client.finish_reason.as_deref();
    let expected = expected_reason(expected_text);
    let asks = client.calls > 0;
    let is_right = if asks { reason == Some("tool_calls") } else { reason == expected };
    require(is_right, || format!("finished as {reason:?}, not {expected:?}"))?;
    require(client.error.is_some() == expected.is_none(), || "neither finished nor failed".into())?;
    if !expected_text.is_changed {
        let joined_text = expected_text.texts().join("\n\n");
        return require(client.content == joined_text, || {
            format!("{:?} for {joined_text:?}", client.content)
        });
    }
    let is_corrected = client.truth.map(|content| content == expected_text.texts().join("\n\n"));
    require(client.error.is_some() || is_corrected == Some(true), || "the truth is not told".into())
}

fn chat_protocol(content: Content) -> OpenAiChat {
    let usage = IncludeUsage::Yes;
    OpenAiChat::new(Options { model: "pond".to_owned(), content, usage, ..Options::default() })
}

#[test]
fn every_stream_is_well_formed_and_says_what_the_log_says() {
    check_each_stream(&chat_protocol(Content::All), check);
}

#[test]
fn only_the_final_message_is_sent_where_that_is_asked_for() {
    check_each_stream(&chat_protocol(Content::Final), |payloads, expected_text| {
        let client = ChatClient::read_payloads(payloads)?;
        let reply =
            if client.error.is_some() { "" } else { expected_text.reply().unwrap_or_default() };
        require(client.content == reply, || format!("{:?} for {reply:?}", client.content))
    });
}

#[test]
fn a_whole_body_says_what_stands() {
    for log in fixture_logs() {
        let expected_text = ExpectedText::from_records(&log.records);
        let payloads = encode_payloads(OpenAiChatBody::new(Options::default()), &log.records);
        assert_eq!(payloads.len(), 1, "{}", log.name);
        let body = parse_payload(&payloads[0]).unwrap();
        let Some(reason) = expected_reason(&expected_text) else {
            assert!(string_member(&body["error"], "message").is_ok(), "{}: {body}", log.name);
            continue;
        };
        let message = &body["choices"][0]["message"];
        let content = message["content"].as_str().unwrap_or_default();
        assert_eq!(content, expected_text.texts().join("\n\n"), "{}", log.name);
        let finish_reason = body["choices"][0]["finish_reason"].as_str().unwrap();
        let asks = message["tool_calls"].is_array();
        assert_eq!(finish_reason, if asks { "tool_calls" } else { reason }, "{}", log.name);
    }
}

#[test]
fn only_calls_that_nobody_ran_are_the_clients() {
    let tool = |step: u32, call: &str, outcome: &str| {
        [
            format!(
                r#"{{"type":"tool_started","step":{step},"round":0,"call":"{call}","name":"n","kind":"function","executor":"client"}}"#
            ),
            format!(r#"{{"type":"arguments_appended","step":{step},"text":"{{}}"}}"#),
            format!(r#"{{"type":"tool_ready","step":{step}}}"#),
            format!(r#"{{"type":"tool_ended","step":{step},"outcome":"{outcome}"}}"#),
        ]
    };
    let mut events = vec![
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#.to_owned(),
    ];
    events.extend(tool(0, "ran", "succeeded"));
    events.extend(tool(1, "left", "no_result"));
    events.push(
        r#"{"type":"run_ended","outcome":"completed","stop":"tools","reply":"none","incomplete":false}"#
            .to_owned(),
    );
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let payloads = encode_payloads(chat_protocol(Content::All), &log_from_events(&events).records);
    assert!(!payloads.concat().contains("\"ran\""));
    let client = ChatClient::read_payloads(&payloads).unwrap();
    assert_eq!((client.calls, client.finish_reason.as_deref()), (1, Some("tool_calls")));
}

#[test]
fn usage_is_the_last_chunk_and_the_sum_of_the_rounds() {
    let log = log_from_events(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"round_started","round":0}"#,
        r#"{"type":"usage_reported","scope":"round","input_tokens":1,"output_tokens":1}"#,
        r#"{"type":"usage_reported","scope":"round","output_tokens":5}"#,
        r#"{"type":"round_ended","round":0}"#,
        r#"{"type":"round_started","round":1}"#,
        r#"{"type":"usage_reported","scope":"round","input_tokens":10,"output_tokens":20}"#,
        r#"{"type":"round_ended","round":1}"#,
        r#"{"type":"run_ended","outcome":"completed","stop":"end","reply":"none","incomplete":false}"#,
    ]);
    let usage =
        ChatClient::read_payloads(&encode_payloads(chat_protocol(Content::All), &log.records))
            .unwrap()
            .usage
            .unwrap();
    assert_eq!((&usage["prompt_tokens"], &usage["total_tokens"]), (&11.into(), &36.into()));
}
