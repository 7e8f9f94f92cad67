//! Texts of the demo's replies.

use crate::conversation::ToolResult;

pub(super) const HELP: &str = "\
I am the **built-in demo**: no model, no key, no network. My replies are scripted, but my tools are real and work in \
this folder. Type

- `list` to see the files here, `read FILE` to open one, `search WORDS` to look for something
- `compute 6*7` to compute with the shell (needs your approval)
- `write TEXT` to write a note to `demo-note.txt` (shows the change and needs your approval)
- `chart` for a chart of the file sizes
- `tour` for a run of several steps, `together` for two tools at once
- `think` for thinking, `long` for a long answer with tables and code
- `ask` to be asked a question
- `retry` for an overloaded server, `fail` for an error in the middle, `cut` for a dropped connection

To use a real model, run `millpond init`.";

pub(super) const LONG_THOUGHT: &str = "\
Thinking is hidden unless you turn it on. It is in the log, word for word, so that it can be read later. I think a \
little more, so that there is something to see: a pond is calm when nothing falls into it, and \
calm again a while after something has.";

pub(super) const TAGGED_THOUGHT: &str = "\
These words are in the text itself, between tags that the stream cuts in two. None of them may show.";

pub(super) const LONG_ANSWER: &str = r#"# A long answer

This one has everything that is hard to show while it is still being written.

## A list

1. First things come first, with *emphasis* and **more of it**.
2. Then comes `code` with a tag in it: `<think>` is text here.
3. And a nested one:
   - with [a link](https://example.com "not fetched by anybody")
   - [x] with a task that is done
   - [ ] and one that is not

## A table

| depth | what lives there | how many |
| ---: | --- | :---: |
| 0.1 m | water striders | 40 |
| 1.5 m | carp, and the shadow of carp | 7 |
| 3.0 m | mud | all of it |

## Some code

```rust
/// Calm is a fixed point.
fn settle(pond: &mut Pond) {
    while pond.ripples() > 0 {
        pond.wait();
    }
}
```

> A quote, of nobody in particular, which is long enough that it has to be broken into more than one line wherever
> it is shown, and which ends here.

Sentences end where they end: at 3.14 m, on google.com, e.g. here, by Dr. Heron, in v1.2.3? No! Only there.

Ostatnie zdanie jest po polsku, np. o ulicy: ul. Młyńska 7. Tyle.
"#;

/// Describes a tool's error.
pub(super) fn describe_failure(result: &ToolResult) -> String {
    format!("`{}` failed: {}", result.name, result.text.trim())
}

/// Describes the output of `list_files`.
pub(super) fn describe_listing(listing: &str) -> String {
    let files: Vec<(u64, &str)> = listing
        .lines()
        .filter_map(|line| {
            let (bytes, name) = line.trim_start().split_once("  ")?;
            Some((bytes.parse().ok()?, name))
        })
        .collect();
    let Some((bytes, largest)) = files.iter().max() else {
        return "There are no files here, apart from those ignored by git.".to_owned();
    };
    let total_bytes: u64 = files.iter().map(|(bytes, _)| bytes).sum();
    let mut text = format!(
        "There {} here with {total_bytes} bytes in total. The largest is `{largest}` with {bytes} \
         bytes.\n\n| file | bytes |\n| --- | ---: |\n",
        match files.len() {
            1 => "is **one file**".to_owned(),
            count => format!("are **{count} files**"),
        }
    );
    for (bytes, name) in files.iter().take(8) {
        text.extend(["| `", name, "` | ", &bytes.to_string(), " |\n"]);
    }
    if 8 < files.len() {
        text.extend(["\n… and ", &(files.len() - 8).to_string(), " more."]);
    }
    text
}

/// Describes the output of `read_file`.
pub(super) fn describe_file(numbered: &str) -> String {
    let lines: Vec<&str> = numbered.lines().map(|line| line.get(7..).unwrap_or_default()).collect();
    let word_count: usize = lines.iter().map(|line| line.split_whitespace().count()).sum();
    let mut text =
        format!("It has {} lines and {word_count} words. It begins:\n\n~~~\n", lines.len());
    for line in lines.iter().take(6) {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("~~~\n");
    text
}

/// Describes the output of `search_files`.
pub(super) fn describe_matches(matches: &str) -> String {
    let match_count = matches.lines().filter(|line| line.contains(": ")).count();
    if match_count == 0 {
        return "No matches.".to_owned();
    }
    let first_match = matches.lines().next().unwrap_or("");
    format!("{match_count} matching lines. The first is\n\n~~~\n{first_match}\n~~~\n")
}

/// Describes the output of `draw_chart`.
pub(super) fn describe_chart(legend: &str) -> String {
    let mut text = "File sizes by type, from the top:\n\n".to_owned();
    for line in legend.lines() {
        text.extend(["- ", line, "\n"]);
    }
    text
}
