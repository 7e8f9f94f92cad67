//! Hostile input costs little memory and gets a typed answer.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Ran, millpond};

const MEMORY_KIB_MAX: u64 = 64 << 10;

/// Feeds what `feed` writes and returns how the program ended. Fails if it ever took more than
/// [`MEMORY_KIB_MAX`].
fn feed(args: &[&str], feed: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Ran {
    let mut child = millpond(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let mut stdin = std::io::BufWriter::new(child.stdin.take().unwrap());
    let reader = std::thread::spawn(move || child.wait_with_output().unwrap());
    let watcher = std::thread::spawn(move || peak_memory_kib(pid));
    feed(&mut stdin).and_then(|()| stdin.flush()).unwrap();
    drop(stdin);
    let used = watcher.join().unwrap();
    let ran = reader.join().unwrap().into();
    assert!(0 < used && used <= MEMORY_KIB_MAX, "{used} KiB");
    ran
}

/// The most memory a program had resident, watched until it ends. The system's own account of
/// children that have ended counts what their parent had before they began, so it is of no use.
fn peak_memory_kib(pid: u32) -> u64 {
    let mut peak = 0;
    while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
        let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) else {
            break;
        };
        peak = line.trim().trim_end_matches(" kB").parse().unwrap_or(peak);
        std::thread::yield_now();
    }
    peak
}

fn repeat(out: &mut dyn Write, piece: &[u8], times: usize) -> std::io::Result<()> {
    for _ in 0..times {
        out.write_all(piece)?;
    }
    Ok(())
}

const START: &[u8] =
    b"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi.\"}}]}\n\n";
const MEBIBYTE: usize = 1 << 20;

#[test]
fn an_endless_line_is_passed_over() {
    let ran = feed(&["show", "-o", "events", "-q"], |out| {
        out.write_all(START)?;
        out.write_all(b"data: ")?;
        repeat(out, &vec![b'x'; MEBIBYTE], 100)
    });
    assert!(ran.stdout.contains("\"reason\":\"too_long\""));
    assert!(ran.stdout.contains("\"outcome\":\"truncated\"") && ran.stdout.contains("Hi."));
}

#[test]
fn an_endless_event_is_passed_over() {
    let line = [b"data: ".to_vec(), vec![b'x'; MEBIBYTE], b"\n".to_vec()].concat();
    let ran = feed(&["show", "-o", "events", "-q"], |out| {
        out.write_all(START)?;
        repeat(out, &line, 100)?;
        out.write_all(b"\n")?;
        out.write_all(START)
    });
    assert!(ran.stdout.contains("\"reason\":\"too_long\""));
    assert_eq!(ran.stdout.matches("Hi.").count(), 2, "what comes after it is read");
}

#[test]
fn an_endless_line_of_json_is_passed_over() {
    let ran = feed(&["show", "-q", "-o", "events"], |out| {
        out.write_all(b"{\"choices\":\"")?;
        repeat(out, &vec![b'x'; MEBIBYTE], 100)
    });
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("\"reason\":\"too_long\""));
}

#[test]
fn a_million_empty_data_lines_are_one_unreadable_event() {
    let ran = feed(&["show", "-q", "-o", "events"], |out| {
        out.write_all(START)?;
        repeat(out, b"data:\n", 1_000_000)?;
        out.write_all(b"\n")?;
        out.write_all(START)
    });
    assert_eq!(ran.stdout.matches("Hi.").count(), 2);
}

#[test]
fn deeply_nested_json_is_kept_as_unreadable() {
    let ran = feed(&["show", "-q", "-o", "events"], |out| {
        out.write_all(START)?;
        out.write_all(b"data: {\"choices\":")?;
        repeat(out, b"[", MEBIBYTE)?;
        out.write_all(b"\n\n")?;
        out.write_all(b"data: {\"id\":\"c\",\"usage\":")?;
        repeat(out, b"{\"a\":", 100_000)?;
        out.write_all(b"1")?;
        repeat(out, b"}", 100_000)?;
        out.write_all(b"}\n\n")?;
        out.write_all(START)
    });
    assert!(ran.stdout.contains("\"reason\":\"unreadable\""));
    assert_eq!(ran.stdout.matches("\"text\":\"Hi.\"").count(), 2);
}

/// Ten megabytes of arguments, in one delta or in many: they are all in the log.
#[test]
fn ten_megabytes_of_tool_arguments_pass() {
    let chunk = |arguments: &str| {
        format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"t\",\"function\":{{\"name\":\"f\",\"arguments\":\"{arguments}\"}}}}]}}}}]}}\n\n"
        )
    };
    let whole = chunk(&"x\\n".repeat(10 * MEBIBYTE / 3));
    let many = chunk(&"x".repeat(1024));
    let args = ["show", "-q", "-o", "events"];
    let ran = feed(&args, |out| out.write_all(whole.as_bytes()));
    assert!(10 * MEBIBYTE - 3 <= ran.stdout.len(), "all of it is in the log");
    assert_eq!(ran.status, 3);
    let ran = feed(&args, |out| repeat(out, many.as_bytes(), 10 * 1024));
    assert!(10 * MEBIBYTE <= ran.stdout.len(), "all of it is in the log");
    assert_eq!(ran.status, 3);
}

#[test]
fn a_long_reply_takes_no_more_memory_than_a_short_one() {
    let text = "word ".repeat(200);
    let chunk = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let times = 100 * MEBIBYTE / text.len();
    let ran = feed(&["show", "-q"], |out| repeat(out, chunk.as_bytes(), times));
    assert_eq!(ran.stdout.len(), text.len() * times + 1);
}

#[test]
fn an_endless_lead_of_blank_lines_is_forgotten() {
    let ran = feed(&["show", "-q"], |out| {
        repeat(out, &vec![b'\n'; MEBIBYTE], 100)?;
        out.write_all(START)
    });
    assert_eq!(ran.stdout, "Hi.\n");
}
