//! Input history: sent messages, newest last, with browsing and search.

/// Entries kept.
const ENTRIES_MAX: usize = 1_000;

/// Sent messages and the browsing position.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<String>,
    /// While browsing: the index of the shown entry, and the draft.
    browsing: Option<(usize, String)>,
}

impl History {
    pub fn new(entries: &[String]) -> History {
        let first = entries.len().saturating_sub(ENTRIES_MAX);
        History { entries: entries[first..].to_vec(), browsing: None }
    }

    /// Adds an entry; returns false if it is blank or repeats the last one.
    pub fn add_unless_blank_or_repeated(&mut self, text: &str) -> bool {
        self.browsing = None;
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return false;
        }
        if self.entries.len() == ENTRIES_MAX {
            self.entries.remove(0);
        }
        self.entries.push(text.to_owned());
        true
    }

    /// Returns the next older entry, keeping the draft `written`.
    pub fn recall_older(&mut self, written: &str) -> Option<&str> {
        let at = match &self.browsing {
            Some((at, _)) => at.checked_sub(1)?,
            None => self.entries.len().checked_sub(1)?,
        };
        let written = match self.browsing.take() {
            Some((_, written)) => written,
            None => written.to_owned(),
        };
        self.browsing = Some((at, written));
        self.entries.get(at).map(String::as_str)
    }

    /// Returns the next newer entry, and the draft after the newest.
    pub fn recall_newer(&mut self) -> Option<String> {
        let (at, written) = self.browsing.take()?;
        let Some(next) = self.entries.get(at + 1) else { return Some(written) };
        let next = next.clone();
        self.browsing = Some((at + 1, written));
        Some(next)
    }

    /// Returns the newest entry containing `words` before index `before`, ignoring case.
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

/// Encodes an entry as one line of the history file.
pub fn encode_entry(text: &str) -> String {
    format!("{}\n", serde_json::Value::from(text))
}

/// Decodes a history file, skipping invalid lines such as a truncated one.
pub fn decode_entries(lines: &str) -> Vec<String> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_back_and_comes_to_what_was_being_written() {
        let mut history = History::new(&["one".into(), "two".into()]);
        assert!(
            history.add_unless_blank_or_repeated("three")
                && !history.add_unless_blank_or_repeated("three")
                && !history.add_unless_blank_or_repeated(" ")
        );
        for expected in ["three", "two", "one"] {
            assert_eq!(history.recall_older("draft"), Some(expected));
        }
        assert_eq!(history.recall_older("draft"), None);
        for expected in ["two", "three", "draft"] {
            assert_eq!(history.recall_newer().as_deref(), Some(expected));
        }
        assert_eq!(history.recall_newer(), None);
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
        let kept = encode_entry("a\n\"b\"\u{1b}");
        assert_eq!(kept.lines().count(), 1);
        assert_eq!(decode_entries(&format!("{kept}nonsense\n\"cut")), ["a\n\"b\"\u{1b}"]);
    }
}
