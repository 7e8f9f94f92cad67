//! Options of a source, by name: one list for the command line, profiles and ingest over HTTP.
//!
//! Invariant: a value that was accepted once is accepted everywhere, and means the same.

use std::fmt;
use std::sync::Arc;

use crate::filter::{ControlMeaning, ControlWord, FilterStart, TagTable};
use crate::limits::SOURCE_OPTION_VALUES_MAX;

use super::action_names::ActionNames;
use super::options::{Quirk, RunOptions};

/// Option of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceOption {
    /// The start of each reply is thinking.
    StartsInThinking,
    /// More tags that are hidden.
    Tags,
    /// Workaround for a known bug.
    Quirk,
    /// Word by which the agent ends the run.
    FinishWord,
    /// Tool that is an action.
    Action,
}

/// Values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValues {
    /// `true` or `false`.
    Switch,
    /// One text.
    One,
    /// Any number of texts.
    Many,
}

impl SourceOption {
    /// Every option.
    pub const ALL: [SourceOption; 5] = [
        SourceOption::StartsInThinking,
        SourceOption::Tags,
        SourceOption::Quirk,
        SourceOption::FinishWord,
        SourceOption::Action,
    ];

    /// Name in profiles and in queries.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceOption::StartsInThinking => "starts_in_thinking",
            SourceOption::Tags => "tags",
            SourceOption::Quirk => "quirk",
            SourceOption::FinishWord => "finish_word",
            SourceOption::Action => "action",
        }
    }

    /// Name as a long flag of the command line.
    pub fn flag(self) -> &'static str {
        match self {
            SourceOption::StartsInThinking => "starts-in-thinking",
            SourceOption::Tags => "tags",
            SourceOption::Quirk => "quirk",
            SourceOption::FinishWord => "finish-word",
            SourceOption::Action => "action",
        }
    }

    /// Number and kind of its values.
    pub fn values(self) -> OptionValues {
        match self {
            SourceOption::StartsInThinking => OptionValues::Switch,
            SourceOption::FinishWord => OptionValues::One,
            SourceOption::Tags | SourceOption::Quirk | SourceOption::Action => OptionValues::Many,
        }
    }

    /// Finds the option with this name in profiles and queries.
    pub fn find(name: &str) -> Option<SourceOption> {
        SourceOption::ALL.into_iter().find(|option| option.as_str() == name)
    }
}

/// Values of a source's options, each valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceOptions {
    values: Vec<(SourceOption, String)>,
}

/// Error: an option does not take this value. Displays what is wrong with the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSourceOption {
    /// The option.
    pub option: SourceOption,
    /// The rejected value.
    pub value: String,
    problem: String,
}

impl fmt::Display for InvalidSourceOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for InvalidSourceOption {}

impl SourceOptions {
    /// Adds a value, unless it is invalid or one too many.
    pub fn push(&mut self, option: SourceOption, value: &str) -> Result<(), InvalidSourceOption> {
        self.check_value(option, value).map_err(|problem| InvalidSourceOption {
            option,
            value: value.to_owned(),
            problem,
        })?;
        self.values.push((option, value.to_owned()));
        Ok(())
    }

    /// All values, in the order in which they were added.
    pub fn values(&self) -> impl Iterator<Item = (SourceOption, &str)> {
        self.values.iter().map(|(option, value)| (*option, value.as_str()))
    }

    /// All values of one option.
    fn values_of(&self, wanted: SourceOption) -> impl Iterator<Item = &str> {
        self.values().filter(move |(option, _)| *option == wanted).map(|(_, value)| value)
    }

    /// Returns what is wrong with a further value, if anything.
    fn check_value(&self, option: SourceOption, value: &str) -> Result<(), String> {
        if SOURCE_OPTION_VALUES_MAX <= self.values.len() {
            return Err(format!("at most {SOURCE_OPTION_VALUES_MAX} option values are accepted"));
        }
        if option.values() != OptionValues::Many && self.values_of(option).next().is_some() {
            return Err("given more than once".to_owned());
        }
        match option {
            SourceOption::StartsInThinking => {
                parse_switch(value).map(|_| ()).ok_or_else(|| "use true or false".to_owned())
            }
            SourceOption::Tags => TagTable::parse_with_defaults(value)
                .map(|_| ())
                .map_err(|bad| format!("line {}: {}", bad.line, bad.problem)),
            SourceOption::Quirk => {
                value.parse::<Quirk>().map(|_| ()).map_err(|bad| bad.to_string())
            }
            SourceOption::FinishWord => ControlWord::new(value, ControlMeaning::Finish)
                .map(|_| ())
                .map_err(|bad| bad.to_string()),
            SourceOption::Action if value.trim().is_empty() => {
                Err("the name of a tool is missing".to_owned())
            }
            SourceOption::Action => Ok(()),
        }
    }

    /// Builds the options of a run; those that no source option sets have their defaults.
    pub fn build_run_options(&self) -> RunOptions {
        let in_thinking = self
            .values_of(SourceOption::StartsInThinking)
            .any(|value| parse_switch(value) == Some(true));
        let tags: Vec<&str> = self.values_of(SourceOption::Tags).collect();
        let finish_words = self.values_of(SourceOption::FinishWord);
        let defaults = RunOptions::default();
        RunOptions {
            // Each part was parsed when it was added; parts are lines, so their sum is valid too.
            tags: TagTable::parse_with_defaults(&tags.join("\n")).map_or(defaults.tags, Arc::new),
            filter_start: if in_thinking { FilterStart::Thinking } else { defaults.filter_start },
            quirks: self
                .values_of(SourceOption::Quirk)
                .filter_map(|name| name.parse().ok())
                .collect(),
            control_words: finish_words
                .filter_map(|word| ControlWord::new(word, ControlMeaning::Finish).ok())
                .collect(),
            seal_policy: defaults.seal_policy,
            action_names: ActionNames::with_marked(
                self.values_of(SourceOption::Action).map(str::to_owned).collect(),
            ),
        }
    }
}

/// Parses `true` or `false`.
fn parse_switch(value: &str) -> Option<bool> {
    value.parse().ok()
}

/// Name with an edit distance of at most 3 from `given`, the nearest first.
pub fn find_similar_name<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distances = names.map(|name| (strsim::damerau_levenshtein(given, name), name));
    distances.min().filter(|(distance, _)| *distance <= 3).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A valid and an invalid value of each option, and the error of the invalid one.
    fn samples(option: SourceOption) -> (&'static str, &'static str, &'static str) {
        match option {
            SourceOption::StartsInThinking => ("true", "yes", "use true or false"),
            SourceOption::Tags => ("reasoning: musing", "musing", "line 1: "),
            SourceOption::Quirk => (
                "cumulative-text",
                "cumulative-txt",
                "unknown quirk `cumulative-txt`; did you mean `cumulative-text`?",
            ),
            SourceOption::FinishWord => ("!isfinish", "", "control word is empty"),
            SourceOption::Action => ("open_sluice", " ", "the name of a tool is missing"),
        }
    }

    #[test]
    fn x22_each_option_is_found_by_its_name_and_changes_the_run() {
        for option in SourceOption::ALL {
            assert_eq!(SourceOption::find(option.as_str()), Some(option));
            assert_eq!(option.flag(), option.as_str().replace('_', "-"));
            let mut options = SourceOptions::default();
            options.push(option, samples(option).0).unwrap();
            assert_ne!(options.build_run_options(), RunOptions::default(), "{option:?}");
            let again = options.push(option, samples(option).0).is_ok();
            assert_eq!(again, option.values() == OptionValues::Many, "{option:?}");
        }
        assert_eq!(SourceOptions::default().build_run_options(), RunOptions::default());
        assert_eq!(SourceOption::find("starts-in-thinking"), None);
    }

    #[test]
    fn x22_an_invalid_value_is_rejected_with_what_is_wrong() {
        for option in SourceOption::ALL {
            let (_, invalid, problem) = samples(option);
            let mut options = SourceOptions::default();
            let error = options.push(option, invalid).unwrap_err();
            assert!(error.to_string().starts_with(problem), "{option:?}: {error}");
            assert_eq!(options, SourceOptions::default());
        }
        let mut off = SourceOptions::default();
        off.push(SourceOption::StartsInThinking, "false").unwrap();
        assert_eq!(off.build_run_options(), RunOptions::default());
    }

    #[test]
    fn x14_the_number_of_option_values_is_bounded() {
        let mut options = SourceOptions::default();
        for number in 0..SOURCE_OPTION_VALUES_MAX {
            options.push(SourceOption::Action, &format!("tool{number}")).unwrap();
        }
        assert!(options.push(SourceOption::Action, "one-more").is_err());
    }
}
