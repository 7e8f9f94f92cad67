//! Hostile input is handled in bounded memory and reported as typed events.

use std::io::Write;
use std::process::Stdio;

use crate::support::{ProgramOutput, millpond_command};

const MEMORY_KIB_MAX: u64 = 64 << 10;

/// Runs `millpond` with the input that `feed` writes. Panics if it ever uses more than
/// [`MEMORY_KIB_MAX`].
fn run_with_memory_limit(
    args: &[&str],
    feed: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> ProgramOutput {
    let mut child = millpond_command(args)
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

/// Peak resident memory of a process, polled until it ends. `getrusage` of children is useless
/// here: it includes the memory of the parent before `exec`.
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

fn write_repeated(out: &mut dyn Write, piece: &[u8], times: usize) -> std::io::Result<()> {
    for _ in 0..times {
        out.write_all(piece)?;
    }
    Ok(())
}

const FIRST_CHUNK: &[u8] =
    b"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi.\"}}]}\n\n";
const MEBIBYTE: usize = 1 << 20;

#[test]
fn an_endless_line_is_passed_over() {
    let ran = run_with_memory_limit(&["show", "-o", "events", "-q"], |out| {
        out.write_all(FIRST_CHUNK)?;
        out.write_all(b"data: ")?;
        write_repeated(out, &vec![b'x'; MEBIBYTE], 100)
    });
    assert!(ran.stdout.contains("\"reason\":\"too_long\""));
    assert!(ran.stdout.contains("\"outcome\":\"truncated\"") && ran.stdout.contains("Hi."));
}

#[test]
fn an_endless_event_is_passed_over() {
    let line = [b"data: ".to_vec(), vec![b'x'; MEBIBYTE], b"\n".to_vec()].concat();
    let ran = run_with_memory_limit(&["show", "-o", "events", "-q"], |out| {
        out.write_all(FIRST_CHUNK)?;
        write_repeated(out, &line, 100)?;
        out.write_all(b"\n")?;
        out.write_all(FIRST_CHUNK)
    });
    assert!(ran.stdout.contains("\"reason\":\"too_long\""));
    assert_eq!(ran.stdout.matches("Hi.").count(), 2, "what comes after it is read");
}

#[test]
fn an_endless_line_of_json_is_passed_over() {
    let ran = run_with_memory_limit(&["show", "-q", "-o", "events"], |out| {
        out.write_all(b"{\"choices\":\"")?;
        write_repeated(out, &vec![b'x'; MEBIBYTE], 100)
    });
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("\"reason\":\"too_long\""));
}

#[test]
fn a_million_empty_data_lines_are_one_unreadable_event() {
    let ran = run_with_memory_limit(&["show", "-q", "-o", "events"], |out| {
        out.write_all(FIRST_CHUNK)?;
        write_repeated(out, b"data:\n", 1_000_000)?;
        out.write_all(b"\n")?;
        out.write_all(FIRST_CHUNK)
    });
    assert_eq!(ran.stdout.matches("Hi.").count(), 2);
}

#[test]
fn deeply_nested_json_is_kept_as_unreadable() {
    let ran = run_with_memory_limit(&["show", "-q", "-o", "events"], |out| {
        out.write_all(FIRST_CHUNK)?;
        out.write_all(b"data: {\"choices\":")?;
        write_repeated(out, b"[", MEBIBYTE)?;
        out.write_all(b"\n\n")?;
        out.write_all(b"data: {\"id\":\"c\",\"usage\":")?;
        write_repeated(out, b"{\"a\":", 100_000)?;
        out.write_all(b"1")?;
        write_repeated(out, b"}", 100_000)?;
        out.write_all(b"}\n\n")?;
        out.write_all(FIRST_CHUNK)
    });
    assert!(ran.stdout.contains("\"reason\":\"unreadable\""));
    assert_eq!(ran.stdout.matches("\"text\":\"Hi.\"").count(), 2);
}

/// Ten megabytes of arguments, in one delta or in many, are all in the log.
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
    let ran = run_with_memory_limit(&args, |out| out.write_all(whole.as_bytes()));
    assert!(10 * MEBIBYTE - 3 <= ran.stdout.len(), "all of it is in the log");
    assert_eq!(ran.status, 3);
    let ran = run_with_memory_limit(&args, |out| write_repeated(out, many.as_bytes(), 10 * 1024));
    assert!(10 * MEBIBYTE <= ran.stdout.len(), "all of it is in the log");
    assert_eq!(ran.status, 3);
}

#[test]
fn a_long_reply_takes_no_more_memory_than_a_short_one() {
    let text = "word ".repeat(200);
    let chunk = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let times = 100 * MEBIBYTE / text.len();
    let ran =
        run_with_memory_limit(&["show", "-q"], |out| write_repeated(out, chunk.as_bytes(), times));
    assert_eq!(ran.stdout.len(), text.len() * times + 1);
}

#[test]
fn an_endless_lead_of_blank_lines_is_forgotten() {
    let ran = run_with_memory_limit(&["show", "-q"], |out| {
        write_repeated(out, &vec![b'\n'; MEBIBYTE], 100)?;
        out.write_all(FIRST_CHUNK)
    });
    assert_eq!(ran.stdout, "Hi.\n");
}
