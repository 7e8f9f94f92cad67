//! The whole chat in a pseudo-terminal, and what drawing costs of it, beside what other agents' terminals were measured at.
//!
//! Needs a built `millpond`. Figures of the others are of the same kind of answers on a machine of
//! this size; they were taken once, with the versions that the table names.

mod answers;
mod chat;
mod drawing;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use answers::{Answer, tokens};
use chat::{Chat, House};

/// Tokens that arrive together, as often as a frame is drawn.
const TOGETHER: usize = 3;
const EVERY: Duration = Duration::from_millis(33);

const TOKENS: usize = 1_000;
const BURST_TOKENS: usize = 5_000;
const LONG_TOKENS: usize = 100_000;
const KEYS: usize = 100;
const WORDS: u64 = 100;
const SESSIONS: usize = 1_000;

pub(crate) fn run(program: PathBuf) -> io::Result<()> {
    let house = House::start(program)?;
    println!("| | goal | Millpond | best of the others |");
    println!("| --- | --- | --- | --- |");
    for (answer, goal, other) in [
        (Answer::Prose, 30, "55 (opencode --mini)"),
        (Answer::Code, 40, "38 (Codex)"),
        (Answer::Table, 60, "70 (opencode --mini)"),
        (Answer::Cjk, 30, "32 (Claude Code)"),
    ] {
        paced(&house, answer, goal, other)?;
    }
    drawing::run()?;
    glass(&house)?;
    burst(&house)?;
    keys(&house)?;
    idle(&house)?;
    memory(&house)?;
    start(&house)?;
    for (what, goal, tests, other) in TESTED {
        row(what, goal, tests, other);
    }
    Ok(())
}

/// What either holds or does not, and the tests of `.ci/run` that say so.
const TESTED: [(&str, &str, &str, &str); 8] = [
    (
        "R4 text missing, doubled, the shell's lines kept after resizes",
        "0, 0, all",
        "tests: `r4_*` (alacritty's emulator and tmux)",
        "0, 0, none (Codex); 0, 13 to 27, all (Claude Code)",
    ),
    ("R5 any chunking, the same rows", "exact", "tests: `r5_*`", ""),
    ("R6 settled rows never change", "exact", "tests: `r6_*`", ""),
    ("R11 live rows", "≤ rows − 2", "tests: `r11_*`, and every frame of `whole`", ""),
    ("R12 escapes in pipes and plain terminals", "0", "tests: `r12_*`", "0 (Codex, Claude Code)"),
    ("R13 code as it is copied", "exact", "tests: `r13_*` (alacritty's emulator and tmux)", "none"),
    ("R16 keys that answer what they were not meant for", "0", "tests: `r16_*`", "Crush"),
    ("R17 the terminal after signals, panics, Ctrl-Z", "as it was", "tests: `r17_*`", "Codex"),
];

#[allow(clippy::cast_precision_loss, reason = "they are small")]
fn real(count: usize) -> f64 {
    count as f64
}

fn row(what: &str, goal: &str, measured: &str, other: &str) {
    println!("| {what} | {goal} | {measured} | {other} |");
}

/// R1, R2, R3, R7 and R8: an answer that comes as fast as models write.
fn paced(house: &House, answer: Answer, goal: usize, other: &str) -> io::Result<()> {
    let text = answer.text(TOKENS);
    let all = tokens(&text);
    let mut chat = Chat::open(house)?;
    let mut source = chat.source()?;
    let (before, cpu, began) = (chat.seen(), chat.processor_time()?, Instant::now());
    for together in all.chunks(TOGETHER) {
        source.say(&together.concat())?;
        std::thread::sleep(EVERY);
    }
    source.say("\n\nthe end of it")?;
    chat.shows("the end of it")?;
    let (after, spent, took) =
        (chat.seen(), chat.processor_time()?.saturating_sub(cpu), began.elapsed());
    source.end()?;
    let name = answer.name();
    let count = real(all.len());
    let bytes = real(after.bytes - before.bytes) / count;
    row(
        &format!("R1, R2 bytes per token, {name}"),
        &format!("≤ {goal}"),
        &format!("{bytes:.1}"),
        other,
    );
    row(
        &format!("R3 clears, {name}"),
        "0",
        &(after.clears - before.clears).to_string(),
        "0 (Claude Code)",
    );
    let millis = spent.as_secs_f64() * 1e6 / count;
    row(
        &format!("R7 processor time per 1,000 tokens, all of the chat, {name}"),
        "",
        &format!("{millis:.0} ms"),
        "1,600 ms",
    );
    let frames = real(after.frames - before.frames) / took.as_secs_f64();
    row(&format!("R8 frames per second, {name}"), "≤ 30", &format!("{frames:.1}"), "95 (Codex)");
    Ok(())
}

/// R9: from a word that is sent to the same word on the screen, through the gateway.
fn glass(house: &House) -> io::Result<()> {
    let mut chat = Chat::open(house)?;
    let mut source = chat.source()?;
    source.say("It begins. ")?;
    chat.shows("It begins.")?;
    let mut times = Vec::new();
    for n in 0..WORDS {
        // In no step with the frames.
        std::thread::sleep(Duration::from_millis(40 + n % 17));
        let began = Instant::now();
        source.say(&format!("word{n} "))?;
        chat.shows(&format!("word{n} "))?;
        times.push(began.elapsed());
    }
    source.end()?;
    let (half, most) = middle_and_most(times);
    row(
        "R9 a word is seen after, half and 99 of 100",
        "≤ 33 ms",
        &format!("{half:.1} ms, {most:.1} ms"),
        "",
    );
    Ok(())
}

/// What half and 99 of 100 keep to, in milliseconds.
fn middle_and_most(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    (at(50).as_secs_f64() * 1e3, at(99).as_secs_f64() * 1e3)
}

/// R9: from the moment all of it is there.
fn burst(house: &House) -> io::Result<()> {
    let mut chat = Chat::open(house)?;
    let mut source = chat.source()?;
    source.say("It begins. ")?;
    chat.shows("It begins.")?;
    let text = Answer::Prose.text(BURST_TOKENS);
    let began = Instant::now();
    source.say(&format!("{text}\n\nthe end of it"))?;
    chat.shows("the end of it")?;
    let took = began.elapsed().as_millis();
    source.end()?;
    row("R9 5,000 tokens at once are shown after", "≤ 300 ms", &format!("{took} ms"), "");
    Ok(())
}

/// R10: while 1,000 tokens a second arrive.
fn keys(house: &House) -> io::Result<()> {
    let mut chat = Chat::open(house)?;
    let mut source = chat.source()?;
    let text = Answer::Prose.text(20_000);
    let all = tokens(&text).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let pouring = std::thread::spawn(move || {
        for together in all.chunks(10) {
            if source.say(&together.concat()).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        source
    });
    std::thread::sleep(Duration::from_secs(1));
    let mut times = Vec::new();
    for n in 0..KEYS {
        // Long enough apart that no burst is taken for a paste.
        std::thread::sleep(Duration::from_millis(60));
        let letter = char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
        let written: String = format!("{}{letter}", chat.written());
        let began = Instant::now();
        chat.press(&letter.to_string(), &written)?;
        times.push(began.elapsed());
    }
    let (half, most) = middle_and_most(times);
    row(
        "R10 a key is seen after, half and 99 of 100",
        "≤ 16 ms",
        &format!("{half:.1} ms, {most:.1} ms"),
        "",
    );
    drop(chat);
    let _source = pouring.join();
    Ok(())
}

/// R14: nothing happens.
fn idle(house: &House) -> io::Result<()> {
    let chat = Chat::open(house)?;
    std::thread::sleep(Duration::from_secs(1));
    let (before, cpu) = (chat.seen(), chat.processor_time()?);
    std::thread::sleep(Duration::from_secs(10));
    let (bytes, spent) =
        (chat.seen().bytes - before.bytes, chat.processor_time()?.saturating_sub(cpu));
    row("R14 bytes in ten idle seconds", "0", &bytes.to_string(), "0");
    row(
        "R14 processor while idle",
        "< 0.2 %",
        &format!("{:.2} %", spent.as_secs_f64() * 10.0),
        "0.3 %",
    );
    Ok(())
}

/// R15: one very long answer.
fn memory(house: &House) -> io::Result<()> {
    let mut chat = Chat::open(house)?;
    let mut source = chat.source()?;
    let before = chat.resident()?;
    for _ in 0..LONG_TOKENS / BURST_TOKENS {
        source.say(&Answer::Prose.text(BURST_TOKENS))?;
        source.say("\n\n")?;
    }
    source.say("the end of it")?;
    chat.shows("the end of it")?;
    let after = chat.resident()?;
    source.end()?;
    let words = format!("{after:.1} MB, {:.1} MB more than before", after - before);
    row("R15 memory after 100,000 tokens", "≤ 40 MB", &words, "243 MB (Codex)");
    Ok(())
}

/// With a gateway of its own.
fn start(house: &House) -> io::Result<()> {
    let own = house.with_sessions(SESSIONS)?;
    let mut times = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let mut chat = Chat::alone(&own)?;
        chat.shows("Write a message")?;
        times.push(began.elapsed().as_millis());
    }
    times.sort_unstable();
    row(
        "from the start to the prompt, 1,000 sessions kept",
        "< 150 ms",
        &format!("{} ms ({} to {})", times[2], times[0], times[4]),
        "",
    );
    Ok(())
}
