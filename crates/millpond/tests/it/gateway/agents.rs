//! Messages answered by the demo and by profiles, with the real program.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{GatewayClient, is_run_end};
use super::process::{GatewayProcess, data_folder, isolated_command, temp_home};
use crate::support::{ProgramOutput, has_git, poll};

async fn post_json(caller: &GatewayClient, path: &str, body: Value) -> (u16, Value) {
    let answer = caller.request(Method::POST, path).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

pub(super) async fn post_message(caller: &GatewayClient, session: &str, text: &str) -> String {
    let path = format!("/v1/sessions/{session}/messages");
    let (status, accepted) = post_json(caller, &path, json!({ "text": text })).await;
    assert_eq!(status, 202, "{accepted}");
    accepted["run"].as_str().unwrap().to_owned()
}

pub(super) async fn post_answer(
    caller: &GatewayClient,
    run: &str,
    ask: &str,
    answer: &str,
) -> (u16, Value) {
    post_json(caller, &format!("/v1/runs/{run}/asks/{ask}/answer"), json!({ "answer": answer }))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_the_demo_asks_is_killed_and_goes_on_when_it_is_answered() {
    let home = temp_home();
    let http = reqwest::Client::new();
    let mut process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &http);
    let session = caller.create_session().await;
    let run = post_message(&caller, &session, "write still water").await;
    let mut events = caller.open_stream(&session, "view=transcript&from=start", "").await;
    let asked = events.read_until(|got| got.event == "ask").await;
    let ask: Value = serde_json::from_str(&asked.last().unwrap().data).unwrap();
    let ask = ask["id"].as_str().unwrap().to_owned();
    process.kill();

    let mut process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &http);
    let note = home.path().join("demo-note.txt");
    assert!(!note.exists());
    assert_eq!(post_answer(&caller, &run, &ask, "maybe").await.0, 400);
    assert_eq!(post_answer(&caller, &run, &ask, "allow").await.0, 202);
    let (status, told) = post_answer(&caller, &run, &ask, "deny").await;
    assert_eq!(status, 409, "{told}");
    let mut events = caller.open_stream(&session, "view=latest&format=patch&from=start", "").await;
    events.read_until(is_run_end).await;
    let page = caller.fetch_page(&session).await;
    assert_eq!(page["items"]["6"]["text"], "Done. Wrote demo-note.txt (1 line).", "{page}");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "still water\n");
    process.kill();

    if has_git() {
        check_restore(home.path());
    }
}

/// Checks that `millpond restore` removes the file that the demo wrote, and brings it back.
fn check_restore(home: &std::path::Path) {
    let data = data_folder(home);
    let restore = |more: &[&str]| -> ProgramOutput {
        let mut args = vec!["restore", "--data", data.to_str().unwrap()];
        args.extend(more);
        isolated_command(&args, home).output().unwrap().into()
    };
    let listed = restore(&[]);
    assert_eq!((listed.status, listed.stdout.lines().count()), (0, 1), "{}", listed.stderr);
    let hash = listed.stdout.split_whitespace().next().unwrap();
    let unasked = restore(&[hash]);
    assert_eq!(unasked.status, 1, "{}", unasked.stderr);
    assert!(unasked.stderr.contains("standard input is not a terminal"), "{}", unasked.stderr);
    let done = restore(&[&hash[..10], "--yes"]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stdout.contains("-still water"), "{}", done.stdout);
    assert!(!home.join("demo-note.txt").exists());
    let undo = done.stderr.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(restore(&[&undo, "--yes"]).status, 0);
    assert!(home.join("demo-note.txt").exists());
    assert_eq!(restore(&["ffff", "--yes"]).status, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_cannot_be_used_says_why_and_where() {
    let home = temp_home();
    let write = |text: &str| std::fs::write(home.path().join("millpond.toml"), text).unwrap();
    for (text, part) in [
        ("[profiles.a]\nmodell = \"x\"\n", "[profiles.a]: unknown field `modell`"),
        ("[profiles.a]\nmodel = \"x\"\nwire = \"chatt\"\n", "`wire` is `chatt`"),
        ("[profiles.a]\nmodel = \"x\"\nkey_variable = \"NO_SUCH\"\n", "$NO_SUCH is not set"),
        ("[profiles.a]\ntools = [\"fly\"]\n", "unknown tool `fly`"),
        ("[profiles.a]\nmcp = \"none.json\"\n", "cannot read none.json"),
        ("[profiles.a.policy]\nrun_command = \"yes\"\n", "must be allow, ask or deny"),
        ("profile = \"b\"\n[profiles.a]\n", "no profile `b`; did you mean `a`?"),
        ("[profiles.a]\n[profiles.b]\n", "several profiles (a, b)"),
    ] {
        write(text);
        let data = data_folder(home.path());
        let args = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let ran: ProgramOutput = isolated_command(&args, home.path()).output().unwrap().into();
        assert_eq!(ran.status, 1, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{text}: {}", ran.stderr);
    }
}

/// Processes of an agent do not outlive a killed gateway.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_goes_with_a_gateway_that_is_killed() {
    let home = temp_home();
    let script = "trap '' TERM; echo $$ >pid.new; mv pid.new pid; sleep 300";
    let profile = format!(
        "[profiles.mine]\nagent = \"command\"\ncommand = [\"sh\", \"-c\", {script:?}, \"{{prompt}}\"]\n"
    );
    std::fs::write(home.path().join("millpond.toml"), profile).unwrap();
    let http = reqwest::Client::new();
    let mut process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &http);
    let session = caller.create_session().await;
    post_message(&caller, &session, "go").await;
    let pid_file = home.path().join("pid");
    let pid = poll(|| std::fs::read_to_string(&pid_file).ok(), || "not started".to_owned());
    process.kill();
    let pid = pid.trim();
    poll(|| has_process_ended(pid).then_some(()), || format!("process {pid} is still there"));
}

/// True if a process has ended, also if nothing reaps it, as in a container without an init.
fn has_process_ended(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which may have any character but is in brackets.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_none_or(|state| state.starts_with('Z'))
}
