//! Completion of the text before the cursor: slash commands, their arguments, and file paths.

use std::path::{Path, PathBuf};

use millpond_engine::view::ViewName;

use super::commands::COMMANDS;

/// Files in one menu.
const FILES_MAX: usize = 8;

/// Menu rows shown at once.
const VISIBLE_MAX: usize = 8;

/// Entries read from one folder.
const FOLDER_ENTRIES_MAX: usize = 5_000;

/// Completions for the text before the cursor, with a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CompletionMenu {
    pub(super) completions: Vec<Completion>,
    pub(super) selected: usize,
    /// Bytes before the cursor that a completion replaces.
    pub(super) replaced_bytes: usize,
}

/// One entry of the menu.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// Inserted when accepted.
    pub(super) text: String,
    /// Shown instead of `text`.
    pub(super) label: Option<String>,
    pub(super) about: String,
    /// Accepting it with Enter also sends the line.
    pub(super) sends_on_enter: bool,
    /// No space is inserted after it.
    pub(super) omits_space: bool,
}

/// Choices that the event loop provides.
#[derive(Clone, Debug, Default)]
pub(super) struct CompletionSources {
    pub(super) sessions: Vec<SessionChoice>,
    /// Pairs of profile name and description.
    pub(super) profiles: Vec<(String, String)>,
}

/// A session in the `/resume` menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionChoice {
    /// Id of the session, which is inserted.
    pub id: String,
    /// Title, which is shown and searched.
    pub title: String,
    /// Age and state.
    pub about: String,
}

impl CompletionMenu {
    pub(super) fn cycle_selection(&mut self, step: isize) {
        let count = self.completions.len();
        self.selected = self.selected.wrapping_add_signed(step).wrapping_add(count) % count;
    }

    pub(super) fn selected_completion(&self) -> Option<&Completion> {
        self.completions.get(self.selected)
    }

    /// Returns the visible entries with their indices.
    pub(super) fn visible_completions(&self) -> impl Iterator<Item = (usize, &Completion)> {
        let first = (self.selected + 1).saturating_sub(VISIBLE_MAX);
        self.completions.iter().enumerate().skip(first).take(VISIBLE_MAX)
    }
}

/// Line of the message that the cursor is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    First,
    Later,
}

/// Returns the completions for `before`; `None` if there are none. Commands complete only on the
/// first line of the message. Lists a folder for `@` paths.
pub(super) fn list_completions_if_any(
    before: &str,
    line: InputLine,
    folder: &Path,
    known: &CompletionSources,
) -> Option<CompletionMenu> {
    let order = before.strip_prefix('/').filter(|_| line == InputLine::First);
    let (offered, replaces) = if let Some(name) = order.filter(|order| !order.contains(' ')) {
        (complete_commands(name), before.len())
    } else if let Some(words) = order.and_then(|order| order.strip_prefix("resume ")) {
        (complete_sessions(words, &known.sessions), words.len())
    } else if let Some(begun) = order.and_then(|order| order.strip_prefix("view ")) {
        let views = ViewName::ALL.iter().map(|view| (view.as_str(), ""));
        (complete_names(begun, views), begun.len())
    } else if let Some(begun) = order.and_then(|order| order.strip_prefix("model ")) {
        let profiles = known.profiles.iter().map(|(name, about)| (&**name, &**about));
        (complete_names(begun, profiles), begun.len())
    } else {
        let at = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = before[at..].strip_prefix('@')?;
        (list_file_completions(word, folder), word.len())
    };
    (!offered.is_empty()).then_some(CompletionMenu {
        completions: offered,
        selected: 0,
        replaced_bytes: replaces,
    })
}

fn complete_commands(begun: &str) -> Vec<Completion> {
    let fitting = COMMANDS.iter().filter(|command| command.name.starts_with(begun));
    let offer = fitting.map(|command| Completion {
        text: format!("/{}", command.name),
        about: format!("{} {}", command.arguments, command.about).trim().to_owned(),
        sends_on_enter: command.arguments.is_empty()
            || (command.arguments.starts_with('[') && command.name == begun),
        omits_space: command.arguments.is_empty(),
        ..Completion::default()
    });
    offer.collect()
}

/// Completes sessions whose titles contain all words. A number refers to the printed list instead.
fn complete_sessions(words: &str, places: &[SessionChoice]) -> Vec<Completion> {
    if words.trim().parse::<usize>().is_ok() {
        return Vec::new();
    }
    let words = words.to_lowercase();
    let fits = |place: &SessionChoice| {
        let title = place.title.to_lowercase();
        words.split_whitespace().all(|word| title.contains(word))
    };
    let offer = places.iter().filter(|place| fits(place)).map(|place| Completion {
        text: place.id.clone(),
        label: Some(place.title.clone()),
        about: place.about.clone(),
        sends_on_enter: true,
        omits_space: true,
    });
    offer.collect()
}

/// Completes names that start with `begun`; each has a description.
fn complete_names<'a>(
    begun: &str,
    names: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Completion> {
    let fitting = names.filter(|(name, _)| name.starts_with(begun));
    let offer = fitting.map(|(name, about)| Completion {
        text: name.to_owned(),
        about: about.to_owned(),
        sends_on_enter: true,
        omits_space: true,
        ..Completion::default()
    });
    offer.collect()
}

/// Completes paths by listing the folder of `begun`; folders end with a slash.
fn list_file_completions(begun: &str, folder: &Path) -> Vec<Completion> {
    let (parent, name) =
        begun.rsplit_once('/').map_or(("", begun), |(parent, name)| (parent, name));
    let place = if begun.starts_with('/') {
        PathBuf::from(format!("/{parent}"))
    } else {
        folder.join(parent)
    };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .take(FOLDER_ENTRIES_MAX)
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
    found.truncate(FILES_MAX);
    let offer = found.into_iter().map(|text| Completion {
        omits_space: text.ends_with('/'),
        text,
        ..Completion::default()
    });
    offer.collect()
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
        let place = |title: &str| SessionChoice {
            id: title.to_lowercase().replace(' ', "-"),
            title: title.to_owned(),
            about: String::new(),
        };
        let places = ["Mill and wheel", "A pond", "2 wheels of the mill"].map(place).to_vec();
        let profiles = [("small", "m-1"), ("large", "m-9")];
        let profiles = profiles.map(|(name, about)| (name.to_owned(), about.to_owned())).to_vec();
        let known = CompletionSources { sessions: places, profiles };
        let texts = |before: &str, line| -> Vec<String> {
            let menu = list_completions_if_any(before, line, &folder, &known);
            let offered = menu.map(|menu| menu.completions).unwrap_or_default();
            offered.into_iter().map(|offer| offer.text).collect()
        };
        assert_eq!(
            texts("/resume ", InputLine::First),
            ["mill-and-wheel", "a-pond", "2-wheels-of-the-mill"]
        );
        assert_eq!(
            texts("/resume wheel MILL", InputLine::First),
            ["mill-and-wheel", "2-wheels-of-the-mill"]
        );
        assert_eq!(texts("/resume 2", InputLine::First), [""; 0]);
        assert_eq!(texts("/view st", InputLine::First), ["steps"]);
        assert_eq!(texts("/model ", InputLine::First), ["small", "large"]);
        assert_eq!(texts("/model l", InputLine::First), ["large"]);
        assert_eq!(texts("/re", InputLine::First), ["/resume", "/retry", "/redraw"]);
        assert!(
            texts("/re", InputLine::Later).is_empty()
                && texts("a /re", InputLine::First).is_empty()
        );
        assert_eq!(texts("see @mi", InputLine::First), ["Mile.txt", "mill/"]);
        assert_eq!(texts("@mill/", InputLine::First), ["mill/wheel/"]);
        assert_eq!(texts("@.m", InputLine::First), [".mil"]);
        assert!(
            texts("@nowhere/x", InputLine::First).is_empty()
                && texts("me@mill", InputLine::First).is_empty()
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_long_menu_shows_what_is_chosen() {
        let offered =
            (0..20).map(|at| Completion { text: at.to_string(), ..Completion::default() });
        let mut menu =
            CompletionMenu { completions: offered.collect(), selected: 0, replaced_bytes: 0 };
        let seen = |menu: &CompletionMenu| {
            menu.visible_completions().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(seen(&menu), (0..8).collect::<Vec<_>>());
        menu.cycle_selection(-1);
        assert_eq!(seen(&menu), (12..20).collect::<Vec<_>>());
        menu.cycle_selection(1);
        assert_eq!(seen(&menu)[0], 0);
    }
}
