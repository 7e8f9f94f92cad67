//! The Responses API, read as its client reads it.

use engine::event::{FailureReason, Outcome, Stop};
use gateway::compat::openai_responses::{OpenAiResponses, Options};
use serde_json::Value;

use super::{Said, each_stream, encode, json, logs, rule, text};

#[derive(Default)]
struct Client {
    items: Vec<Item>,
    last: Option<Value>,
}

#[derive(Default)]
struct Item {
    id: String,
    has_part: bool,
    text: String,
    is_done: bool,
}

impl Client {
    fn read(payloads: &[String]) -> Result<Client, String> {
        let mut client = Client::default();
        for (number, payload) in payloads.iter().enumerate() {
            let event = json(payload)?;
            rule(event["sequence_number"] == number, || format!("{event} is not {number}"))?;
            let is_first = event["type"] == "response.created";
            rule(is_first == (number == 0), || format!("{event} at {number}"))?;
            client.event(&event)?;
        }
        Ok(client)
    }

    fn item(&mut self, event: &Value) -> Result<&mut Item, String> {
        let index = event["output_index"].as_u64().ok_or("no index")?;
        let item = self.items.get_mut(usize::try_from(index).unwrap()).ok_or("no such item")?;
        if let Some(id) = event["item_id"].as_str() {
            rule(id == item.id, || format!("{event} names another item"))?;
        }
        rule(!item.is_done, || format!("{event} after the item's end"))?;
        Ok(item)
    }

    fn event(&mut self, event: &Value) -> Result<(), String> {
        rule(self.last.is_none(), || format!("{event} after the end"))?;
        let kind = text(event, "type")?;
        match kind {
            "response.created" | "response.in_progress" => {
                rule(event["response"]["status"] == "in_progress", || "not in progress".into())
            }
            "response.output_item.added" => {
                let index = self.items.len();
                let id = text(&event["item"], "id")?.to_owned();
                rule(self.items.iter().all(|item| item.id != id), || format!("{id} twice"))?;
                self.items.push(Item { id, ..Item::default() });
                rule(event["output_index"] == index, || format!("{event} is not {index}"))
            }
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                self.item(event)?.has_part = true;
                Ok(())
            }
            "response.output_text.delta" | "response.reasoning_summary_text.delta" => {
                let item = self.item(event)?;
                item.text.push_str(text(event, "delta")?);
                rule(item.has_part, || format!("{event} without a part"))
            }
            "response.output_text.done" | "response.reasoning_summary_text.done" => {
                let whole = text(event, "text")?.to_owned();
                self.item(event)?.text = whole;
                Ok(())
            }
            "response.output_item.done" => {
                self.item(event)?.is_done = true;
                Ok(())
            }
            "response.output_text.annotation.added"
            | "response.content_part.done"
            | "response.reasoning_summary_part.done"
            | "response.function_call_arguments.delta"
            | "response.function_call_arguments.done" => self.item(event).map(|_| ()),
            "response.completed" | "response.incomplete" | "response.failed" => {
                rule(self.items.iter().all(|item| item.is_done), || "ends while open".into())?;
                let status = text(&event["response"], "status")?;
                rule(kind.ends_with(status), || format!("{kind} with status {status}"))?;
                self.last = Some(event["response"].clone());
                Ok(())
            }
            kind => Err(format!("unknown event {kind}")),
        }
    }
}

pub(crate) fn check(payloads: &[String], said: &Said) -> Result<(), String> {
    let client = Client::read(payloads)?;
    let last = client.last.ok_or("no ending")?;
    let refused = |reason| reason == Some(FailureReason::Refused);
    let expected = match &said.ending {
        Some(ending) if ending.outcome == Outcome::Completed => {
            if ending.stop == Some(Stop::Length) { "incomplete" } else { "completed" }
        }
        Some(ending) if refused(ending.reason) => "incomplete",
        _ => "failed",
    };
    rule(last["status"] == expected, || format!("ends as {last}"))?;
    rule(last["error"].is_object() == (expected == "failed"), || format!("error in {last}"))?;
    let output = last["output"].as_array().ok_or("no output")?.iter();
    let messages = output.filter(|item| item["type"] == "message");
    let texts: Vec<&str> = messages
        .filter_map(|item| item["content"][0]["text"].as_str())
        .filter(|text| !text.is_empty())
        .collect();
    rule(texts == said.texts(), || format!("{texts:?} for {:?}", said.texts()))?;
    for item in last["output"].as_array().into_iter().flatten() {
        let told = client.items.iter().find(|told| item["id"] == told.id.as_str());
        let told = told.ok_or_else(|| format!("{item} was never told"))?;
        let whole = [&item["content"][0]["text"], &item["summary"][0]["text"]];
        let whole = whole.into_iter().find_map(Value::as_str).unwrap_or_default();
        rule(told.text == whole, || format!("{:?} told of {item}", told.text))?;
    }
    Ok(())
}

fn responses() -> OpenAiResponses {
    OpenAiResponses::new(Options { model: "pond".to_owned(), ..Options::default() })
}

#[test]
fn every_stream_is_well_formed_and_says_what_the_log_says() {
    each_stream(&responses(), check);
}

#[test]
fn the_body_is_the_last_response() {
    for log in logs() {
        let payloads = encode(responses(), &log.records);
        let last = json(payloads.last().unwrap()).unwrap();
        let mut encoder = gateway::compat::Encoder::new(responses());
        assert_eq!(encoder.protocol().body(), None);
        for record in &log.records {
            encoder.push(record, &mut |_| {});
        }
        assert_eq!(json(encoder.protocol().body().unwrap()).unwrap(), last["response"]);
    }
}
