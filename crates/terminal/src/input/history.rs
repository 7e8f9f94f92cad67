//! What was written before, newest last, and going back through it.

/// How many are kept.
const ENTRIES_MAX: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<String>,
    /// While one goes back: which entry is shown, and what was being written.
    going_back: Option<(usize, String)>,
}

impl History {
    pub fn new(entries: &[String]) -> History {
        let first = entries.len().saturating_sub(ENTRIES_MAX);
        History { entries: entries[first..].to_vec(), going_back: None }
    }

    /// Says whether it is to be kept: what only repeats the one before is not.
    pub fn add(&mut self, text: &str) -> bool {
        self.going_back = None;
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return false;
        }
        if self.entries.len() == ENTRIES_MAX {
            self.entries.remove(0);
        }
        self.entries.push(text.to_owned());
        true
    }

    /// The one before; what is being written is kept for the way back.
    pub fn back(&mut self, written: &str) -> Option<&str> {
        let at = match &self.going_back {
            Some((at, _)) => at.checked_sub(1)?,
            None => self.entries.len().checked_sub(1)?,
        };
        let written = match self.going_back.take() {
            Some((_, written)) => written,
            None => written.to_owned(),
        };
        self.going_back = Some((at, written));
        self.entries.get(at).map(String::as_str)
    }

    /// The one after, and at last what was being written.
    pub fn forth(&mut self) -> Option<String> {
        let (at, written) = self.going_back.take()?;
        let Some(next) = self.entries.get(at + 1) else { return Some(written) };
        let next = next.clone();
        self.going_back = Some((at + 1, written));
        Some(next)
    }

    /// The newest entry with these words that is older than the last one found.
    pub fn search(&self, words: &str, before: Option<usize>) -> Option<(usize, &str)> {
        let words = words.to_lowercase();
        let older =
            self.entries[..before.unwrap_or(self.entries.len()).min(self.entries.len())].iter();
        let mut found = older.enumerate().rev();
        found
            .find(|(_, entry)| entry.to_lowercase().contains(&words))
            .map(|(at, entry)| (at, entry.as_str()))
    }
}

/// One entry as a line of its file.
pub fn to_line(text: &str) -> String {
    format!("{}\n", serde_json::Value::from(text))
}

/// Entries of a file; lines that are none, such as one that was cut off, are passed over.
pub fn from_lines(lines: &str) -> Vec<String> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_back_and_comes_to_what_was_being_written() {
        let mut history = History::new(&["one".into(), "two".into()]);
        assert!(history.add("three") && !history.add("three") && !history.add(" "));
        for expected in ["three", "two", "one"] {
            assert_eq!(history.back("draft"), Some(expected));
        }
        assert_eq!(history.back("draft"), None);
        for expected in ["two", "three", "draft"] {
            assert_eq!(history.forth().as_deref(), Some(expected));
        }
        assert_eq!(history.forth(), None);
    }

    #[test]
    fn the_newest_that_fits_is_found_first() {
        let history = History::new(&["Make a mill".into(), "see".into(), "make it run".into()]);
        assert_eq!(history.search("MAKE", None), Some((2, "make it run")));
        assert_eq!(history.search("make", Some(2)), Some((0, "Make a mill")));
        assert_eq!(history.search("make", Some(0)), None);
    }

    #[test]
    fn a_file_that_was_cut_off_is_read_as_far_as_it_goes() {
        let kept = to_line("a\n\"b\"\u{1b}");
        assert_eq!(kept.lines().count(), 1);
        assert_eq!(from_lines(&format!("{kept}nonsense\n\"cut")), ["a\n\"b\"\u{1b}"]);
    }
}
