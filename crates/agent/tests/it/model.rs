//! A real model, small as it is, in three protocols: it thinks, speaks, calls a tool that is run, and
//! answers from what that gave. `tests/model/serve.sh` serves it, and installs it the first time.

use std::path::Path;
use std::time::Duration;

use agent::model::{Model, Thoughts, Wire};
use agent::process::{Group, piped};
use agent::provider::{Patience, Provider};
use agent::rounds::Setup;
use engine::event::{
    Ending, Event, Executor, MessageId, Outcome, ReasoningOrigin, Reply, StepId, Stop, TextMode,
    ToolKind, ToolOutcome,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::house::{House, demo, ending, folder, outcomes, reply, said};

/// The server, and where it listens; nothing if it cannot be installed here.
async fn serve() -> Option<(Group, String)> {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/serve.sh");
    let mut command = piped(script.to_str().unwrap());
    command.arg(port.to_string()).stderr(std::process::Stdio::null());
    let mut group = Group::start(command).unwrap();
    let mut lines = BufReader::new(group.take_output().unwrap()).lines();
    let listening = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if line.starts_with("listening") {
                return true;
            }
        }
        false
    };
    // The first time it is installed.
    if !tokio::time::timeout(Duration::from_mins(5), listening).await.unwrap_or(false) {
        println!("skipped: crates/agent/tests/model/serve.sh does not run here");
        return None;
    }
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some((group, format!("http://127.0.0.1:{port}")))
}

fn setup(wire: Wire, base: &str, folder: &Path) -> Setup {
    let model = Model {
        wire,
        base: format!("{base}/v1"),
        name: "smollm2".to_owned(),
        key: None,
        max_tokens: 200,
        thinking_tokens: None,
        thoughts: Thoughts::GiveBack,
        extra: json!({ "temperature": 0 }).as_object().unwrap().clone(),
    };
    let provider = Provider::model(model, Patience::default(), &[]).unwrap();
    let mut setup = Setup { provider, dialect: wire.dialect(), ..demo(folder) };
    setup.toolbox.builtins = vec![agent::tools::Builtin::ReadFile];
    setup
}

/// A run in which somebody asked for a file and got it: so small a model needs to be shown.
fn example(file: &str, content: &str) -> Vec<Event<'static>> {
    let (text, step) = (|text: String| text.into(), StepId(1));
    let round = |round| Event::RoundStarted { round, model: None, response: None };
    let ended = |round, stop| Event::RoundEnded { round, stop: Some(stop), incomplete: false };
    let message = |id, round, words: String| {
        let message = MessageId(id);
        [
            Event::MessageStarted { message, round, phase: None },
            Event::TextAppended { message, text: words.into() },
            Event::MessageEnded { message, incomplete: false },
        ]
    };
    let thought = StepId(0);
    let mut events = vec![
        Event::RunStarted { version: 1, dialect: "millpond".into(), mode: TextMode::Incremental },
        Event::PromptReceived { text: text(format!("What is in {file}?")), images: Vec::new() },
        round(0),
        Event::ReasoningStarted { step: thought, round: 0, origin: ReasoningOrigin::Native },
        Event::ReasoningAppended {
            step: thought,
            text: text(format!("The user asks for {file}.")),
        },
        Event::StepSealed { step: thought, seal: r#"{"signature":"x"}"#.into() },
        Event::ReasoningEnded { step: thought, incomplete: false },
    ];
    events.extend(message(0, 0, "Let me read that.".to_owned()));
    events.extend([
        Event::ToolStarted {
            step,
            round: 0,
            call: text(format!("call-{file}")),
            name: "read_file".into(),
            kind: ToolKind::Function,
            executor: Executor::Client,
            server: None,
            parent: None,
        },
        Event::ArgumentsAppended { step, text: text(json!({ "path": file }).to_string()) },
        Event::ToolReady { step },
        ended(0, Stop::Tools),
        Event::OutputAppended { step, text: text(format!("    1  {content}\n")) },
        Event::ToolEnded { step, outcome: ToolOutcome::Succeeded, detail: None },
        round(1),
    ]);
    events.extend(message(1, 1, format!("The file {file} says: {content}")));
    events.extend([
        ended(1, Stop::End),
        Event::RunEnded {
            ending: Ending {
                outcome: Outcome::Completed,
                stop: Some(Stop::End),
                reason: None,
                detail: None,
                reply: Reply::Message,
                message: Some(MessageId(1)),
                incomplete: false,
            },
        },
    ]);
    events
}

async fn house(wire: Wire, base: &str, folder: &Path, data: &Path) -> House {
    let house = House::new(data, setup(wire, base, folder)).await;
    house.seed(&[example("depth.txt", "3 m"), example("fish.txt", "7 carp")]).await;
    house
}

async fn speaks(wire: Wire, base: &str) {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("birds.txt"), "2 herons\n").unwrap();
    let house = house(wire, base, folder.path(), data.path()).await;
    let events = house.ask("What is in birds.txt?").await;
    let name = wire.as_str();
    assert_eq!(ending(&events).outcome, Outcome::Completed, "{name}: {events:#?}");
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded], "{name}: {events:#?}");
    assert!(reply(&events).contains("2 herons"), "{name}: {}", said(&events));
    let count =
        |wanted: fn(&Event<'_>) -> bool| events.iter().filter(|event| wanted(event)).count();
    assert!(
        1 < count(|event| matches!(event, Event::ReasoningAppended { .. })),
        "{name}: it thinks"
    );
    assert!(
        1 < count(|event| matches!(event, Event::ArgumentsAppended { .. })),
        "{name}: streamed"
    );
    assert_eq!(count(|event| matches!(event, Event::RoundStarted { .. })), 2, "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_model_calls_a_real_tool_in_three_protocols() {
    let Some((group, base)) = serve().await else { return };
    for wire in [Wire::Chat, Wire::Messages, Wire::Responses] {
        speaks(wire, &base).await;
        is_cancelled(wire, &base).await;
    }
    is_killed(group, &base).await;
}

/// A question that takes long to answer.
const LONG: &str = "Tell me a long story about a mill.";

async fn is_cancelled(wire: Wire, base: &str) {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let mut setup = setup(wire, base, folder.path());
    setup.toolbox.builtins.clear();
    let house = House::new(data.path(), setup).await;
    let run = house.send(LONG).await;
    house.until(run, |event| matches!(event, Event::TextAppended { .. })).await;
    house.gateway.runs.cancel(run);
    let events = house.whole(run).await;
    assert_eq!(ending(&events).outcome, Outcome::Cancelled, "{}", wire.as_str());
    assert!(!said(&events).is_empty());
}

async fn is_killed(mut group: Group, base: &str) {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let mut setup = setup(Wire::Chat, base, folder.path());
    setup.toolbox.builtins.clear();
    let house = House::new(data.path(), setup).await;
    let run = house.send(LONG).await;
    house.until(run, |event| matches!(event, Event::TextAppended { .. })).await;
    group.stop().await;
    let events = house.whole(run).await;
    let outcome = ending(&events).outcome;
    assert!(matches!(outcome, Outcome::Failed | Outcome::Truncated), "{outcome:?}");
    assert!(ending(&events).incomplete && !said(&events).is_empty());
}
