//! The Responses API, read as its client reads it.

use millpond_engine::event::{FailureReason, Outcome, StopReason};
use millpond_gateway::compat::openai_responses::{OpenAiResponses, Options};
use serde_json::Value;

use super::{
    ExpectedText, check_each_stream, encode_payloads, fixture_logs, parse_payload, require,
    string_member,
};

#[derive(Default)]
struct ResponsesClient {
    items: Vec<ClientItem>,
    last: Option<Value>,
}

#[derive(Default)]
struct ClientItem {
    id: String,
    has_part: bool,
    text: String,
    is_done: bool,
}

impl ResponsesClient {
    fn read_payloads(payloads: &[String]) -> Result<ResponsesClient, String> {
        let mut client = ResponsesClient::default();
        for (number, payload) in payloads.iter().enumerate() {
            let event = parse_payload(payload)?;
            require(event["sequence_number"] == number, || format!("{event} is not {number}"))?;
            let is_first = event["type"] == "response.created";
            require(is_first == (number == 0), || format!("{event} at {number}"))?;
            client.apply_event(&event)?;
        }
        Ok(client)
    }

    fn item_mut(&mut self, event: &Value) -> Result<&mut ClientItem, String> {
        let index = event["output_index"].as_u64().ok_or("no index")?;
        let item = self.items.get_mut(usize::try_from(index).unwrap()).ok_or("no such item")?;
        if let Some(id) = event["item_id"].as_str() {
            require(id == item.id, || format!("{event} names another item"))?;
        }
        require(!item.is_done, || format!("{event} after the item's end"))?;
        Ok(item)
    }

    fn apply_event(&mut self, event: &Value) -> Result<(), String> {
        require(self.last.is_none(), || format!("{event} after the end"))?;
        let kind = string_member(event, "type")?;
        match kind {
            "response.created" | "response.in_progress" => {
                require(event["response"]["status"] == "in_progress", || "not in progress".into())
            }
            "response.output_item.added" => {
                let index = self.items.len();
                let id = string_member(&event["item"], "id")?.to_owned();
                require(self.items.iter().all(|item| item.id != id), || format!("{id} twice"))?;
                self.items.push(ClientItem { id, ..ClientItem::default() });
                require(event["output_index"] == index, || format!("{event} is not {index}"))
            }
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                self.item_mut(event)?.has_part = true;
                Ok(())
            }
            "response.output_text.delta" | "response.reasoning_summary_text.delta" => {
                let item = self.item_mut(event)?;
                item.text.push_str(string_member(event, "delta")?);
                require(item.has_part, || format!("{event} without a part"))
            }
            "response.output_text.done" | "response.reasoning_summary_text.done" => {
                let full_text = string_member(event, "text")?.to_owned();
                self.item_mut(event)?.text = full_text;
                Ok(())
            }
            "response.output_item.done" => {
                self.item_mut(event)?.is_done = true;
                Ok(())
            }
            "response.output_text.annotation.added"
            | "response.content_part.done"
            | "response.reasoning_summary_part.done"
            | "response.function_call_arguments.delta"
            | "response.function_call_arguments.done" => self.item_mut(event).map(|_| ()),
            "response.completed" | "response.incomplete" | "response.failed" => {
                require(self.items.iter().all(|item| item.is_done), || "ends while open".into())?;
                let status = string_member(&event["response"], "status")?;
                require(kind.ends_with(status), || format!("{kind} with status {status}"))?;
                self.last = Some(event["response"].clone());
                Ok(())
            }
            kind => Err(format!("unknown event {kind}")),
        }
    }
}

pub(crate) fn check(payloads: &[String], expected_text: &ExpectedText) -> Result<(), String> {
    let client = ResponsesClient::read_payloads(payloads)?;
    let last = client.last.ok_or("no ending")?;
    let refused = |reason| reason == Some(FailureReason::Refused);
    let expected = match &expected_text.ending {
        Some(ending) if ending.outcome == Outcome::Completed => {
            if ending.stop == Some(StopReason::Length) { "incomplete" } else { "completed" }
        }
        Some(ending) if refused(ending.reason) => "incomplete",
        _ => "failed",
    };
    require(last["status"] == expected, || format!("ends as {last}"))?;
    require(last["error"].is_object() == (expected == "failed"), || format!("error in {last}"))?;
    let output = last["output"].as_array().ok_or("no output")?.iter();
    let messages = output.filter(|item| item["type"] == "message");
    let texts: Vec<&str> = messages
        .filter_map(|item| item["content"][0]["text"].as_str())
        .filter(|text| !text.is_empty())
        .collect();
    require(texts == expected_text.texts(), || {
        format!("{texts:?} for {:?}", expected_text.texts())
    })?;
    for item in last["output"].as_array().into_iter().flatten() {
        let sent_item = client.items.iter().find(|candidate| item["id"] == candidate.id.as_str());
        let sent_item = sent_item.ok_or_else(|| format!("{item} was never sent"))?;
        let texts_in_item = [&item["content"][0]["text"], &item["summary"][0]["text"]];
        let full_text = texts_in_item.into_iter().find_map(Value::as_str).unwrap_or_default();
        require(sent_item.text == full_text, || format!("{:?} told of {item}", sent_item.text))?;
    }
    Ok(())
}

fn responses_protocol() -> OpenAiResponses {
    OpenAiResponses::new(Options { model: "pond".to_owned(), ..Options::default() })
}

#[test]
fn every_stream_is_well_formed_and_says_what_the_log_says() {
    check_each_stream(&responses_protocol(), check);
}

#[test]
fn the_body_is_the_last_response() {
    for log in fixture_logs() {
        let payloads = encode_payloads(responses_protocol(), &log.records);
        let last = parse_payload(payloads.last().unwrap()).unwrap();
        let mut encoder = millpond_gateway::compat::Encoder::new(responses_protocol());
        assert_eq!(encoder.protocol().body(), None);
        for record in &log.records {
            encoder.push(record, &mut |_| {});
        }
        assert_eq!(parse_payload(encoder.protocol().body().unwrap()).unwrap(), last["response"]);
    }
}
