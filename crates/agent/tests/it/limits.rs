//! Limits of a run and a session: budget and context window.

use millpond_agent::agent_loop::ModelAgentConfig;
use millpond_agent::model::{ModelApi, Price, TokenRates};
use millpond_agent::policy::ToolPolicy;
use millpond_engine::event::{Event, FailureReason, Outcome};
use millpond_log::runs::AnswerResult;

use crate::scripted_provider::{ScriptedReply, serve_replies};
use crate::test_gateway::{TestGateway, demo_config, ending, final_message_text, sample_folder};

fn config_with_provider(
    folder: &std::path::Path,
    provider: millpond_agent::provider::Provider,
) -> ModelAgentConfig {
    let mut config = demo_config(folder);
    config.provider = provider;
    config.dialect = ModelApi::Chat.dialect();
    config.policies.0.insert("list_files".to_owned(), ToolPolicy::Allow);
    // A dollar for each call of a thousand tokens.
    let price = Price { input: 1000.0, output: 0.0, cached: None };
    config.rates = TokenRates::for_api(ModelApi::Chat, Some(price));
    config
}

const LOOK_REPLY: ScriptedReply =
    ScriptedReply { text: "Looking.", call: Some(("list_files", "{}")), input_tokens: 1000 };
const DONE_REPLY: ScriptedReply =
    ScriptedReply { text: "That is all.", call: None, input_tokens: 1000 };

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_asked_about_before_it_is_passed_and_over_a_restart() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let (provider, requests) =
        serve_replies(vec![LOOK_REPLY, LOOK_REPLY, LOOK_REPLY, DONE_REPLY]).await;
    let mut config = config_with_provider(folder.path(), provider);
    config.limits.budget_usd = Some(2.5);
    let gateway = TestGateway::new(data.path(), config.clone()).await;
    let run = gateway.send("look around").await;
    let ask = gateway.wait_for_ask(run).await;
    assert_eq!(requests.lock().unwrap().len(), 2, "the third call would pass it");
    let events = gateway.events(run).await;
    let Some(Event::AskOpened { text, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(text, "This session has cost $2.0000. Continuing may exceed its budget of $2.5000.");
    let gateway = gateway.restart(config).await;
    assert_eq!(gateway.answer(run, &ask, "allow").await, Some(AnswerResult::UnknownOption));
    assert_eq!(gateway.answer(run, &ask, "go_on").await, Some(AnswerResult::Accepted));
    let events = gateway.events_to_end(run).await;
    assert_eq!(
        (ending(&events).outcome, final_message_text(&events)),
        (Outcome::Completed, DONE_REPLY.text.into())
    );

    // Four of five dollars are spent: the next message is within the budget, the one after is not.
    gateway.send_and_wait_for_end("and again").await;
    let run = gateway.send("once more").await;
    let ask = gateway.wait_for_ask(run).await;
    assert_eq!(gateway.answer(run, &ask, "stop").await, Some(AnswerResult::Accepted));
    let events = gateway.events_to_end(run).await;
    let ending = ending(&events);
    assert_eq!((ending.outcome, ending.reason), (Outcome::Failed, Some(FailureReason::Limit)));
    assert_eq!(requests.lock().unwrap().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_is_summed_up_and_the_log_tells() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let long_reply = ScriptedReply { input_tokens: 90, ..DONE_REPLY };
    let summary = ScriptedReply { text: "They looked at a pond.", call: None, input_tokens: 90 };
    let last_reply = ScriptedReply { text: "Calm.", call: None, input_tokens: 20 };
    let (provider, requests) = serve_replies(vec![long_reply, summary, last_reply]).await;
    let mut config = config_with_provider(folder.path(), provider);
    config.limits.context_tokens = 100;
    let gateway = TestGateway::new(data.path(), config.clone()).await;
    gateway.send_and_wait_for_end("look around").await;
    let events = gateway.send_and_wait_for_end("how is it?").await;
    let compacted = events.iter().find_map(|event| match event {
        Event::HistoryCompacted { summary } => summary.as_deref(),
        _ => None,
    });
    assert_eq!(compacted, Some(summary.text));
    assert_eq!(final_message_text(&events), "Calm.", "the summary is not shown as a message");
    let requests = requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[1].get("tools"), None);
    let sent = requests[2]["messages"].to_string();
    assert!(sent.contains(summary.text) && sent.contains("how is it?"), "{sent}");
    assert!(!sent.contains("look around"), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_summed_up_is_told_and_not_tried_at_every_round() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let blank_reply = ScriptedReply { text: " ", call: None, input_tokens: 90 };
    let long_reply = ScriptedReply { input_tokens: 90, ..LOOK_REPLY };
    let (provider, requests) =
        serve_replies(vec![long_reply, blank_reply, long_reply, long_reply, DONE_REPLY]).await;
    let mut config = config_with_provider(folder.path(), provider);
    config.limits.context_tokens = 100;
    let gateway = TestGateway::new(data.path(), config).await;
    let events = gateway.send_and_wait_for_end("look around").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(requests.lock().unwrap().len(), 5, "one of them for a summary");
    let has_notice = events.iter().any(|event| {
        matches!(event, Event::NoticeGiven { text, .. } if text.contains("could not compact the conversation"))
    });
    assert!(has_notice, "{events:?}");
}
