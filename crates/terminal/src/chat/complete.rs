//! What may be meant by what stands before the cursor: a command, what it takes, or a file.

use std::path::{Path, PathBuf};

use engine::view::ViewName;

use super::commands::COMMANDS;

/// Files of a menu.
const FILES_MAX: usize = 8;

/// Entries of a menu that are seen at once.
const SEEN_MAX: usize = 8;

/// Entries of a folder that are looked at.
const ENTRIES_MAX: usize = 5_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Menu {
    pub(super) offered: Vec<Offer>,
    pub(super) chosen: usize,
    /// Bytes before the cursor that an offer takes the place of.
    pub(super) replaces: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// What is written if it is taken.
    pub(super) text: String,
    /// What is read instead, where that says more.
    pub(super) title: Option<String>,
    pub(super) about: String,
    /// Whoever takes it with Enter sends it.
    pub(super) whole: bool,
    /// No blank comes after it: nothing does, or more of the same word.
    pub(super) closed: bool,
}

/// What can be offered of what others have told.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) places: Vec<Place>,
    /// Who may answer: names, with what they are.
    pub(super) profiles: Vec<(String, String)>,
}

/// A conversation that one can go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub id: String,
    pub title: String,
    pub about: String,
}

impl Menu {
    pub(super) fn choose(&mut self, step: isize) {
        let count = self.offered.len();
        self.chosen = self.chosen.wrapping_add_signed(step).wrapping_add(count) % count;
    }

    pub(super) fn chosen(&self) -> Option<&Offer> {
        self.offered.get(self.chosen)
    }

    /// What is seen of it, with the place of the first.
    pub(super) fn seen(&self) -> impl Iterator<Item = (usize, &Offer)> {
        let first = (self.chosen + 1).saturating_sub(SEEN_MAX);
        self.offered.iter().enumerate().skip(first).take(SEEN_MAX)
    }
}

/// Nothing where nothing fits. `first` says that this is the first line of what is written.
pub(super) fn menu(before: &str, first: bool, folder: &Path, known: &Known) -> Option<Menu> {
    let order = before.strip_prefix('/').filter(|_| first);
    let (offered, replaces) = if let Some(name) = order.filter(|order| !order.contains(' ')) {
        (commands(name), before.len())
    } else if let Some(words) = order.and_then(|order| order.strip_prefix("resume ")) {
        (conversations(words, &known.places), words.len())
    } else if let Some(begun) = order.and_then(|order| order.strip_prefix("view ")) {
        let views = ViewName::ALL.iter().map(|view| (view.as_str(), ""));
        (named(begun, views), begun.len())
    } else if let Some(begun) = order.and_then(|order| order.strip_prefix("model ")) {
        let profiles = known.profiles.iter().map(|(name, about)| (&**name, &**about));
        (named(begun, profiles), begun.len())
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
        whole: command.takes.is_empty()
            || (command.takes.starts_with('[') && command.name == begun),
        closed: command.takes.is_empty(),
        ..Offer::default()
    });
    offer.collect()
}

/// Conversations with all of these words in their titles. A number is one of a list that was printed.
fn conversations(words: &str, places: &[Place]) -> Vec<Offer> {
    if words.trim().parse::<usize>().is_ok() {
        return Vec::new();
    }
    let words = words.to_lowercase();
    let fits = |place: &Place| {
        let title = place.title.to_lowercase();
        words.split_whitespace().all(|word| title.contains(word))
    };
    let offer = places.iter().filter(|place| fits(place)).map(|place| Offer {
        text: place.id.clone(),
        title: Some(place.title.clone()),
        about: place.about.clone(),
        whole: true,
        closed: true,
    });
    offer.collect()
}

/// What begins so, with what it is.
fn named<'a>(begun: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Offer> {
    let fitting = names.filter(|(name, _)| name.starts_with(begun));
    let offer = fitting.map(|(name, about)| Offer {
        text: name.to_owned(),
        about: about.to_owned(),
        whole: true,
        closed: true,
        ..Offer::default()
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
    found.truncate(FILES_MAX);
    let offer = found.into_iter().map(|text| Offer {
        closed: text.ends_with('/'),
        text,
        ..Offer::default()
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
        let place = |title: &str| Place {
            id: title.to_lowercase().replace(' ', "-"),
            title: title.to_owned(),
            about: String::new(),
        };
        let places = ["Mill and wheel", "A pond", "2 wheels of the mill"].map(place).to_vec();
        let profiles = [("small", "m-1"), ("large", "m-9")];
        let profiles = profiles.map(|(name, about)| (name.to_owned(), about.to_owned())).to_vec();
        let known = Known { places, profiles };
        let texts = |before: &str, first| -> Vec<String> {
            let menu = menu(before, first, &folder, &known);
            let offered = menu.map(|menu| menu.offered).unwrap_or_default();
            offered.into_iter().map(|offer| offer.text).collect()
        };
        assert_eq!(texts("/resume ", true), ["mill-and-wheel", "a-pond", "2-wheels-of-the-mill"]);
        assert_eq!(texts("/resume wheel MILL", true), ["mill-and-wheel", "2-wheels-of-the-mill"]);
        assert_eq!(texts("/resume 2", true), [""; 0]);
        assert_eq!(texts("/view st", true), ["steps"]);
        assert_eq!(texts("/model ", true), ["small", "large"]);
        assert_eq!(texts("/model l", true), ["large"]);
        assert_eq!(texts("/re", true), ["/resume", "/retry", "/redraw"]);
        assert!(texts("/re", false).is_empty() && texts("a /re", true).is_empty());
        assert_eq!(texts("see @mi", true), ["Mile.txt", "mill/"]);
        assert_eq!(texts("@mill/", true), ["mill/wheel/"]);
        assert_eq!(texts("@.m", true), [".mil"]);
        assert!(texts("@nowhere/x", true).is_empty() && texts("me@mill", true).is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_long_menu_shows_what_is_chosen() {
        let offered = (0..20).map(|at| Offer { text: at.to_string(), ..Offer::default() });
        let mut menu = Menu { offered: offered.collect(), chosen: 0, replaces: 0 };
        let seen = |menu: &Menu| menu.seen().map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(seen(&menu), (0..8).collect::<Vec<_>>());
        menu.choose(-1);
        assert_eq!(seen(&menu), (12..20).collect::<Vec<_>>());
        menu.choose(1);
        assert_eq!(seen(&menu)[0], 0);
    }
}
