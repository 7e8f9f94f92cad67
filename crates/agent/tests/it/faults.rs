//! A provider that does everything wrong that providers do, in five protocols: the right ending,
//! within the time limits, with all text that came.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent::model::Wire;
use agent::provider::Provider;
use engine::event::{Event, FailureReason, Outcome, ToolOutcome};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::house::{House, demo, ending, folder, outcomes, said};
use crate::scripted::{OK, provider, read_request};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// For the first calls; then all is well.
    Status(u16, usize),
    Refused,
    HangBeforeHeaders,
    HangMidEvent,
    ResetMidLine,
    Garbage,
    Html,
    EndlessLine,
    Drip,
    ErrorAfterText,
    NoEnd,
    TwoEndings,
    LongArguments,
}

const HALF: &str = "Half of it";

/// A reply that begins and goes on.
fn half(wire: Wire) -> String {
    match wire {
        Wire::Chat => format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{HALF}\"}}}}]}}\n\n"
        ),
        Wire::Responses => format!(
            "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"id\":\"r\",\"status\":\"in_progress\"}}}}\n\n\
             event: response.output_item.added\ndata: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}}}\n\n\
             event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"{HALF}\"}}\n\n"
        ),
        Wire::Messages => format!(
            "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"h\",\"content\":[],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n\n\
             event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
             event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{HALF}\"}}}}\n\n"
        ),
        Wire::Gemini => format!(
            "data: {{\"candidates\":[{{\"index\":0,\"content\":{{\"role\":\"model\",\"parts\":[{{\"text\":\"{HALF}\"}}]}}}}]}}\n\n"
        ),
        Wire::Ollama => format!(
            "{{\"model\":\"h\",\"message\":{{\"role\":\"assistant\",\"content\":\"{HALF}\"}},\"done\":false}}\n"
        ),
    }
}

fn end(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => {
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
        }
        Wire::Responses => {
            "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n"
        }
        Wire::Messages => {
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
             event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        }
        Wire::Gemini => {
            "data: {\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[]},\"finishReason\":\"STOP\"}]}\n\n"
        }
        Wire::Ollama => {
            "{\"model\":\"h\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"
        }
    }
}

fn error(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => "data: {\"error\":{\"message\":\"it broke\",\"type\":\"server_error\"}}\n\n",
        Wire::Responses => {
            "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"it broke\"}\n\n"
        }
        Wire::Messages => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"it broke\"}}\n\n"
        }
        Wire::Gemini => {
            "data: {\"error\":{\"code\":500,\"message\":\"it broke\",\"status\":\"INTERNAL\"}}\n\n"
        }
        Wire::Ollama => "{\"error\":\"it broke\"}\n",
    }
}

/// A reply that calls a tool with these arguments.
fn call(wire: Wire, name: &str, arguments: &str) -> String {
    let text = serde_json::Value::from(arguments).to_string();
    match wire {
        Wire::Chat => format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"{name}\",\"arguments\":{text}}}}}]}}}}]}}\n\n\
             data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n"
        ),
        Wire::Responses => format!(
            "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"id\":\"r\",\"status\":\"in_progress\"}}}}\n\n\
             event: response.output_item.done\ndata: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c\",\"name\":\"{name}\",\"arguments\":{text}}}}}\n\n{}",
            end(wire)
        ),
        Wire::Messages => format!(
            "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"h\",\"content\":[],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n\n\
             event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"{name}\",\"input\":{{}}}}}}\n\n\
             event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{text}}}}}\n\n\
             event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
             event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"tool_use\"}}}}\n\n\
             event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
        ),
        Wire::Gemini => format!(
            "data: {{\"candidates\":[{{\"index\":0,\"content\":{{\"role\":\"model\",\"parts\":[{{\"functionCall\":{{\"name\":\"{name}\",\"args\":{arguments}}}}}]}},\"finishReason\":\"STOP\"}}]}}\n\n"
        ),
        Wire::Ollama => format!(
            "{{\"model\":\"h\",\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"function\":{{\"name\":\"{name}\",\"arguments\":{arguments}}}}}]}},\"done\":false}}\n{}",
            end(wire)
        ),
    }
}

async fn serve(mut stream: TcpStream, wire: Wire, fault: Fault, calls: usize) -> Option<()> {
    read_request(&mut stream).await?;
    let mut send = async |text: &str| stream.write_all(text.as_bytes()).await.ok();
    let whole = half(wire) + end(wire);
    match fault {
        Fault::Status(status, times) if calls < times => {
            let body = "{\"error\":{\"message\":\"not now\"}}";
            send(&format!(
                "HTTP/1.1 {status} No\r\nretry-after: 0\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            ))
            .await?;
        }
        Fault::HangBeforeHeaders => std::future::pending::<()>().await,
        Fault::HangMidEvent => {
            send(&(OK.to_owned() + &half(wire) + "data: {\"cho")).await?;
            std::future::pending::<()>().await;
        }
        Fault::ResetMidLine => {
            send(&(OK.to_owned() + &half(wire) + "data: {\"cho")).await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
            // Closed without an end, as by a machine that went down.
            return stream.set_zero_linger().ok();
        }
        Fault::Garbage => {
            let noise: String =
                (0..2000_u32).map(|n| char::from_u32(n * 7 % 255 + 1).unwrap_or('x')).collect();
            send(&(OK.to_owned() + &noise)).await?;
        }
        Fault::Html => {
            send("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<!doctype html><html><body>Log in</body></html>\n").await?;
        }
        Fault::EndlessLine => {
            send(&(OK.to_owned() + &half(wire) + "data: {\"x\":\"")).await?;
            let piece = "x".repeat(1 << 20);
            loop {
                send(&piece).await?;
            }
        }
        Fault::Drip => {
            send(&(OK.to_owned() + &half(wire))).await?;
            loop {
                send(if wire == Wire::Ollama { "\n" } else { ":\n\n" }).await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Fault::ErrorAfterText => send(&(OK.to_owned() + &half(wire) + error(wire))).await?,
        Fault::NoEnd => send(&(OK.to_owned() + &half(wire))).await?,
        Fault::TwoEndings => send(&(OK.to_owned() + &whole + end(wire))).await?,
        Fault::LongArguments if calls == 0 => {
            let arguments = format!("{{\"path\":\"{}\"}}", "x".repeat(10 << 20));
            send(&(OK.to_owned() + &call(wire, "read_file", &arguments))).await?;
        }
        Fault::Status(..) | Fault::Refused | Fault::LongArguments => {
            send(&(OK.to_owned() + &whole)).await?;
        }
    }
    stream.shutdown().await.ok()
}

/// Serves a fault on a port of its own.
async fn faulty(wire: Wire, fault: Fault) -> Provider {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    if fault == Fault::Refused {
        drop(listener);
        return provider(wire, &address);
    }
    let calls = Arc::new(AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let before = calls.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(serve(stream, wire, fault, before));
        }
    });
    provider(wire, &address)
}

/// A model that first makes this call, and then has nothing more to say.
pub(crate) fn scripted_call(name: &'static str, arguments: &'static str) -> Provider {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let listener = TcpListener::from_std(listener).unwrap();
        let mut calls = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            if read_request(&mut stream).await.is_none() {
                continue;
            }
            let wire = Wire::Chat;
            let text =
                if calls == 0 { call(wire, name, arguments) } else { half(wire) + end(wire) };
            calls += 1;
            let _gone = stream.write_all((OK.to_owned() + &text).as_bytes()).await;
        }
    });
    provider(Wire::Chat, &address)
}

async fn meet(wire: Wire, fault: Fault) -> Vec<Event<'static>> {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let mut setup = demo(folder.path());
    setup.provider = faulty(wire, fault).await;
    setup.dialect = wire.dialect();
    let house = House::new(data.path(), setup).await;
    house.ask("How deep is it?").await
}

fn retries(events: &[Event<'static>]) -> usize {
    events.iter().filter(|event| matches!(event, Event::RetryScheduled { .. })).count()
}

/// What has to come of a fault: the ending, the reason, the text, and how often it is tried again.
async fn check(
    fault: Fault,
    (outcome, reason): (Outcome, Option<FailureReason>),
    text: &str,
    tried_again: usize,
) {
    for wire in Wire::ALL {
        let events = meet(wire, fault).await;
        let ending = ending(&events);
        let place = format!("{} {fault:?}: {ending:?}", wire.as_str());
        assert_eq!((ending.outcome, ending.reason), (outcome, reason), "{place}");
        assert_eq!(said(&events), text, "{place}");
        assert_eq!(retries(&events), tried_again, "{place}");
    }
}

const DONE: (Outcome, Option<FailureReason>) = (Outcome::Completed, None);
const FAILED: (Outcome, Option<FailureReason>) = (Outcome::Failed, Some(FailureReason::Error));

#[tokio::test(flavor = "multi_thread")]
async fn what_may_pass_is_tried_again_and_told() {
    for status in [429, 500, 529] {
        check(Fault::Status(status, 2), DONE, HALF, 2).await;
    }
    check(Fault::Status(503, 99), FAILED, "", 3).await;
    check(Fault::Refused, FAILED, "", 3).await;
    check(Fault::HangBeforeHeaders, FAILED, "", 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_pass_is_not() {
    check(Fault::Status(401, 99), FAILED, "", 0).await;
    let events = meet(Wire::Chat, Fault::Status(401, 99)).await;
    let detail = ending(&events).detail.as_deref().unwrap_or_default();
    assert_eq!(detail, "the model's server answered 401 Unauthorized: not now");
    check(Fault::Garbage, FAILED, "", 0).await;
    check(Fault::Html, FAILED, "", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x8_what_was_said_before_it_went_wrong_is_kept() {
    check(Fault::HangMidEvent, (Outcome::Stalled, None), HALF, 0).await;
    check(Fault::ResetMidLine, FAILED, HALF, 0).await;
    check(Fault::Drip, (Outcome::Stalled, None), HALF, 0).await;
    check(Fault::ErrorAfterText, FAILED, HALF, 0).await;
    check(Fault::NoEnd, (Outcome::Truncated, None), HALF, 0).await;
    check(Fault::TwoEndings, DONE, HALF, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x14_what_never_ends_is_ended() {
    check(Fault::EndlessLine, (Outcome::Failed, Some(FailureReason::Limit)), HALF, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_of_megabytes_are_a_call_that_fails() {
    for wire in Wire::ALL {
        let events = meet(wire, Fault::LongArguments).await;
        assert_eq!(outcomes(&events), [ToolOutcome::Failed], "{}", wire.as_str());
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{}", wire.as_str());
    }
}
