//! What may be meant by what stands before the cursor: a command, or a file.

use std::path::{Path, PathBuf};

use super::commands::COMMANDS;

/// Entries of a menu.
const OFFERED_MAX: usize = 8;

/// Entries of a folder that are looked at.
const ENTRIES_MAX: usize = 5_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Menu {
    pub(super) offered: Vec<Offer>,
    pub(super) chosen: usize,
    /// Bytes before the cursor that an offer takes the place of.
    pub(super) replaces: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) text: String,
    pub(super) about: String,
}

impl Menu {
    pub(super) fn choose(&mut self, step: isize) {
        let count = self.offered.len();
        self.chosen = self.chosen.wrapping_add_signed(step).wrapping_add(count) % count;
    }

    pub(super) fn chosen(&self) -> Option<&Offer> {
        self.offered.get(self.chosen)
    }
}

/// Nothing where nothing fits. `first` says that this is the first line of what is written.
pub(super) fn menu(before: &str, first: bool, folder: &Path) -> Option<Menu> {
    let (offered, replaces) = if first && before.starts_with('/') && !before.contains(' ') {
        (commands(&before[1..]), before.len())
    } else {
        let at = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = before[at..].strip_prefix('@')?;
        (files(word, folder), word.len())
    };
    (!offered.is_empty()).then_some(Menu { offered, chosen: 0, replaces })
}

fn commands(begun: &str) -> Vec<Offer> {
    let fitting = COMMANDS.iter().filter(|command| command.name.starts_with(begun));
    let offer = fitting.map(|command| Offer {
        text: format!("/{}", command.name),
        about: format!("{} {}", command.takes, command.about).trim().to_owned(),
    });
    offer.collect()
}

/// Files and folders whose path begins so; folders end with a slash and can be gone into.
fn files(begun: &str, folder: &Path) -> Vec<Offer> {
    let (parent, name) =
        begun.rsplit_once('/').map_or(("", begun), |(parent, name)| (parent, name));
    let place = if begun.starts_with('/') {
        PathBuf::from(format!("/{parent}"))
    } else {
        folder.join(parent)
    };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .take(ENTRIES_MAX)
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_hidden = file.starts_with('.') && !name.starts_with('.');
            let fits = file.to_lowercase().starts_with(&name.to_lowercase());
            let plain = !file.contains(char::is_control);
            (fits && plain && !is_hidden).then(|| {
                let slash = if entry.path().is_dir() { "/" } else { "" };
                let before = if parent.is_empty() && !begun.starts_with('/') {
                    String::new()
                } else {
                    format!("{parent}/")
                };
                format!("{before}{file}{slash}")
            })
        })
        .collect();
    found.sort();
    found.truncate(OFFERED_MAX);
    found.into_iter().map(|text| Offer { text, about: String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_files_are_offered_where_they_can_be_meant() {
        let folder = std::env::temp_dir().join(format!("millpond-complete-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("mill/wheel")).unwrap();
        std::fs::write(folder.join("Mile.txt"), "").unwrap();
        std::fs::write(folder.join(".mil"), "").unwrap();
        let texts = |before: &str, first| -> Vec<String> {
            let offered = menu(before, first, &folder).map(|menu| menu.offered).unwrap_or_default();
            offered.into_iter().map(|offer| offer.text).collect()
        };
        assert_eq!(texts("/re", true), ["/resume", "/retry", "/redraw"]);
        assert!(texts("/re", false).is_empty() && texts("a /re", true).is_empty());
        assert_eq!(texts("see @mi", true), ["Mile.txt", "mill/"]);
        assert_eq!(texts("@mill/", true), ["mill/wheel/"]);
        assert_eq!(texts("@.m", true), [".mil"]);
        assert!(texts("@nowhere/x", true).is_empty() && texts("me@mill", true).is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
