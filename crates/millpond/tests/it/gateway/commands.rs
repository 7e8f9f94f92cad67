//! The commands around a gateway (`tee`, `login`, `config`, `doctor`) and their errors.

use std::io::Write;
use std::path::Path;

use super::process::{GatewayProcess, data_folder, isolated_command, temp_home};
use crate::support::{
    ProgramOutput, chat_stream, run_command_with_input, spawn_piped, unfinished_chat_stream,
};

fn run_isolated(home: &Path, args: &[&str]) -> ProgramOutput {
    isolated_command(args, home).output().unwrap().into()
}

/// Runs `millpond tee` with `input` and additional arguments.
fn run_tee(home: &Path, gateway: &str, args: &[&str], input: &[u8]) -> ProgramOutput {
    let data = data_folder(home);
    let mut all = vec!["tee", gateway, "--data", data.to_str().unwrap()];
    all.extend(args);
    run_command_with_input(&mut isolated_command(&all, home), input)
}

fn gateway_url(process: &GatewayProcess) -> String {
    format!("http://{}", process.address)
}

#[test]
fn tee_passes_everything_through_and_says_where_it_went() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let input = chat_stream(&["through ", "and through"]);
    let first = run_tee(home.path(), &gateway_url(&process), &[], &input);
    assert_eq!((first.stdout.as_bytes(), first.status), (&*input, 0), "{}", first.stderr);
    let printed = first.stderr.trim().strip_prefix("millpond: session ").unwrap();
    let (session, rest) = printed.split_once(", run ").unwrap();
    assert!(rest.ends_with(": completed"), "{printed}");
    let cut = unfinished_chat_stream(&["cut"]);
    let second = run_tee(home.path(), &gateway_url(&process), &["--session", session], &cut);
    assert_eq!((second.stdout.as_bytes(), second.status), (&*cut, 0));
    assert!(second.stderr.contains(session), "{}", second.stderr);
    assert!(second.stderr.trim().ends_with(": truncated"), "{}", second.stderr);
}

#[test]
fn tee_says_what_the_gateway_did_not_like_and_passes_everything_through() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let url = gateway_url(&process);
    let input = chat_stream(&[&"on and on ".repeat(10_000)]);
    let wrong = format!("mp_{}", "0".repeat(64));
    for (args, part) in [
        (["--token", &wrong], "with a token, or open a login link"),
        (["--token", "nonsense"], "with a token, or open a login link"),
        (["--from", "klingon"], "Unknown dialect `klingon`. Use auto, "),
        (["--session", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], "Not found."),
    ] {
        let ran = run_tee(home.path(), &url, &args, &input);
        assert_eq!((ran.stdout.as_bytes(), ran.status), (&*input, 1), "{args:?}: {}", ran.stderr);
        let rejected = "the gateway rejected the stream: ";
        assert!(ran.stderr.contains(rejected), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
    }
    let ran = run_tee(home.path(), &url, &["--session", "../../etc"], &input);
    assert_eq!((&*ran.stdout, ran.status), ("", 2));
    assert!(ran.stderr.contains("invalid session `../../etc`"), "{}", ran.stderr);
}

#[test]
fn tee_says_so_when_the_gateway_is_away_or_goes_away() {
    let home = temp_home();
    let mut process = GatewayProcess::start(home.path());
    let url = gateway_url(&process);
    let data = data_folder(home.path());
    let args = ["tee", &url, "--data", data.to_str().unwrap()];
    let mut child = spawn_piped(&mut isolated_command(&args, home.path()));
    let mut stdin = child.stdin.take().unwrap();
    let (before, after) = (unfinished_chat_stream(&["before"]), chat_stream(&["after"]));
    stdin.write_all(&before).unwrap();
    process.kill();
    stdin.write_all(&after).unwrap();
    drop(stdin);
    let gone: ProgramOutput = child.wait_with_output().unwrap().into();
    assert_eq!((gone.stdout.as_bytes(), gone.status), (&*[before, after].concat(), 1));
    assert!(gone.stderr.contains("cannot send to the gateway: "), "{}", gone.stderr);

    let input = chat_stream(&["nobody is there"]);
    let away = run_tee(home.path(), &url, &[], &input);
    assert_eq!((away.stdout.as_bytes(), away.status), (&*input, 1));
    assert!(away.stderr.contains("cannot send to the gateway: "), "{}", away.stderr);
}

#[test]
fn tee_without_a_token_copies_and_says_where_one_comes_from() {
    let home = temp_home();
    let ran = run_tee(home.path(), "http://127.0.0.1:1", &[], b"x");
    assert_eq!((&*ran.stdout, ran.status), ("x", 1));
    let wrong = run_tee(home.path(), "nowhere", &["--token", "t"], b"x");
    assert_eq!((&*wrong.stdout, wrong.status), ("x", 1));
    assert!(wrong.stderr.contains("`nowhere` is not the URL of a gateway"), "{}", wrong.stderr);
    assert!(
        ran.stderr.contains("run `millpond serve` with this data folder first"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn login_prints_a_link_that_is_good_once() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let data = data_folder(home.path());
    let data = data.to_str().unwrap();
    let ran = run_isolated(home.path(), &["login", "--data", data, "--listen", &process.address]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let link = ran.stdout.trim();
    assert!(link.starts_with(&format!("http://{}/login?code=mp_", process.address)), "{link}");
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let browser = browser.build().unwrap();
    // As a link checker does.
    assert_eq!(browser.head(link).send().await.unwrap().status(), 204);
    assert_eq!(browser.get(link).send().await.unwrap().status(), 303);
    assert_eq!(browser.get(link).send().await.unwrap().status(), 401, "used");
}

/// The gateway listens on a free port, which only the address file tells.
#[test]
fn tee_and_login_find_the_gateway_of_the_data_folder() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let data = data_folder(home.path());
    let data = data.to_str().unwrap();
    let input = chat_stream(&["found"]);
    let mut tee = isolated_command(&["tee", "--data", data], home.path());
    let sent = run_command_with_input(&mut tee, &input);
    assert_eq!((sent.stdout.as_bytes(), sent.status), (&*input, 0), "{}", sent.stderr);
    let login = run_isolated(home.path(), &["login", "--data", data]);
    assert_eq!(login.status, 0, "{}", login.stderr);
    let expected = format!("http://{}/login?code=mp_", process.address);
    assert!(login.stdout.starts_with(&expected), "{}", login.stdout);
    std::fs::remove_file(data_folder(home.path()).join("address")).unwrap();
    let lost = run_isolated(home.path(), &["login", "--data", data]);
    assert_eq!((&*lost.stdout, lost.status), ("", 1));
    assert!(lost.stderr.contains("no gateway runs with "), "{}", lost.stderr);
}

#[test]
fn login_says_when_there_is_no_gateway_or_no_token() {
    let home = temp_home();
    let data = data_folder(home.path());
    let data = data.to_str().unwrap();
    let none = run_isolated(home.path(), &["login", "--data", data]);
    assert_eq!((&*none.stdout, none.status), ("", 1));
    assert!(
        none.stderr.contains("run `millpond serve` with this data folder first"),
        "{}",
        none.stderr
    );
    let mut process = GatewayProcess::start(home.path());
    process.kill();
    let away = run_isolated(home.path(), &["login", "--data", data, "--listen", &process.address]);
    assert_eq!((&*away.stdout, away.status), ("", 1));
    let told = format!("cannot reach the gateway at http://{}", process.address);
    assert!(away.stderr.contains(&told), "{}", away.stderr);
}

#[test]
fn a_second_gateway_on_the_same_log_or_port_says_what_to_do() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let data = data_folder(home.path());
    let second = run_isolated(
        home.path(),
        &["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()],
    );
    assert_eq!(second.status, 1);
    assert!(second.stderr.contains("is in use by another gateway"), "{}", second.stderr);
    let other = home.path().join("other");
    let args = ["serve", "--listen", &process.address, "--data", other.to_str().unwrap()];
    let third = run_isolated(home.path(), &args);
    assert_eq!(third.status, 1);
    let told = format!("cannot listen on {}", process.address);
    assert!(third.stderr.contains(&told), "{}", third.stderr);
}

#[test]
fn config_prints_what_is_in_force_and_names_the_nearest_key() {
    let home = temp_home();
    let file = home.path().join("millpond.toml");
    std::fs::write(&file, "listen = \"127.0.0.1:9\"\nkeep_days = 7\n").unwrap();
    let mut command = isolated_command(&["config", "--data", "here"], home.path());
    let shown: ProgramOutput = command.env("MILLPOND_KEEP_DAYS", "8").output().unwrap().into();
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    assert!(shown.stdout.starts_with("# Data folder: here\n"), "{}", shown.stdout);
    for (setting, origin) in [
        ("listen = \"127.0.0.1:9\"", "# millpond.toml: "),
        ("keep_days = 8", "# $MILLPOND_KEEP_DAYS: "),
        ("data = \"here\"", "# flag: "),
        ("durability = \"window\"", "# default: "),
    ] {
        let line = shown.stdout.lines().find(|line| line.starts_with(setting));
        assert!(line.is_some_and(|line| line.contains(origin)), "{setting}: {}", shown.stdout);
    }
    std::fs::write(&file, "durabilty = \"full\"\n").unwrap();
    for command in [&["config"][..], &["serve"], &["doctor"], &["login"]] {
        let wrong = run_isolated(home.path(), command);
        assert_ne!(wrong.status, 0, "{command:?}");
        let told = "unknown setting `durabilty`; did you mean `durability`?";
        assert!(wrong.stderr.contains(told), "{command:?}: {}", wrong.stderr);
    }
}

#[test]
fn doctor_leaves_a_log_in_use_alone_but_copies_it() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let sent = run_tee(home.path(), &gateway_url(&process), &[], &chat_stream(&["kept"]));
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    let data = data_folder(home.path());
    let data = data.to_str().unwrap();
    for args in [&["doctor", "--data", data][..], &["doctor", "--data", data, "--repair"]] {
        let used = run_isolated(home.path(), args);
        assert_eq!(used.status, 1);
        assert!(used.stderr.contains("is in use by another gateway"), "{}", used.stderr);
    }
    let again = home.path().join("again");
    std::fs::create_dir(&again).unwrap();
    let copy = again.join("millpond.db");
    let args = ["doctor", "--data", data, "--backup", copy.to_str().unwrap()];
    let copied = run_isolated(home.path(), &args);
    assert_eq!(copied.status, 0, "{}", copied.stderr);
    let sound = run_isolated(home.path(), &["doctor", "--data", again.to_str().unwrap()]);
    assert_eq!(sound.status, 0, "{}", sound.stderr);
    assert!(sound.stderr.contains("sessions: 1, "), "{}", sound.stderr);
    assert!(sound.stderr.contains("no damage found"), "{}", sound.stderr);
}

#[test]
fn doctor_creates_no_log_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("typo");
    let ran = crate::support::run_millpond(&["doctor", "--data", missing.to_str().unwrap()]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("no log in "), "{}", ran.stderr);
    assert!(!missing.exists());
}

#[test]
fn doctor_finds_a_flipped_byte_and_mends_what_can_be_mended() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let sent = run_tee(
        home.path(),
        &gateway_url(&process),
        &[],
        &chat_stream(&["a very remarkable word"]),
    );
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    assert!(process.terminate().0.success());
    let data = data_folder(home.path());
    let file = data.join("millpond.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // The run's row is compressed if the gateway was not stopped before.
    let find = |needle: &[u8]| bytes.windows(needle.len()).position(|window| window == needle);
    let at = find(b"\x28\xb5\x2f\xfd").or_else(|| find(b"a very remarkable word")).unwrap();
    bytes[at + 20] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let data = data.to_str().unwrap();
    let found = run_isolated(home.path(), &["doctor", "--data", data]);
    assert_eq!(found.status, 1);
    assert!(found.stderr.contains("damage found: 1, repaired: 0"), "{}", found.stderr);
    assert!(found.stderr.contains("millpond: session "), "{}", found.stderr);
    assert!(found.stderr.contains(" are unreadable: "), "{}", found.stderr);
    let mended = run_isolated(home.path(), &["doctor", "--data", data, "--repair"]);
    assert!(mended.stderr.contains("repaired: 1"), "{}", mended.stderr);
    let sound = run_isolated(home.path(), &["doctor", "--data", data]);
    assert_eq!(sound.status, 0, "{}", sound.stderr);
}
