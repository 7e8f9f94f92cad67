//! A run that is asked to stop stops within two seconds, with everything it has started.

use std::time::{Duration, Instant};

use agent::policy::Policy;
use engine::event::{Event, Outcome, ToolOutcome};

use crate::house::{House, demo, ending, folder, outcomes};

const SOON: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn a_command_and_its_children_end_with_the_run() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let script = "echo started; (trap '' TERM; sleep 300 & echo $! > child; wait) & wait\n";
    std::fs::write(folder.path().join("slow.sh"), script).unwrap();
    let mut setup = demo(folder.path());
    setup.policies.0.insert("run_command".to_owned(), Policy::Allow);
    setup.provider = crate::faults::scripted_call("run_command", r#"{"command":"sh slow.sh"}"#);
    let house = House::new(data.path(), setup).await;
    let run = house.send("go").await;
    house.until(run, |event| matches!(event, Event::OutputAppended { .. })).await;
    let child = loop {
        match std::fs::read_to_string(folder.path().join("child")) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => tokio::task::yield_now().await,
        }
    };
    let began = Instant::now();
    house.gateway.runs.cancel(run);
    let events = house.whole(run).await;
    assert!(began.elapsed() < SOON);
    assert_eq!(ending(&events).outcome, Outcome::Cancelled);
    assert_eq!(outcomes(&events), [ToolOutcome::NoResult]);
    while std::path::Path::new(&format!("/proc/{child}")).exists() {
        assert!(began.elapsed() < SOON, "process {child} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
