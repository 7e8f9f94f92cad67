//! Messages that are answered, with the real program.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Caller, ends};
use super::process::{Process, alone, data, home};
use crate::support::Ran;

async fn post(caller: &Caller, path: &str, body: Value) -> (u16, Value) {
    let answer = caller.request(Method::POST, path).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

pub(super) async fn message(caller: &Caller, session: &str, text: &str) -> String {
    let path = format!("/v1/sessions/{session}/messages");
    let (status, accepted) = post(caller, &path, json!({ "text": text })).await;
    assert_eq!(status, 202, "{accepted}");
    accepted["run"].as_str().unwrap().to_owned()
}

async fn answer(caller: &Caller, run: &str, ask: &str, answer: &str) -> (u16, Value) {
    post(caller, &format!("/v1/runs/{run}/asks/{ask}/answer"), json!({ "answer": answer })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_the_demo_asks_is_killed_and_goes_on_when_it_is_answered() {
    let home = home();
    let http = reqwest::Client::new();
    let mut process = Process::start(home.path());
    let caller = Caller::of(&process, &http);
    let session = caller.new_session().await;
    let run = message(&caller, &session, "write still water").await;
    let mut events = caller.follow(&session, "view=transcript&from=start", "").await;
    let asked = events.until(|got| got.event == "ask").await;
    let ask: Value = serde_json::from_str(&asked.last().unwrap().data).unwrap();
    let ask = ask["id"].as_str().unwrap().to_owned();
    process.kill();

    let mut process = Process::start(home.path());
    let caller = Caller::of(&process, &http);
    let note = home.path().join("demo-note.txt");
    assert!(!note.exists());
    assert_eq!(answer(&caller, &run, &ask, "maybe").await.0, 400);
    assert_eq!(answer(&caller, &run, &ask, "allow").await.0, 202);
    let (status, told) = answer(&caller, &run, &ask, "deny").await;
    assert_eq!(status, 409, "{told}");
    let mut events = caller.follow(&session, "view=latest&format=patch&from=start", "").await;
    events.until(ends).await;
    let page = caller.page(&session).await;
    assert_eq!(page["items"]["6"]["text"], "Done. demo-note.txt has 1 line now.", "{page}");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "still water\n");
    process.kill();

    restores(home.path());
}

/// The file that the demo wrote goes, and comes back.
fn restores(home: &std::path::Path) {
    let data = data(home);
    let restore = |more: &[&str]| -> Ran {
        let mut args = vec!["restore", "--data", data.to_str().unwrap()];
        args.extend(more);
        alone(&args, home).output().unwrap().into()
    };
    let listed = restore(&[]);
    assert_eq!((listed.status, listed.stdout.lines().count()), (0, 1), "{}", listed.stderr);
    let hash = listed.stdout.split_whitespace().next().unwrap();
    let nobody = restore(&[hash]);
    assert_eq!(nobody.status, 1, "{}", nobody.stderr);
    assert!(nobody.stderr.contains("nobody is there to be asked"), "{}", nobody.stderr);
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
    let home = home();
    let write = |text: &str| std::fs::write(home.path().join("millpond.toml"), text).unwrap();
    for (text, part) in [
        ("[profiles.a]\nmodell = \"x\"\n", "[profiles.a]: unknown field `modell`"),
        ("[profiles.a]\nmodel = \"x\"\nwire = \"chatt\"\n", "`wire` is `chatt`"),
        ("[profiles.a]\nmodel = \"x\"\nkey_variable = \"NO_SUCH\"\n", "$NO_SUCH, which is not set"),
        ("[profiles.a]\ntools = [\"fly\"]\n", "there is no tool `fly`"),
        ("[profiles.a]\nmcp = \"none.json\"\n", "cannot read none.json"),
        ("[profiles.a.policy]\nrun_command = \"yes\"\n", "not allow, ask or deny"),
        ("profile = \"b\"\n[profiles.a]\n", "there is no profile `b`; did you mean `a`?"),
        ("[profiles.a]\n[profiles.b]\n", "several profiles (a, b)"),
    ] {
        write(text);
        let data = data(home.path());
        let args = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let ran: Ran = alone(&args, home.path()).output().unwrap().into();
        assert_eq!(ran.status, 1, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{text}: {}", ran.stderr);
    }
}

/// What an agent has started does not outlive a gateway that was killed.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_goes_with_a_gateway_that_is_killed() {
    let home = home();
    let script = "trap '' TERM; echo $$ >pid.new; mv pid.new pid; sleep 300";
    let profile = format!(
        "[profiles.mine]\nagent = \"command\"\ncommand = [\"sh\", \"-c\", {script:?}, \"{{prompt}}\"]\n"
    );
    std::fs::write(home.path().join("millpond.toml"), profile).unwrap();
    let http = reqwest::Client::new();
    let mut process = Process::start(home.path());
    let caller = Caller::of(&process, &http);
    let session = caller.new_session().await;
    message(&caller, &session, "go").await;
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let agent = loop {
        match std::fs::read_to_string(home.path().join("pid")) {
            Ok(pid) => break pid.trim().to_owned(),
            Err(_) => assert!(std::time::Instant::now() < patience, "it was not started"),
        }
        tokio::task::yield_now().await;
    };
    process.kill();
    while std::path::Path::new("/proc").join(&agent).exists() {
        assert!(std::time::Instant::now() < patience, "process {agent} is still there");
        tokio::task::yield_now().await;
    }
}
