//! Which events become which items.

use millpond_engine::event::{
    AskKind, Citation, Event, Image, ImageOwner, MessageId, MessagePhase, NoticeLevel, Outcome,
    ReasoningOrigin, StepId, StopReason, TextMode, ToolKind, ToolOutcome, Usage, UsageScope,
};
use millpond_engine::view::Thinking;
use serde_json::{Value, json};

use super::print_client::{
    PrintClient, arguments_appended, message_started, output_appended, run_ended, run_started,
    text_appended, tool_ended, tool_ready, tool_started, tool_started_under, whole_message,
};

fn image_received(owner: ImageOwner) -> Event<'static> {
    Event::ImageReceived { owner, image: Image::Url { url: "http://a.test/p.png".into() } }
}

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
        Event::PromptReceived { text: "Go".into(), images: Vec::new() },
        Event::ReasoningStarted { step: StepId(0), round: 0, origin: ReasoningOrigin::Native },
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
fn transcript_t11_tools_by_their_kind_with_arguments_and_result() {
    for (kind, name) in [
        (ToolKind::Function, "tool"),
        (ToolKind::Edit, "tool"),
        (ToolKind::WebSearch, "tool"),
        (ToolKind::Agent, "tool"),
        (ToolKind::Command, "command_output"),
        (ToolKind::Mcp, "mcp_server_response"),
    ] {
        let mut screen = PrintClient::started();
        screen.push_events([
            tool_started(0, kind),
            arguments_appended(0, "{\"a\":"),
            arguments_appended(0, "1}"),
        ]);
        assert_eq!(screen.last_message().get("arguments"), None);
        screen.push_events([tool_ready(0)]);
        let message = screen.last_message();
        assert_eq!((&message["tool"], &message["callId"]), (&json!("tool-0"), &json!("call-0")));
        assert_eq!(
            (&message["arguments"], &message["partial"]),
            (&json!("{\"a\":1}"), &json!(true))
        );
        screen.push_events([output_appended(0, "out"), tool_ended(0, ToolOutcome::Succeeded)]);
        assert_eq!(screen.rows(), [format!("={name} out")]);
        assert_eq!(screen.last_message()["arguments"], "{\"a\":1}");
    }
}

#[test]
fn transcript_t11_how_a_tool_ended_shows() {
    for (outcome, state) in [
        (ToolOutcome::Succeeded, "done"),
        (ToolOutcome::Failed, "failed"),
        (ToolOutcome::Denied, "denied"),
        (ToolOutcome::NoResult, "called"),
        (ToolOutcome::Cut, "incomplete"),
    ] {
        let mut screen = PrintClient::started();
        let detail = Some("so it goes".into());
        screen.push_events([
            tool_started(0, ToolKind::Function),
            arguments_appended(0, "{}"),
            output_appended(0, "out"),
        ]);
        screen.push_events([Event::ToolEnded { step: StepId(0), outcome, detail }]);
        assert_eq!(screen.rows(), ["=tool out\nso it goes"]);
        assert_eq!(
            (&screen.last_message()["state"], &screen.last_message()["arguments"]),
            (&json!(state), &json!("{}"))
        );
    }
}

#[test]
fn transcript_t11_arguments_that_come_after_output_are_not_lost() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Function),
        output_appended(0, "one\n"),
        arguments_appended(0, "{}"),
    ]);
    screen.push_events([
        image_received(ImageOwner::Step(StepId(0))),
        tool_ready(0),
        output_appended(0, "two"),
    ]);
    assert_eq!(screen.last_message()["arguments"], "{}");
    assert_eq!(screen.last_message()["images"][0]["ref"], "http://a.test/p.png");
    assert_eq!(screen.rows(), ["~tool one\ntwo"]);
    // Sent anew after they were said to be whole.
    let anew = Event::ArgumentsReplaced { step: StepId(1), text: "[]".into() };
    screen.push_events([
        tool_started(1, ToolKind::Function),
        arguments_appended(1, "{}"),
        tool_ready(1),
        anew,
    ]);
    screen.push_events([output_appended(1, "three\n"), tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.last_message()["arguments"], "[]");
}

#[test]
fn transcript_t11_an_action_and_its_result_are_two_items() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Action),
        arguments_appended(0, "{\"x\":1}"),
        tool_ready(0),
    ]);
    assert_eq!(screen.rows(), ["~browser_action"]);
    screen
        .push_events([image_received(ImageOwner::Step(StepId(0))), output_appended(0, "clicked")]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=browser_action", "=browser_action_result clicked"]);
    assert_eq!(screen.messages[0]["arguments"], "{\"x\":1}");
    assert_eq!(screen.messages[1]["images"][0]["ref"], "http://a.test/p.png");
    // One of which nothing came has no second item.
    screen.push_events([tool_started(1, ToolKind::Action), tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows().len(), 3);
}

#[test]
fn transcript_x18_a_sub_agents_tools_stand_in_the_item_of_their_tool() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Agent),
        tool_ready(0),
        output_appended(0, "Looking"),
    ]);
    screen.push_events([
        tool_started_under(1, ToolKind::Command, Some(0)),
        tool_started_under(2, ToolKind::Edit, Some(1)),
    ]);
    screen.push_events([
        output_appended(1, "a\n"),
        output_appended(2, "b"),
        tool_ended(2, ToolOutcome::Succeeded),
    ]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=tool Looking\n* tool-1\na\n* tool-2\nb"]);
    // What comes when the tool around it is over stands for itself.
    screen.push_events([output_appended(1, "late"), tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows()[1..], ["=command_output late"]);
}

#[test]
fn transcript_x18_what_a_sub_agent_calls_shows_with_its_arguments() {
    let mut screen = PrintClient::started();
    screen.push_events([tool_started(0, ToolKind::Agent), tool_ready(0)]);
    screen.push_events([
        tool_started_under(1, ToolKind::Command, Some(0)),
        arguments_appended(1, "{\"a\""),
        arguments_appended(1, ":1}"),
    ]);
    assert_eq!(screen.rows(), ["~tool"]);
    screen.push_events([tool_ready(1)]);
    assert_eq!(screen.rows(), ["~tool * tool-1 {\"a\":1}"]);
    // Told once, and also of a call that was cut or gave nothing.
    screen.push_events([
        tool_ended(1, ToolOutcome::Succeeded),
        tool_started_under(2, ToolKind::Edit, Some(0)),
    ]);
    screen.push_events([arguments_appended(2, "{"), tool_ended(2, ToolOutcome::Cut)]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=tool * tool-1 {\"a\":1}\n* tool-2 {"]);
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
    let prompt = || Event::PromptReceived { text: "Left".into(), images: Vec::new() };
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

#[test]
fn transcript_x14_what_is_left_out_of_an_output_is_said_whether_its_tool_ends_or_not() {
    let output = "x".repeat(millpond_engine::limits::OUTPUT_BYTES_SHOWN_MAX + 5);
    for ends in [true, false] {
        let mut log = crate::log::Log::new();
        log.start_round().start_tool("t");
        if ends {
            log.succeed_tool(0, &output);
        } else {
            let step = StepId(0);
            log.push(Event::OutputAppended { step, text: output.clone().into() });
        }
        log.end_round().complete_run();
        let page =
            crate::views::final_page(millpond_engine::view::ViewName::Transcript, &log.records());
        let note = "\n[5 more bytes in the log]";
        let told = page.items.values().filter(|item| item.text.ends_with(note)).count();
        assert_eq!(told, 1, "ends: {ends}");
    }
}
