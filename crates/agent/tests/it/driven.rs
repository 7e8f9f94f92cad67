//! Agents that a person has: started, answered, stopped and gone on with. The agent here is a script
//! that speaks as Claude Code does; real ones are driven by `tests/agents/run.sh`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::driven::{Driven, Driving, Kind};
use agent::rounds::Caution;
use engine::event::{AnsweredBy, Event, FailureReason, Outcome, ToolOutcome};
use engine::ingest::DialectName;
use engine::ingest::filter::{ControlWord, Meaning};
use gateway::runs::Heard;
use serde_json::Map;

use crate::house::{House, ending, outcomes, reply, said};

fn script(name: &str) -> String {
    format!("{}/tests/scripted/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The scripted agent in a folder, called with more words.
fn scripted(folder: &Path, words: &[&str]) -> Driving {
    let mut command = vec![script("claude.sh")];
    command.extend(words.iter().map(|word| (*word).to_owned()));
    Driving {
        kind: Kind::Claude,
        command,
        dialect: None,
        folder: folder.to_owned(),
        home: None,
        variables: [("SECRET_KEY".to_owned(), "abcdef".to_owned())].into(),
        model: None,
        request: Map::new(),
        helper: Vec::new(),
        sign_in: None,
        caution: Caution::Ask,
        control_words: Vec::new(),
        idle: Duration::from_mins(1),
        time: Duration::from_mins(1),
        answer_within: Duration::from_mins(1),
    }
}

struct Place {
    folder: tempfile::TempDir,
    data: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap() }
    }

    fn driving(&self, words: &[&str]) -> Driving {
        scripted(self.folder.path(), words)
    }

    async fn house(&self, driving: Driving) -> House {
        House::with(self.data.path(), Arc::new(Driven::new(driving))).await
    }

    fn made(&self) -> PathBuf {
        self.folder.path().join("made")
    }

    fn called(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("called")).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_an_agent_asks_is_answered_once_and_the_agent_goes_on() {
    let place = Place::new();
    let house = place.house(place.driving(&[])).await;
    let run = house.send("look").await;
    let ask = house.asked(run).await;
    assert!(!place.made().exists());
    let opened = house.events(run).await;
    let Some(Event::AskOpened { text, digest, expires_at_ms, step, .. }) = opened.last() else {
        panic!("{opened:?}")
    };
    assert_eq!(text, r#"Bash {"command":"touch made"}"#);
    assert_eq!(digest.as_ref().map(|digest| digest.len()), Some(64));
    assert!(expires_at_ms.is_some() && step.is_some());
    assert_eq!(house.answer(run, &ask, "yes").await, Some(Heard::NoOption));
    assert_eq!(house.answer(run, "r2", "allow").await, Some(Heard::NotOpen));
    assert_eq!(house.answer(run, &ask, "allow").await, Some(Heard::Taken));
    assert_ne!(house.answer(run, &ask, "allow").await, Some(Heard::Taken));
    let events = house.whole(run).await;
    assert!(place.made().exists());
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded]);
    assert_eq!(reply(&events), "So: done");
    let prompts = events.iter().filter(|event| matches!(event, Event::PromptReceived { .. }));
    assert_eq!(prompts.count(), 1);
    let resolved = events.iter().filter(|event| matches!(event, Event::AskResolved { .. }));
    assert_eq!(resolved.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_is_refused_does_not_run() {
    let place = Place::new();
    let house = place.house(place.driving(&[])).await;
    let run = house.send("look").await;
    let ask = house.asked(run).await;
    assert_eq!(house.answer(run, &ask, "deny: not here").await, Some(Heard::Taken));
    let events = house.whole(run).await;
    assert_eq!(outcomes(&events), [ToolOutcome::Denied]);
    assert!(!place.made().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_nobody_answers_in_time_is_refused() {
    let place = Place::new();
    let mut driving = place.driving(&[]);
    driving.answer_within = Duration::from_millis(50);
    let house = place.house(driving).await;
    let events = house.ask("look").await;
    assert_eq!(outcomes(&events), [ToolOutcome::Denied]);
    assert!(!place.made().exists());
    let by_policy = |event: &Event<'_>| matches!(event, Event::AskResolved { answer, by: AnsweredBy::Policy, .. } if answer == "expired");
    assert!(events.iter().any(by_policy), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_yolo_nobody_is_waited_for() {
    let place = Place::new();
    let mut driving = place.driving(&[]);
    driving.caution = Caution::Yolo;
    let house = place.house(driving).await;
    let events = house.ask("look").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert!(place.made().exists());
    let by_policy =
        |event: &Event<'_>| matches!(event, Event::AskResolved { by: AnsweredBy::Policy, .. });
    assert!(events.iter().any(by_policy));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_message_goes_on_with_the_agents_own_conversation() {
    let place = Place::new();
    let mut driving = place.driving(&[]);
    driving.caution = Caution::Yolo;
    let house = place.house(driving.clone()).await;
    let first = house.ask("look").await;
    let named = |events: &[Event<'_>]| {
        events.iter().filter(|event| matches!(event, Event::SessionNamed { .. })).count()
    };
    assert_eq!(named(&first), 1);
    let house = house.restart_with(Arc::new(Driven::new(driving))).await;
    let second = house.ask("look again").await;
    assert_eq!((named(&second), ending(&second).outcome), (0, Outcome::Completed));
    let called = place.called();
    let calls: Vec<&str> = called.lines().collect();
    assert!(!calls[0].contains("--resume") && calls[1].ends_with("--resume=s-1"), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_agent_takes_its_whole_group_with_it() {
    let place = Place::new();
    let house = place.house(place.driving(&["--ignore-the-end"])).await;
    let run = house.send("look").await;
    house.asked(run).await;
    let child = std::fs::read_to_string(place.folder.path().join("child")).unwrap();
    let since = Instant::now();
    house.gateway.runs.cancel(run);
    let events = house.whole(run).await;
    assert!(since.elapsed() < Duration::from_secs(2), "an agent that ignores its end is ended");
    assert_eq!(ending(&events).outcome, Outcome::Cancelled);
    assert_eq!(said(&events), "I will look.");
    let process = PathBuf::from(format!("/proc/{}/stat", child.trim()));
    let stat = std::fs::read_to_string(process).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_fails_says_why_without_the_keys_it_was_given() {
    let place = Place::new();
    let house = place.house(place.driving(&["--fail"])).await;
    let events = house.ask("look").await;
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
    let place = Place::new();
    let mut driving = place.driving(&[]);
    driving.command = vec!["no-such-agent".to_owned()];
    let house = place.house(driving).await;
    let events = house.ask("look").await;
    let detail = ending(&events).detail.as_deref().unwrap();
    assert!(detail.starts_with("`no-such-agent` was not found: install it"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_says_nothing_has_stalled() {
    let place = Place::new();
    let mut driving = place.driving(&["--silent"]);
    driving.idle = Duration::from_millis(100);
    let house = place.house(driving).await;
    let events = house.ask("look").await;
    assert_eq!(ending(&events).outcome, Outcome::Stalled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_ones_own_prints_any_stream() {
    let place = Place::new();
    let mut driving = place.driving(&[]);
    driving.kind = Kind::Command;
    let line = r#"data: {"choices":[{"delta":{"content":"$0"},"finish_reason":"stop"}]}"#;
    let program = format!("printf '%s\\n\\n' \"{}\"", line.replace('"', "\\\""));
    driving.command = ["sh", "-c", &program, "{prompt}", "{session}"].map(str::to_owned).to_vec();
    let house = place.house(driving).await;
    let events = house.ask("still {session} water").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(reply(&events), "still {session} water");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_has_forgotten_the_conversation_begins_another_and_says_so() {
    let place = Place::new();
    let mut driving = place.driving(&["--forgets"]);
    driving.caution = Caution::Yolo;
    let house = place.house(driving).await;
    house.ask("look").await;
    let events = house.ask("look again").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
    let told = |event: &Event<'_>| matches!(event, Event::NoticeGiven { text, .. } if text.contains("no longer knows"));
    assert!(events.iter().any(told), "{events:?}");
    assert_eq!(place.called().lines().count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn l9_an_agent_that_has_nothing_to_report_is_asked_once_and_remembered() {
    let place = Place::new();
    let mut driving = place.driving(&[]);
    driving.kind = Kind::Command;
    driving.dialect = Some(DialectName::GeminiCli);
    driving.control_words =
        vec![ControlWord::new("HEARTBEAT_OK", Meaning::NothingToReport).unwrap()];
    let init = r#"{"type":"init","session_id":"g-1","model":"m"}"#;
    let said = r#"{"type":"message","role":"assistant","content":"HEARTBEAT_OK","delta":true}"#;
    let result = r#"{"type":"result","status":"success"}"#;
    let program = format!("echo \"$@\" >>called; printf '%s\\n' '{init}' '{said}' '{result}'");
    driving.command =
        ["sh", "-c", &program, "{prompt}", "--session={session}"].map(str::to_owned).to_vec();
    let house = place.house(driving).await;
    for _ in 0..2 {
        let events = house.ask("anything?").await;
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
        assert_eq!(crate::house::said(&events), "");
    }
    assert_eq!(place.called().lines().collect::<Vec<_>>(), ["", "--session=g-1"]);
}
