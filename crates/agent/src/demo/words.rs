//! What the demo says.

pub(super) const HELP: &str = "\
I am the **demo agent**: no model, no key, no network. I always say the same to the same, but my tools are real and \
work in this folder. Type

- `list` to see the files here, `read FILE` to open one, `search WORDS` to look for something
- `compute 6*7` to let the shell do a sum (you are asked first)
- `write TEXT` to put a note into `demo-note.txt` (you are asked first, with the change)
- `chart` for a picture of how large the files are
- `together` for two tools at once
- `think` for thinking, `long` for a long answer with tables and code
- `ask` to be asked something back
- `retry` for an overloaded server, `fail` for an error in the middle, `cut` for a line that breaks off

With a model instead of me: `millpond init` looks for what you have.";

pub(super) const LONG_THOUGHT: &str = "\
Thinking is shown to nobody who has not asked for it. Still it is in the log, word for word, so that it can be looked \
at later. I think a little more, so that there is something to see: a pond is calm when nothing falls into it, and \
calm again a while after something has.";

pub(super) const TAGGED_THOUGHT: &str = "\
These words stand in the text itself, between tags that are cut in two by the stream. Not a letter of them may show.";

pub(super) const LONG: &str = r#"# A long answer

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

> A quote, of nobody in particular, which is long enough that it has to be broken into more than one line wherever \
it is shown, and which ends here.

Sentences end where they end: at 3.14 m, on google.com, e.g. here, by Dr. Heron, in v1.2.3? No! Only there.

Ostatnie zdanie jest po polsku, np. o ulicy: ul. Młyńska 7. Tyle.
"#;

/// What a listing says.
pub(super) fn listed(listing: &str) -> String {
    let files: Vec<(u64, &str)> = listing
        .lines()
        .filter_map(|line| {
            let (bytes, name) = line.trim_start().split_once("  ")?;
            Some((bytes.parse().ok()?, name))
        })
        .collect();
    let Some((bytes, largest)) = files.iter().max() else {
        return "There are no files here that git would not ignore.".to_owned();
    };
    let all: u64 = files.iter().map(|(bytes, _)| bytes).sum();
    let mut text = format!(
        "There are **{} files** here with {all} bytes in all. The largest is `{largest}` with {bytes} \
         bytes.\n\n| file | bytes |\n| --- | ---: |\n",
        files.len()
    );
    for (bytes, name) in files.iter().take(8) {
        text.extend(["| `", name, "` | ", &bytes.to_string(), " |\n"]);
    }
    if 8 < files.len() {
        text.extend(["\n… and ", &(files.len() - 8).to_string(), " more."]);
    }
    text
}

/// What a file says.
pub(super) fn read(numbered: &str) -> String {
    let lines: Vec<&str> = numbered.lines().map(|line| line.get(7..).unwrap_or_default()).collect();
    let words: usize = lines.iter().map(|line| line.split_whitespace().count()).sum();
    let mut text = format!("It has {} lines and {words} words. It begins:\n\n~~~\n", lines.len());
    for line in lines.iter().take(6) {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("~~~\n");
    text
}

/// What a search found.
pub(super) fn found(found: &str) -> String {
    let lines = found.lines().filter(|line| line.contains(": ")).count();
    if lines == 0 {
        return "I found nothing like that.".to_owned();
    }
    let first = found.lines().next().unwrap_or("");
    format!("I found it in {lines} lines. The first is\n\n~~~\n{first}\n~~~\n")
}

/// What a chart shows.
pub(super) fn chart(legend: &str) -> String {
    let mut text = "That is how it is divided, from the top:\n\n".to_owned();
    for line in legend.lines() {
        text.extend(["- ", line, "\n"]);
    }
    text
}
