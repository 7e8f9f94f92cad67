//! The commands around a gateway, and what they say when something is wrong.

use std::io::Write;
use std::path::Path;

use super::process::{Process, alone, data, home};
use crate::support::{Ran, chat, chat_without_end, finish_with, spawn};

fn ran(home: &Path, args: &[&str]) -> Ran {
    alone(args, home).output().unwrap().into()
}

/// `millpond tee` with `input`, and these arguments more.
fn tee(home: &Path, gateway: &str, args: &[&str], input: &[u8]) -> Ran {
    let data = data(home);
    let mut all = vec!["tee", gateway, "--data", data.to_str().unwrap()];
    all.extend(args);
    finish_with(&mut alone(&all, home), input)
}

fn url(process: &Process) -> String {
    format!("http://{}", process.address)
}

#[test]
fn tee_passes_everything_through_and_says_where_it_went() {
    let home = home();
    let process = Process::start(home.path());
    let input = chat(&["through ", "and through"]);
    let first = tee(home.path(), &url(&process), &[], &input);
    assert_eq!((first.stdout.as_bytes(), first.status), (&*input, 0), "{}", first.stderr);
    let said = first.stderr.trim().strip_prefix("millpond: session ").unwrap();
    let (session, rest) = said.split_once(", run ").unwrap();
    assert!(rest.ends_with(": completed"), "{said}");
    let cut = chat_without_end(&["cut"]);
    let second = tee(home.path(), &url(&process), &["--session", session], &cut);
    assert_eq!((second.stdout.as_bytes(), second.status), (&*cut, 0));
    assert!(second.stderr.contains(session), "{}", second.stderr);
    assert!(second.stderr.trim().ends_with(": truncated"), "{}", second.stderr);
}

#[test]
fn tee_says_what_the_gateway_did_not_like_and_passes_everything_through() {
    let home = home();
    let process = Process::start(home.path());
    let url = url(&process);
    let input = chat(&[&"on and on ".repeat(10_000)]);
    let wrong = format!("mp_{}", "0".repeat(64));
    for (args, part) in [
        (["--token", &wrong], "with a token of this gateway"),
        (["--token", "nonsense"], "with a token of this gateway"),
        (["--from", "klingon"], "`klingon` is no dialect. Use auto, "),
        (["--session", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], "There is nothing here by that name."),
    ] {
        let ran = tee(home.path(), &url, &args, &input);
        assert_eq!((ran.stdout.as_bytes(), ran.status), (&*input, 1), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("the gateway did not take it: "), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
    }
    let ran = tee(home.path(), &url, &["--session", "../../etc"], &input);
    assert_eq!((&*ran.stdout, ran.status), ("", 2));
    assert!(ran.stderr.contains("`../../etc` is no session"), "{}", ran.stderr);
}

#[test]
fn tee_says_so_when_the_gateway_is_away_or_goes_away() {
    let home = home();
    let mut process = Process::start(home.path());
    let url = url(&process);
    let data = data(home.path());
    let args = ["tee", &url, "--data", data.to_str().unwrap()];
    let mut child = spawn(&mut alone(&args, home.path()));
    let mut stdin = child.stdin.take().unwrap();
    let (before, after) = (chat_without_end(&["before"]), chat(&["after"]));
    stdin.write_all(&before).unwrap();
    process.kill();
    stdin.write_all(&after).unwrap();
    drop(stdin);
    let gone: Ran = child.wait_with_output().unwrap().into();
    assert_eq!((gone.stdout.as_bytes(), gone.status), (&*[before, after].concat(), 1));
    assert!(gone.stderr.contains("the gateway did not take it: "), "{}", gone.stderr);

    let input = chat(&["nobody is there"]);
    let away = tee(home.path(), &url, &[], &input);
    assert_eq!((away.stdout.as_bytes(), away.status), (&*input, 1));
    assert!(away.stderr.contains("the gateway did not take it: "), "{}", away.stderr);
}

#[test]
fn tee_without_a_token_says_where_one_comes_from() {
    let home = home();
    let ran = tee(home.path(), "http://127.0.0.1:1", &[], b"x");
    assert_eq!((&*ran.stdout, ran.status), ("", 2));
    assert!(ran.stderr.contains("start `millpond serve` once, or give --token"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn login_prints_a_link_that_is_good_once() {
    let home = home();
    let process = Process::start(home.path());
    let data = data(home.path());
    let data = data.to_str().unwrap();
    let ran = ran(home.path(), &["login", "--data", data, "--listen", &process.address]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let link = ran.stdout.trim();
    assert!(link.starts_with(&format!("http://{}/login?code=mp_", process.address)), "{link}");
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let browser = browser.build().unwrap();
    assert_eq!(browser.get(link).send().await.unwrap().status(), 303);
    assert_eq!(browser.get(link).send().await.unwrap().status(), 401, "used");
}

#[test]
fn login_says_when_there_is_no_gateway_or_no_token() {
    let home = home();
    let data = data(home.path());
    let data = data.to_str().unwrap();
    let none = ran(home.path(), &["login", "--data", data]);
    assert_eq!((&*none.stdout, none.status), ("", 1));
    assert!(none.stderr.contains("start `millpond serve` once"), "{}", none.stderr);
    let mut process = Process::start(home.path());
    process.kill();
    let away = ran(home.path(), &["login", "--data", data, "--listen", &process.address]);
    assert_eq!((&*away.stdout, away.status), ("", 1));
    let told = format!("no gateway answers at http://{}", process.address);
    assert!(away.stderr.contains(&told), "{}", away.stderr);
}

#[test]
fn a_second_gateway_on_the_same_log_or_port_says_what_to_do() {
    let home = home();
    let process = Process::start(home.path());
    let data = data(home.path());
    let second =
        ran(home.path(), &["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    assert_eq!(second.status, 1);
    assert!(second.stderr.contains("is in use by another gateway"), "{}", second.stderr);
    let other = home.path().join("other");
    let args = ["serve", "--listen", &process.address, "--data", other.to_str().unwrap()];
    let third = ran(home.path(), &args);
    assert_eq!(third.status, 1);
    let told = format!("cannot listen on {}", process.address);
    assert!(third.stderr.contains(&told), "{}", third.stderr);
}

#[test]
fn config_prints_what_is_in_force_and_names_the_nearest_key() {
    let home = home();
    let file = home.path().join("millpond.toml");
    std::fs::write(&file, "listen = \"127.0.0.1:9\"\nkeep_days = 7\n").unwrap();
    let mut command = alone(&["config", "--data", "here"], home.path());
    let shown: Ran = command.env("MILLPOND_KEEP_DAYS", "8").output().unwrap().into();
    assert_eq!(shown.status, 0, "{}", shown.stderr);
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
        let wrong = ran(home.path(), command);
        assert_ne!(wrong.status, 0, "{command:?}");
        let told = "there is no setting `durabilty`; did you mean `durability`?";
        assert!(wrong.stderr.contains(told), "{command:?}: {}", wrong.stderr);
    }
}

#[test]
fn doctor_leaves_a_log_in_use_alone_but_copies_it() {
    let home = home();
    let process = Process::start(home.path());
    let sent = tee(home.path(), &url(&process), &[], &chat(&["kept"]));
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    let data = data(home.path());
    let data = data.to_str().unwrap();
    for args in [&["doctor", "--data", data][..], &["doctor", "--data", data, "--repair"]] {
        let used = ran(home.path(), args);
        assert_eq!(used.status, 1);
        assert!(used.stderr.contains("is in use by another gateway"), "{}", used.stderr);
    }
    let again = home.path().join("again");
    std::fs::create_dir(&again).unwrap();
    let copy = again.join("millpond.db");
    let args = ["doctor", "--data", data, "--backup", copy.to_str().unwrap()];
    let copied = ran(home.path(), &args);
    assert_eq!(copied.status, 0, "{}", copied.stderr);
    let sound = ran(home.path(), &["doctor", "--data", again.to_str().unwrap()]);
    assert_eq!(sound.status, 0, "{}", sound.stderr);
    assert!(sound.stderr.contains("1 sessions, "), "{}", sound.stderr);
    assert!(sound.stderr.contains(" 0 damages"), "{}", sound.stderr);
}

#[test]
fn doctor_finds_a_flipped_byte_and_mends_what_can_be_mended() {
    let home = home();
    let process = Process::start(home.path());
    let sent = tee(home.path(), &url(&process), &[], &chat(&["a very remarkable word"]));
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    assert!(process.terminate().0.success());
    let data = data(home.path());
    let file = data.join("millpond.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let needle = b"\"text\":\"a very remarkable word\"";
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    bytes[at + 12] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let data = data.to_str().unwrap();
    let found = ran(home.path(), &["doctor", "--data", data]);
    assert_eq!(found.status, 1);
    assert!(found.stderr.contains(" 1 damages, 0 of them mended"), "{}", found.stderr);
    let mended = ran(home.path(), &["doctor", "--data", data, "--repair"]);
    assert!(mended.stderr.contains(" 1 of them mended"), "{}", mended.stderr);
    let sound = ran(home.path(), &["doctor", "--data", data]);
    assert_eq!(sound.status, 0, "{}", sound.stderr);
}
