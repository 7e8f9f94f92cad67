//! Terminal benchmark: the whole chat in a pseudo-terminal, and its drawing alone, next to recorded
//! results of other agents.
//!
//! Needs a built `millpond`. The other agents were measured once, with the same kinds of answers on
//! a machine of this size.

mod answers;
mod chat;
mod drawing;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use answers::{AnswerKind, split_tokens};
use chat::{TerminalChat, TestGateway};

/// Tokens sent together, once per drawn frame.
const TOKENS_PER_FRAME: usize = 3;
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

const TOKENS: usize = 1_000;
const BURST_TOKENS: usize = 5_000;
const LONG_TOKENS: usize = 100_000;
const KEY_PRESSES: usize = 100;
const LATENCY_WORDS: u64 = 100;
const SESSIONS: usize = 1_000;

pub(crate) fn run_terminal_bench(program: PathBuf) -> io::Result<()> {
    let gateway = TestGateway::start(program)?;
    println!("| | goal | Millpond | best of the others |");
    println!("| --- | --- | --- | --- |");
    for (answer, goal, other) in [
        (AnswerKind::Prose, 30, "55 (opencode --mini)"),
        (AnswerKind::Code, 40, "38 (Codex)"),
        (AnswerKind::Table, 60, "70 (opencode --mini)"),
        (AnswerKind::Cjk, 30, "32 (Claude Code)"),
    ] {
        measure_and_print_paced_answer(&gateway, answer, goal, other)?;
    }
    drawing::run_drawing_bench()?;
    measure_and_print_word_latency(&gateway)?;
    measure_and_print_burst(&gateway)?;
    measure_and_print_key_latency(&gateway)?;
    measure_and_print_idle(&gateway)?;
    measure_and_print_memory(&gateway)?;
    measure_and_print_startup(&gateway)?;
    for (what, goal, tests, other) in ROWS_FROM_TESTS {
        print_row(what, goal, tests, other);
    }
    Ok(())
}

/// Rows for requirements that tests check instead of measurements.
const ROWS_FROM_TESTS: [(&str, &str, &str, &str); 8] = [
    (
        "R4 missing text, repeated text, shell lines kept after resizes",
        "0, 0, all",
        "tests: `r4_*` (alacritty's emulator and tmux)",
        "0, 0, none (Codex); 0, 13 to 27, all (Claude Code)",
    ),
    ("R5 any chunking, the same rows", "exact", "tests: `r5_*`", ""),
    ("R6 settled rows never change", "exact", "tests: `r6_*`", ""),
    ("R11 live rows", "≤ rows − 2", "tests: `r11_*`, and every frame of `whole`", ""),
    ("R12 escapes in pipes and plain terminals", "0", "tests: `r12_*`", "0 (Codex, Claude Code)"),
    ("R13 code as it is copied", "exact", "tests: `r13_*` (alacritty's emulator and tmux)", "none"),
    ("R16 keys that answer an ask by accident", "0", "tests: `r16_*`", "Crush"),
    ("R17 terminal state after signals, panics, Ctrl-Z", "as it was", "tests: `r17_*`", "Codex"),
];

#[allow(clippy::cast_precision_loss, reason = "the counts are small")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

fn print_row(what: &str, goal: &str, measured: &str, other: &str) {
    println!("| {what} | {goal} | {measured} | {other} |");
}

/// R1, R2, R3, R7 and R8: an answer at the speed of a model.
fn measure_and_print_paced_answer(
    gateway: &TestGateway,
    answer: AnswerKind,
    goal: usize,
    other: &str,
) -> io::Result<()> {
    let text = answer.make_text(TOKENS);
    let all = split_tokens(&text);
    let mut chat = TerminalChat::spawn_on_new_session(gateway)?;
    let mut source = chat.spawn_stream_source()?;
    let (before, cpu, began) = (chat.output_stats(), chat.cpu_time()?, Instant::now());
    for together in all.chunks(TOKENS_PER_FRAME) {
        source.send_text(&together.concat())?;
        std::thread::sleep(FRAME_INTERVAL);
    }
    source.send_text("\n\nthe end of it")?;
    chat.wait_for_text("the end of it")?;
    let (after, spent, took) =
        (chat.output_stats(), chat.cpu_time()?.saturating_sub(cpu), began.elapsed());
    source.finish()?;
    let name = answer.name();
    let count = to_f64(all.len());
    let bytes = to_f64(after.bytes - before.bytes) / count;
    print_row(
        &format!("R1, R2 bytes per token, {name}"),
        &format!("≤ {goal}"),
        &format!("{bytes:.1}"),
        other,
    );
    print_row(
        &format!("R3 clears, {name}"),
        "0",
        &(after.clears - before.clears).to_string(),
        "0 (Claude Code)",
    );
    let millis = spent.as_secs_f64() * 1e6 / count;
    print_row(
        &format!("R7 CPU time per 1,000 tokens, whole chat, {name}"),
        "",
        &format!("{millis:.0} ms"),
        "1,600 ms",
    );
    let frames = to_f64(after.frames - before.frames) / took.as_secs_f64();
    print_row(
        &format!("R8 frames per second, {name}"),
        "≤ 30",
        &format!("{frames:.1}"),
        "95 (Codex)",
    );
    Ok(())
}

/// R9: time from sending a word to seeing it on the screen, through the gateway.
fn measure_and_print_word_latency(gateway: &TestGateway) -> io::Result<()> {
    let mut chat = TerminalChat::spawn_on_new_session(gateway)?;
    let mut source = chat.spawn_stream_source()?;
    source.send_text("It begins. ")?;
    chat.wait_for_text("It begins.")?;
    let mut times = Vec::new();
    for n in 0..LATENCY_WORDS {
        // Not in step with the frames.
        std::thread::sleep(Duration::from_millis(40 + n % 17));
        let began = Instant::now();
        // The comma ends the word: `word1` is also in `word12`, and a space at a row's end is not drawn.
        source.send_text(&format!("word{n}, "))?;
        chat.wait_for_text(&format!("word{n},"))?;
        times.push(began.elapsed());
    }
    source.finish()?;
    let (half, most) = median_and_p99_ms(times);
    print_row(
        "R9 latency of a word, p50 and p99",
        "≤ 33 ms",
        &format!("{half:.1} ms, {most:.1} ms"),
        "",
    );
    Ok(())
}

/// Median and 99th percentile in milliseconds.
fn median_and_p99_ms(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    (at(50).as_secs_f64() * 1e3, at(99).as_secs_f64() * 1e3)
}

/// R9: time to show 5,000 tokens that arrive at once.
fn measure_and_print_burst(gateway: &TestGateway) -> io::Result<()> {
    let mut chat = TerminalChat::spawn_on_new_session(gateway)?;
    let mut source = chat.spawn_stream_source()?;
    source.send_text("It begins. ")?;
    chat.wait_for_text("It begins.")?;
    let text = AnswerKind::Prose.make_text(BURST_TOKENS);
    let began = Instant::now();
    source.send_text(&format!("{text}\n\nthe end of it"))?;
    chat.wait_for_text("the end of it")?;
    let took = began.elapsed().as_millis();
    source.finish()?;
    print_row("R9 time to show 5,000 tokens at once", "≤ 300 ms", &format!("{took} ms"), "");
    Ok(())
}

/// R10: latency of a key press while 1,000 tokens per second arrive.
fn measure_and_print_key_latency(gateway: &TestGateway) -> io::Result<()> {
    let mut chat = TerminalChat::spawn_on_new_session(gateway)?;
    let mut source = chat.spawn_stream_source()?;
    let text = AnswerKind::Prose.make_text(20_000);
    let all = split_tokens(&text).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let sender = std::thread::spawn(move || {
        for together in all.chunks(10) {
            if source.send_text(&together.concat()).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        source
    });
    std::thread::sleep(Duration::from_secs(1));
    let mut times = Vec::new();
    for n in 0..KEY_PRESSES {
        // Far enough apart not to be taken for a paste.
        std::thread::sleep(Duration::from_millis(60));
        let letter = char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
        let written: String = format!("{}{letter}", chat.text_typed_so_far());
        let began = Instant::now();
        chat.press_keys_and_await_prompt(&letter.to_string(), &written)?;
        times.push(began.elapsed());
    }
    let (half, most) = median_and_p99_ms(times);
    print_row(
        "R10 latency of a key, p50 and p99",
        "≤ 16 ms",
        &format!("{half:.1} ms, {most:.1} ms"),
        "",
    );
    drop(chat);
    let _source = sender.join();
    Ok(())
}

/// R14: output and CPU time while idle.
fn measure_and_print_idle(gateway: &TestGateway) -> io::Result<()> {
    let chat = TerminalChat::spawn_on_new_session(gateway)?;
    std::thread::sleep(Duration::from_secs(1));
    let (before, cpu) = (chat.output_stats(), chat.cpu_time()?);
    std::thread::sleep(Duration::from_secs(10));
    let (bytes, spent) =
        (chat.output_stats().bytes - before.bytes, chat.cpu_time()?.saturating_sub(cpu));
    print_row("R14 bytes in ten idle seconds", "0", &bytes.to_string(), "0");
    print_row(
        "R14 CPU while idle",
        "< 0.2 %",
        &format!("{:.2} %", spent.as_secs_f64() * 10.0),
        "0.3 %",
    );
    Ok(())
}

/// R15: memory after one very long answer.
fn measure_and_print_memory(gateway: &TestGateway) -> io::Result<()> {
    let mut chat = TerminalChat::spawn_on_new_session(gateway)?;
    let mut source = chat.spawn_stream_source()?;
    let before = chat.resident_mb()?;
    for _ in 0..LONG_TOKENS / BURST_TOKENS {
        source.send_text(&AnswerKind::Prose.make_text(BURST_TOKENS))?;
        source.send_text("\n\n")?;
    }
    source.send_text("the end of it")?;
    chat.wait_for_text("the end of it")?;
    let after = chat.resident_mb()?;
    source.finish()?;
    let words = format!("{after:.1} MB, {:.1} MB more than before", after - before);
    print_row("R15 memory after 100,000 tokens", "≤ 40 MB", &words, "243 MB (Codex)");
    Ok(())
}

/// Time from the start to the prompt, with an embedded gateway.
fn measure_and_print_startup(gateway: &TestGateway) -> io::Result<()> {
    let own = gateway.create_stopped_with_sessions(SESSIONS)?;
    let mut times = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let mut chat = TerminalChat::spawn_with_embedded_gateway(&own)?;
        chat.wait_for_text("Write a message")?;
        times.push(began.elapsed().as_millis());
    }
    times.sort_unstable();
    print_row(
        "start to prompt with 1,000 sessions",
        "< 150 ms",
        &format!("{} ms ({} to {})", times[2], times[0], times[4]),
        "",
    );
    Ok(())
}
