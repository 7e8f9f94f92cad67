//! A faulty provider in five APIs: each fault gives the right ending, within the timeouts, with all
//! text received.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use millpond_agent::model::ModelApi;
use millpond_agent::provider::{CallTimeouts, Provider};
use millpond_engine::event::{Event, FailureReason, Outcome, ToolOutcome};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::scripted_provider::{
    HTTP_OK_HEAD, LONG_TIMEOUTS, provider_at, provider_with_timeouts, read_request,
};
use crate::test_gateway::{
    TestGateway, all_message_text, demo_config, ending, sample_folder, tool_outcomes,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// An error status for the first calls, then a good reply.
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

/// Pause between two drips. No check depends on its length.
const DRIP_INTERVAL: Duration = Duration::from_millis(20);

impl Fault {
    /// Timeouts of a call with this fault: the one that must end it is short, all others are never
    /// reached.
    fn call_timeouts(self) -> CallTimeouts {
        match self {
            Fault::HangBeforeHeaders => {
                CallTimeouts { first_byte: Duration::from_millis(100), ..LONG_TIMEOUTS }
            }
            // Long enough for the text, which is there when the time begins.
            Fault::HangMidEvent => CallTimeouts { idle: Duration::from_secs(1), ..LONG_TIMEOUTS },
            Fault::Drip => CallTimeouts { total: Duration::from_secs(3), ..LONG_TIMEOUTS },
            _ => LONG_TIMEOUTS,
        }
    }
}

const PARTIAL_TEXT: &str = "Half of it";

/// The start of a reply.
fn partial_reply(wire: ModelApi) -> String {
    match wire {
        ModelApi::Chat => format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{PARTIAL_TEXT}\"}}}}]}}\n\n"
        ),
        ModelApi::Responses => format!(
            "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"id\":\"r\",\"status\":\"in_progress\"}}}}\n\n\
             event: response.output_item.added\ndata: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}}}\n\n\
             event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"{PARTIAL_TEXT}\"}}\n\n"
        ),
        ModelApi::Messages => format!(
            "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"h\",\"content\":[],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n\n\
             event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
             event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{PARTIAL_TEXT}\"}}}}\n\n"
        ),
        ModelApi::Gemini => format!(
            "data: {{\"candidates\":[{{\"index\":0,\"content\":{{\"role\":\"model\",\"parts\":[{{\"text\":\"{PARTIAL_TEXT}\"}}]}}}}]}}\n\n"
        ),
        ModelApi::Ollama => format!(
            "{{\"model\":\"h\",\"message\":{{\"role\":\"assistant\",\"content\":\"{PARTIAL_TEXT}\"}},\"done\":false}}\n"
        ),
    }
}

fn reply_end(wire: ModelApi) -> &'static str {
    match wire {
        ModelApi::Chat => {
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
        }
        ModelApi::Responses => {
            "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n"
        }
        ModelApi::Messages => {
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
             event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        }
        ModelApi::Gemini => {
            "data: {\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[]},\"finishReason\":\"STOP\"}]}\n\n"
        }
        ModelApi::Ollama => {
            "{\"model\":\"h\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"
        }
    }
}

fn error_frame(wire: ModelApi) -> &'static str {
    match wire {
        ModelApi::Chat => {
            "data: {\"error\":{\"message\":\"it broke\",\"type\":\"server_error\"}}\n\n"
        }
        ModelApi::Responses => {
            "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"it broke\"}\n\n"
        }
        ModelApi::Messages => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"it broke\"}}\n\n"
        }
        ModelApi::Gemini => {
            "data: {\"error\":{\"code\":500,\"message\":\"it broke\",\"status\":\"INTERNAL\"}}\n\n"
        }
        ModelApi::Ollama => "{\"error\":\"it broke\"}\n",
    }
}

/// A reply that calls a tool with these arguments.
fn tool_call_reply(wire: ModelApi, name: &str, arguments: &str) -> String {
    let text = serde_json::Value::from(arguments).to_string();
    match wire {
        ModelApi::Chat => format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"{name}\",\"arguments\":{text}}}}}]}}}}]}}\n\n\
             data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n"
        ),
        ModelApi::Responses => format!(
            "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"id\":\"r\",\"status\":\"in_progress\"}}}}\n\n\
             event: response.output_item.done\ndata: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c\",\"name\":\"{name}\",\"arguments\":{text}}}}}\n\n{}",
            reply_end(wire)
        ),
        ModelApi::Messages => format!(
            "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"h\",\"content\":[],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n\n\
             event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"{name}\",\"input\":{{}}}}}}\n\n\
             event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{text}}}}}\n\n\
             event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
             event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"tool_use\"}}}}\n\n\
             event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
        ),
        ModelApi::Gemini => format!(
            "data: {{\"candidates\":[{{\"index\":0,\"content\":{{\"role\":\"model\",\"parts\":[{{\"functionCall\":{{\"name\":\"{name}\",\"args\":{arguments}}}}}]}},\"finishReason\":\"STOP\"}}]}}\n\n"
        ),
        ModelApi::Ollama => format!(
            "{{\"model\":\"h\",\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"function\":{{\"name\":\"{name}\",\"arguments\":{arguments}}}}}]}},\"done\":false}}\n{}",
            reply_end(wire)
        ),
    }
}

#[allow(clippy::too_many_lines, reason = "one arm per fault")]
async fn serve_fault(
    mut stream: TcpStream,
    wire: ModelApi,
    fault: Fault,
    calls: usize,
    text_received: Arc<Notify>,
) -> Option<()> {
    read_request(&mut stream).await?;
    let mut send = async |text: &str| stream.write_all(text.as_bytes()).await.ok();
    let full_reply = partial_reply(wire) + reply_end(wire);
    match fault {
        Fault::Status(status, failure_count) if calls < failure_count => {
            let body = "{\"error\":{\"message\":\"not now\"}}";
            send(&format!(
                "HTTP/1.1 {status} No\r\nretry-after: 0\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            ))
            .await?;
        }
        Fault::HangBeforeHeaders => std::future::pending::<()>().await,
        Fault::HangMidEvent => {
            send(&(HTTP_OK_HEAD.to_owned() + &partial_reply(wire) + "data: {\"cho")).await?;
            std::future::pending::<()>().await;
        }
        Fault::ResetMidLine => {
            send(&(HTTP_OK_HEAD.to_owned() + &partial_reply(wire) + "data: {\"cho")).await?;
            // A reset also drops what has arrived and is not read yet.
            text_received.notified().await;
            // Connection reset, as after a crash of the server.
            return stream.set_zero_linger().ok();
        }
        Fault::Garbage => {
            let random_bytes: String =
                (0..2000_u32).map(|n| char::from_u32(n * 7 % 255 + 1).unwrap_or('x')).collect();
            send(&(HTTP_OK_HEAD.to_owned() + &random_bytes)).await?;
        }
        Fault::Html => {
            send("HTTP/1.1 200 HTTP_OK_HEAD\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<!doctype html><html><body>Log in</body></html>\n").await?;
        }
        Fault::EndlessLine => {
            send(&(HTTP_OK_HEAD.to_owned() + &partial_reply(wire) + "data: {\"x\":\"")).await?;
            let piece = "x".repeat(1 << 20);
            loop {
                send(&piece).await?;
            }
        }
        Fault::Drip => {
            send(&(HTTP_OK_HEAD.to_owned() + &partial_reply(wire))).await?;
            loop {
                send(if wire == ModelApi::Ollama { "\n" } else { ":\n\n" }).await?;
                tokio::time::sleep(DRIP_INTERVAL).await;
            }
        }
        Fault::ErrorAfterText => {
            send(&(HTTP_OK_HEAD.to_owned() + &partial_reply(wire) + error_frame(wire))).await?;
        }
        Fault::NoEnd => send(&(HTTP_OK_HEAD.to_owned() + &partial_reply(wire))).await?,
        Fault::TwoEndings => {
            send(&(HTTP_OK_HEAD.to_owned() + &full_reply + reply_end(wire))).await?;
        }
        Fault::LongArguments if calls == 0 => {
            let arguments = format!("{{\"path\":\"{}\"}}", "x".repeat(10 << 20));
            send(&(HTTP_OK_HEAD.to_owned() + &tool_call_reply(wire, "read_file", &arguments)))
                .await?;
        }
        Fault::Status(..) | Fault::Refused | Fault::LongArguments => {
            send(&(HTTP_OK_HEAD.to_owned() + &full_reply)).await?;
        }
    }
    stream.shutdown().await.ok()
}

/// Serves a fault on a free port. `text_received` says that the log has the text.
async fn faulty_provider(wire: ModelApi, fault: Fault, text_received: Arc<Notify>) -> Provider {
    let timeouts = fault.call_timeouts();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    if fault == Fault::Refused {
        drop(listener);
        return provider_with_timeouts(wire, &address, timeouts);
    }
    let calls = Arc::new(AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let calls_before = calls.fetch_add(1, Ordering::Relaxed);
            let text_received = Arc::clone(&text_received);
            tokio::spawn(serve_fault(stream, wire, fault, calls_before, text_received));
        }
    });
    provider_with_timeouts(wire, &address, timeouts)
}

/// A model that first makes this call, and then ends.
pub(crate) fn provider_with_tool_call(name: &'static str, arguments: &'static str) -> Provider {
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
            let wire = ModelApi::Chat;
            let text = if calls == 0 {
                tool_call_reply(wire, name, arguments)
            } else {
                partial_reply(wire) + reply_end(wire)
            };
            calls += 1;
            let _gone = stream.write_all((HTTP_OK_HEAD.to_owned() + &text).as_bytes()).await;
        }
    });
    provider_at(ModelApi::Chat, &address)
}

async fn run_with_fault(wire: ModelApi, fault: Fault) -> Vec<Event<'static>> {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let mut config = demo_config(folder.path());
    let text_received = Arc::new(Notify::new());
    config.provider = faulty_provider(wire, fault, Arc::clone(&text_received)).await;
    config.dialect = wire.dialect();
    let gateway = TestGateway::new(data.path(), config).await;
    let run = gateway.send("How deep is it?").await;
    if fault == Fault::ResetMidLine {
        gateway.events_until(run, |event| matches!(event, Event::TextAppended { .. })).await;
        text_received.notify_one();
    }
    gateway.events_to_end(run).await
}

fn retry_count(events: &[Event<'static>]) -> usize {
    events.iter().filter(|event| matches!(event, Event::RetryScheduled { .. })).count()
}

/// Checks the ending, the reason, the text and the number of retries of a fault, in every API.
async fn check(
    fault: Fault,
    (outcome, reason): (Outcome, Option<FailureReason>),
    text: &str,
    expected_retries: usize,
) {
    for wire in ModelApi::ALL {
        let events = run_with_fault(wire, fault).await;
        let ending = ending(&events);
        let context = format!("{} {fault:?}: {ending:?}", wire.as_str());
        assert_eq!((ending.outcome, ending.reason), (outcome, reason), "{context}");
        assert_eq!(all_message_text(&events), text, "{context}");
        assert_eq!(retry_count(&events), expected_retries, "{context}");
    }
}

const COMPLETED: (Outcome, Option<FailureReason>) = (Outcome::Completed, None);
const FAILED: (Outcome, Option<FailureReason>) = (Outcome::Failed, Some(FailureReason::Error));

#[tokio::test(flavor = "multi_thread")]
async fn what_may_pass_is_tried_again_and_told() {
    for status in [429, 500, 529] {
        check(Fault::Status(status, 2), COMPLETED, PARTIAL_TEXT, 2).await;
    }
    check(Fault::Status(503, 99), FAILED, "", 3).await;
    check(Fault::Refused, FAILED, "", 3).await;
    check(Fault::HangBeforeHeaders, FAILED, "", 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_pass_is_not() {
    check(Fault::Status(401, 99), FAILED, "", 0).await;
    let events = run_with_fault(ModelApi::Chat, Fault::Status(401, 99)).await;
    let detail = ending(&events).detail.as_deref().unwrap_or_default();
    assert_eq!(detail, "the model's server answered 401 Unauthorized: not now");
    check(Fault::Garbage, FAILED, "", 0).await;
    check(Fault::Html, FAILED, "", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x8_what_was_said_before_it_went_wrong_is_kept() {
    check(Fault::HangMidEvent, (Outcome::Stalled, None), PARTIAL_TEXT, 0).await;
    check(Fault::ResetMidLine, FAILED, PARTIAL_TEXT, 0).await;
    check(Fault::Drip, (Outcome::Stalled, None), PARTIAL_TEXT, 0).await;
    check(Fault::ErrorAfterText, FAILED, PARTIAL_TEXT, 0).await;
    check(Fault::NoEnd, (Outcome::Truncated, None), PARTIAL_TEXT, 0).await;
    check(Fault::TwoEndings, COMPLETED, PARTIAL_TEXT, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x14_what_never_ends_is_ended() {
    check(Fault::EndlessLine, (Outcome::Failed, Some(FailureReason::Limit)), PARTIAL_TEXT, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_of_megabytes_are_a_call_that_fails() {
    for wire in ModelApi::ALL {
        let events = run_with_fault(wire, Fault::LongArguments).await;
        assert_eq!(tool_outcomes(&events), [ToolOutcome::Failed], "{}", wire.as_str());
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{}", wire.as_str());
    }
}
