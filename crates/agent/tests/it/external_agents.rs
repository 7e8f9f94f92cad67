//! External agents: start, approvals, stop and resume. The agent is a script that imitates Claude
//! Code; `tests/agents/run.sh` drives real ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use millpond_agent::agent_loop::ApprovalMode;
use millpond_agent::external::{AgentKind, ExternalAgent, ExternalAgentConfig};
use millpond_engine::event::{AnsweredBy, Event, FailureReason, Outcome, ToolOutcome};
use millpond_engine::filter::{ControlMeaning, ControlWord};
use millpond_engine::ingest::DialectName;
use millpond_engine::run::RunOptions;
use millpond_log::runs::AnswerResult;
use serde_json::Map;

use crate::test_gateway::{
    TestGateway, all_message_text, ending, final_message_text, tool_outcomes, wait_for_process_end,
};

fn script_path(name: &str) -> String {
    format!("{}/tests/scripted/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Configuration of the scripted agent in a folder, with extra arguments.
fn scripted_agent_config(folder: &Path, arguments: &[&str]) -> ExternalAgentConfig {
    let mut command = vec![script_path("claude.sh")];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    ExternalAgentConfig {
        kind: AgentKind::Claude,
        command,
        dialect: None,
        folder: folder.to_owned(),
        home: None,
        environment: [("SECRET_KEY".to_owned(), "abcdef".to_owned())].into(),
        model: None,
        session_params: Map::new(),
        hook_command: Vec::new(),
        sign_in_method: None,
        approval_mode: ApprovalMode::Ask,
        run_options: RunOptions::default(),
        idle_time_max: Duration::from_mins(1),
        work_time_max: Duration::from_mins(1),
        answer_timeout: Duration::from_mins(1),
    }
}

struct TestFolders {
    folder: tempfile::TempDir,
    data: tempfile::TempDir,
}

impl TestFolders {
    fn new() -> TestFolders {
        TestFolders { folder: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap() }
    }

    fn agent_config(&self, arguments: &[&str]) -> ExternalAgentConfig {
        scripted_agent_config(self.folder.path(), arguments)
    }

    async fn start_gateway(&self, config: ExternalAgentConfig) -> TestGateway {
        TestGateway::with_agent(self.data.path(), Arc::new(ExternalAgent::new(config))).await
    }

    fn made_file(&self) -> PathBuf {
        self.folder.path().join("made")
    }

    fn recorded_arguments(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("called")).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_an_agent_asks_is_answered_once_and_the_agent_goes_on() {
    let folders = TestFolders::new();
    let gateway = folders.start_gateway(folders.agent_config(&[])).await;
    let run = gateway.send("look").await;
    let ask = gateway.wait_for_ask(run).await;
    assert!(!folders.made_file().exists());
    let opened = gateway.events(run).await;
    let Some(Event::AskOpened { text, digest, expires_at_ms, step, .. }) = opened.last() else {
        panic!("{opened:?}")
    };
    assert_eq!(text, r#"Bash {"command":"touch made"}"#);
    assert_eq!(digest.as_ref().map(|digest| digest.len()), Some(64));
    assert!(expires_at_ms.is_some() && step.is_some());
    assert_eq!(gateway.answer(run, &ask, "yes").await, Some(AnswerResult::UnknownOption));
    assert_eq!(gateway.answer(run, "r2", "allow").await, Some(AnswerResult::NotOpen));
    assert_eq!(gateway.answer(run, &ask, "allow").await, Some(AnswerResult::Accepted));
    assert_ne!(gateway.answer(run, &ask, "allow").await, Some(AnswerResult::Accepted));
    let events = gateway.events_to_end(run).await;
    assert!(folders.made_file().exists());
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Succeeded]);
    assert_eq!(final_message_text(&events), "So: done");
    let prompts = events.iter().filter(|event| matches!(event, Event::PromptReceived { .. }));
    assert_eq!(prompts.count(), 1);
    let resolved = events.iter().filter(|event| matches!(event, Event::AskResolved { .. }));
    assert_eq!(resolved.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_is_refused_does_not_run() {
    let folders = TestFolders::new();
    let gateway = folders.start_gateway(folders.agent_config(&[])).await;
    let run = gateway.send("look").await;
    let ask = gateway.wait_for_ask(run).await;
    assert_eq!(gateway.answer(run, &ask, "deny: not here").await, Some(AnswerResult::Accepted));
    let events = gateway.events_to_end(run).await;
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Denied]);
    assert!(!folders.made_file().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_nobody_answers_in_time_is_refused() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&[]);
    config.answer_timeout = Duration::from_millis(50);
    let gateway = folders.start_gateway(config).await;
    let events = gateway.send_and_wait_for_end("look").await;
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Denied]);
    assert!(!folders.made_file().exists());
    let by_policy = |event: &Event<'_>| matches!(event, Event::AskResolved { answer, by: AnsweredBy::Policy, .. } if answer == "expired");
    assert!(events.iter().any(by_policy), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_yolo_nobody_is_waited_for() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&[]);
    config.approval_mode = ApprovalMode::Yolo;
    let gateway = folders.start_gateway(config).await;
    let events = gateway.send_and_wait_for_end("look").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert!(folders.made_file().exists());
    let by_policy =
        |event: &Event<'_>| matches!(event, Event::AskResolved { by: AnsweredBy::Policy, .. });
    assert!(events.iter().any(by_policy));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_message_goes_on_with_the_agents_own_conversation() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&[]);
    config.approval_mode = ApprovalMode::Yolo;
    let gateway = folders.start_gateway(config.clone()).await;
    let first = gateway.send_and_wait_for_end("look").await;
    let session_named_count = |events: &[Event<'_>]| {
        events.iter().filter(|event| matches!(event, Event::SessionNamed { .. })).count()
    };
    assert_eq!(session_named_count(&first), 1);
    let gateway = gateway.restart_with(Arc::new(ExternalAgent::new(config))).await;
    let second = gateway.send_and_wait_for_end("look again").await;
    assert_eq!((session_named_count(&second), ending(&second).outcome), (0, Outcome::Completed));
    let recorded = folders.recorded_arguments();
    let calls: Vec<&str> = recorded.lines().collect();
    assert!(!calls[0].contains("--resume") && calls[1].ends_with("--resume=s-1"), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_agent_takes_its_whole_group_with_it() {
    let folders = TestFolders::new();
    let gateway = folders.start_gateway(folders.agent_config(&["--ignore-the-end"])).await;
    let run = gateway.send("look").await;
    gateway.wait_for_ask(run).await;
    let child = std::fs::read_to_string(folders.folder.path().join("child")).unwrap();
    gateway.scheduler.runs.request_cancel(run);
    let events = gateway.events_to_end(run).await;
    assert_eq!(ending(&events).outcome, Outcome::Cancelled);
    assert_eq!(all_message_text(&events), "I will look.");
    wait_for_process_end(child.trim()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x6_text_that_follows_the_answer_to_an_interrupt_is_kept() {
    let folders = TestFolders::new();
    let gateway = folders.start_gateway(folders.agent_config(&["--last-words"])).await;
    let run = gateway.send("look").await;
    gateway.wait_for_ask(run).await;
    gateway.scheduler.runs.request_cancel(run);
    let events = gateway.events_to_end(run).await;
    assert_eq!(ending(&events).outcome, Outcome::Cancelled);
    assert_eq!(all_message_text(&events), "I will look.\nStopped while looking.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_fails_says_why_without_the_keys_it_was_given() {
    let folders = TestFolders::new();
    let gateway = folders.start_gateway(folders.agent_config(&["--fail"])).await;
    let events = gateway.send_and_wait_for_end("look").await;
    let ending = ending(&events);
    assert_eq!((ending.outcome, ending.reason), (Outcome::Failed, Some(FailureReason::Error)));
    let detail = ending.detail.as_deref().unwrap();
    assert!(
        detail.ends_with("ended with exit status: 3. no key sk-secret-[hidden] here"),
        "{detail}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_is_told_of() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&[]);
    config.command = vec!["no-such-agent".to_owned()];
    let gateway = folders.start_gateway(config).await;
    let events = gateway.send_and_wait_for_end("look").await;
    let detail = ending(&events).detail.as_deref().unwrap();
    assert!(detail.starts_with("`no-such-agent` not found: install it"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_says_nothing_has_stalled() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&["--silent"]);
    config.idle_time_max = Duration::from_millis(100);
    let gateway = folders.start_gateway(config).await;
    let events = gateway.send_and_wait_for_end("look").await;
    assert_eq!(ending(&events).outcome, Outcome::Stalled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_ones_own_prints_any_stream() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&[]);
    config.kind = AgentKind::Command;
    let line = r#"data: {"choices":[{"delta":{"content":"$0"},"finish_reason":"stop"}]}"#;
    let program = format!("printf '%s\\n\\n' \"{}\"", line.replace('"', "\\\""));
    config.command = ["sh", "-c", &program, "{prompt}", "{session}"].map(str::to_owned).to_vec();
    let gateway = folders.start_gateway(config).await;
    let events = gateway.send_and_wait_for_end("still {session} water").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(final_message_text(&events), "still {session} water");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_has_forgotten_the_conversation_begins_another_and_says_so() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&["--forgets"]);
    config.approval_mode = ApprovalMode::Yolo;
    let gateway = folders.start_gateway(config).await;
    gateway.send_and_wait_for_end("look").await;
    let events = gateway.send_and_wait_for_end("look again").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
    let is_notice = |event: &Event<'_>| matches!(event, Event::NoticeGiven { text, .. } if text.contains("no longer has this session"));
    assert!(events.iter().any(is_notice), "{events:?}");
    assert_eq!(folders.recorded_arguments().lines().count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn l9_an_agent_that_has_nothing_to_report_is_asked_once_and_remembered() {
    let folders = TestFolders::new();
    let mut config = folders.agent_config(&[]);
    config.kind = AgentKind::Command;
    config.dialect = Some(DialectName::GeminiCli);
    config.run_options.control_words =
        vec![ControlWord::new("HEARTBEAT_OK", ControlMeaning::NothingToReport).unwrap()];
    let init = r#"{"type":"init","session_id":"g-1","model":"m"}"#;
    let heartbeat_line =
        r#"{"type":"message","role":"assistant","content":"HEARTBEAT_OK","delta":true}"#;
    let result = r#"{"type":"result","status":"success"}"#;
    let program =
        format!("echo \"$@\" >>called; printf '%s\\n' '{init}' '{heartbeat_line}' '{result}'");
    config.command =
        ["sh", "-c", &program, "{prompt}", "--session={session}"].map(str::to_owned).to_vec();
    let gateway = folders.start_gateway(config).await;
    for _ in 0..2 {
        let events = gateway.send_and_wait_for_end("anything?").await;
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
        assert_eq!(all_message_text(&events), "");
    }
    assert_eq!(folders.recorded_arguments().lines().collect::<Vec<_>>(), ["", "--session=g-1"]);
}
