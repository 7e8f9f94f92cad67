//! Which events become which items.

use millpond_engine::event::{
    AskKind, Citation, Event, ImageOwner, MessageId, MessagePhase, NoticeLevel, Outcome,
    ReasoningOrigin, StepId, StopReason, TextMode, ToolKind, Usage, UsageScope,
};
use millpond_engine::view::Thinking;
use serde_json::{Value, json};

use super::print_client::{
    PrintClient, image_received, message_started, output_appended, run_ended, run_started,
    text_appended, tool_started, whole_message,
};

fn source_cited(message: u32) -> Event<'static> {
    let citation = Citation { title: Some("Atlas".into()), ..Citation::default() };
    Event::SourceCited { message: MessageId(message), citation }
}

fn retry_scheduled() -> Event<'static> {
    Event::RetryScheduled {
        attempt: Some(2),
        attempts_max: Some(5),
        delay_ms: Some(300),
        reason: "busy".into(),
    }
}

#[test]
fn transcript_t3_a_round_is_live_status_and_an_item_when_it_has_ended() {
    let mut screen = PrintClient::started();
    screen.push_events([Event::RoundStarted { round: 0, model: Some("m".into()), response: None }]);
    screen.push_events(whole_message(0, "Hello"));
    assert_eq!(screen.rows(), ["=text Hello"]);
    let usage = Usage { input_tokens: Some(7), output_tokens: Some(2), ..Usage::default() };
    screen.push_events([
        Event::UsageReported { scope: UsageScope::Round, usage },
        Event::RoundEnded { round: 0, stop: Some(StopReason::End), incomplete: false },
    ]);
    let request = r#"{"cost":null,"tokensIn":7,"tokensOut":2,"model":"m"}"#;
    assert_eq!(screen.rows(), ["=text Hello".into(), format!("=api_req_started {request}")]);
}

#[test]
fn transcript_t3_a_request_that_nobody_listed_is_told_once() {
    let mut screen = PrintClient::started();
    screen.push_events([
        Event::RoundStarted { round: 0, model: None, response: None },
        Event::RequestEnded {
            request: None,
            cost_usd: None,
            failure: Some("dead line".into()),
            cancel_reason: None,
        },
        Event::RoundEnded { round: 0, stop: None, incomplete: false },
    ]);
    let failed = r#"=api_req_started {"streamingFailedMessage":"dead line"}"#;
    assert_eq!(screen.rows(), [failed]);
    assert_eq!(screen.last_message()["state"], "failed");
}

#[test]
fn transcript_t3_the_cost_of_the_run_is_told_at_its_end_once() {
    let mut screen = PrintClient::started();
    let total = |cost| Event::UsageReported {
        scope: UsageScope::Run,
        usage: Usage { cost_usd: Some(cost), ..Usage::default() },
    };
    screen.push_events([total(0.5), total(0.75)]);
    assert!(screen.rows().is_empty());
    screen.push_events([run_ended(Outcome::Completed)]);
    assert_eq!(screen.rows(), [r#"=usage {"cost":0.75}"#]);
}

#[test]
fn transcript_t4_a_checkpoint_is_shown_once_in_a_session() {
    let saved = |hash: &'static str| Event::CheckpointSaved { hash: hash.into() };
    let mut screen = PrintClient::started();
    screen.push_events([saved("a"), saved("b"), saved("a"), run_ended(Outcome::Completed)]);
    screen.push(None, "next", run_started(TextMode::Incremental));
    screen.push(None, "next", saved("b"));
    screen.push(None, "next", saved(""));
    screen.push(None, "next", saved(""));
    assert_eq!(
        screen.rows(),
        ["=checkpoint_saved a", "=checkpoint_saved b", "=checkpoint_saved", "=checkpoint_saved"]
    );
}

#[test]
fn transcript_t11_text_thinking_and_the_declared_final_message() {
    let mut screen = PrintClient::with_thinking(Thinking::Show);
    screen.push_events([
        run_started(TextMode::Incremental),
        Event::PromptReceived {
            text: "Go".into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        },
        Event::ReasoningStarted {
            step: StepId(0),
            round: 0,
            origin: ReasoningOrigin::Native,
            interrupts: None,
        },
        Event::ReasoningAppended { step: StepId(0), text: "Hm".into() },
        Event::ReasoningAppended { step: StepId(0), text: "m".into() },
        Event::ReasoningEnded { step: StepId(0), incomplete: false },
    ]);
    screen.push_events(whole_message(0, "Going"));
    let phase = Some(MessagePhase::Final);
    screen.push_events([Event::MessageStarted { message: MessageId(1), round: 0, phase }]);
    screen.push_events([text_appended(1, "Gone")]);
    screen.push_events([
        Event::FinalDeclared { message: MessageId(2) },
        message_started(2),
        text_appended(2, "Well"),
    ]);
    assert_eq!(
        screen.rows(),
        [
            "=user Go",
            "=reasoning Hmm",
            "=text Going",
            "~completion_result Gone",
            "~completion_result Well"
        ]
    );
}

#[test]
fn transcript_t11_asks_by_their_kind() {
    for (kind, name) in [
        (AskKind::Tool, "tool"),
        (AskKind::Command, "command"),
        (AskKind::Mcp, "use_mcp_server"),
        (AskKind::Browser, "browser_action_launch"),
        (AskKind::Followup, "followup"),
        (AskKind::Other, "other"),
    ] {
        let mut screen = PrintClient::started();
        screen.push_events([Event::AskOpened {
            ask: "a".into(),
            kind,
            text: "May I?".into(),
            options: Vec::new(),
            step: None,
            digest: None,
            expires_at_ms: None,
        }]);
        assert_eq!(screen.rows(), [format!("~ask:{name} May I?")]);
        assert_eq!(screen.last_message()["isAnswered"], false);
        assert_eq!(screen.last_message()["partial"], false);
    }
}

#[test]
fn transcript_t11_notices_retries_compactions_and_failures() {
    let notice = |level, text: &'static str| Event::NoticeGiven { level, text: text.into() };
    let mut screen = PrintClient::started();
    screen.push_events([
        notice(NoticeLevel::Info, "i"),
        notice(NoticeLevel::Warning, "w"),
        notice(NoticeLevel::Error, "e"),
        retry_scheduled(),
        Event::HistoryCompacted { summary: Some("short".into()) },
        run_ended(Outcome::Truncated),
    ]);
    assert_eq!(
        screen.rows(),
        [
            "=info i",
            "=warning w",
            "=error e",
            "=api_req_retry_delayed busy (attempt 2 of 5, in 300 ms)",
            "=condense_context short",
            "=error Cut off before its end"
        ]
    );
}

#[test]
fn transcript_t11_a_cancelled_run_is_no_failure_and_a_good_end_says_nothing() {
    for (outcome, rows) in
        [(Outcome::Completed, vec![]), (Outcome::Cancelled, vec!["=info Cancelled".to_owned()])]
    {
        let mut screen = PrintClient::started();
        screen.push_events([run_ended(outcome)]);
        assert_eq!(screen.rows(), rows);
    }
}

#[test]
fn transcript_x18_pictures_and_sources_go_with_their_message_or_come_after_it() {
    let mut screen = PrintClient::started();
    screen.push_events([
        message_started(0),
        image_received(ImageOwner::Message(MessageId(0))),
        text_appended(0, "See\n"),
        source_cited(0),
    ]);
    screen.push_events([Event::MessageEnded { message: MessageId(0), incomplete: false }]);
    assert_eq!(screen.rows(), ["=text See"]);
    let whole = &screen.messages[0];
    assert_eq!(whole["images"][0]["ref"], "http://a.test/p.png");
    assert_eq!(whole["citations"], json!([{"title": "Atlas"}]));
    // It has been printed: what comes later has an item of its own.
    screen.push_events([
        source_cited(0),
        image_received(ImageOwner::Message(MessageId(0))),
        image_received(ImageOwner::Step(StepId(9))),
    ]);
    let of: Vec<&Value> = screen.messages[1..].iter().map(|message| &message["of"]).collect();
    assert_eq!(of, ["m0", "m0", "s9"]);
    assert_eq!(screen.rows()[1..], ["=attachment", "=attachment", "=attachment"]);
    // One that is complete but waits for another is not settled.
    screen.push_events([tool_started(0, ToolKind::Function)]);
    screen.push_events(whole_message(1, "Later"));
    let before = screen.messages.len();
    screen.push_events([source_cited(1)]);
    assert_eq!(screen.messages.len(), before, "its text is not told again");
    let last = screen.page().items.values().next_back().unwrap();
    assert_eq!(last.citations.len(), 1);
    assert_eq!(screen.rows().last().unwrap(), "+text Later");
}

fn withdrawn(messages: &[u32], steps: &[u32]) -> Event<'static> {
    Event::Withdrawn {
        messages: messages.iter().copied().map(MessageId).collect(),
        steps: steps.iter().copied().map(StepId).collect(),
    }
}

#[test]
fn transcript_x16_what_is_not_settled_goes_and_keeps_its_place() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Function),
        message_started(0),
        text_appended(0, "Wro\nng"),
    ]);
    screen.push_events([withdrawn(&[0], &[]), text_appended(0, " again")]);
    assert_eq!(screen.rows(), ["~tool", "+withdrawn"]);
    screen.push_events([withdrawn(&[], &[0]), output_appended(0, "late")]);
    assert_eq!(screen.rows(), ["=withdrawn", "=withdrawn"]);
    screen.push_events([message_started(1), text_appended(1, "Right")]);
    assert_eq!(screen.rows()[2..], ["~text Right"]);
}

#[test]
fn transcript_x16_what_is_settled_stays_and_is_named() {
    let mut screen = PrintClient::started();
    screen.push_events(whole_message(0, "One"));
    screen.push_events([message_started(1), text_appended(1, "Two\nThr"), withdrawn(&[0, 1], &[])]);
    assert_eq!(screen.rows(), ["=text One", "=text Two", "=withdrawn [0,1]"]);
    assert_eq!(screen.messages[1]["state"], "incomplete");
    assert_eq!(screen.last_message()["indexes"], json!([0, 1]));
    screen.push_events([withdrawn(&[0, 1], &[])]);
    assert_eq!(screen.rows().len(), 3, "what is taken back twice is named once");
}

#[test]
fn transcript_t11_a_prompt_is_feedback_only_right_after_an_answer() {
    let prompt = || Event::PromptReceived {
        text: "Left".into(),
        images: Vec::new(),
        origin: millpond_engine::event::PromptOrigin::Person,
    };
    let ask = || Event::AskOpened {
        ask: "a".into(),
        kind: AskKind::Followup,
        text: "Where?".into(),
        options: Vec::new(),
        step: None,
        digest: None,
        expires_at_ms: None,
    };
    let answer = || Event::AskResolved {
        ask: "a".into(),
        answer: "Left".into(),
        by: millpond_engine::event::AnsweredBy::Person,
    };
    let mut screen = PrintClient::started();
    screen.push_events([prompt(), ask(), answer(), prompt(), prompt(), ask(), answer()]);
    screen.push_events([Event::RoundStarted { round: 0, model: None, response: None }, prompt()]);
    let rows = screen.rows();
    let people: Vec<&str> = [0, 2, 3, 5].map(|at: usize| rows[at].as_str()).to_vec();
    assert_eq!(people, ["=user Left", "=user_feedback Left", "=user Left", "=user Left"]);
}
