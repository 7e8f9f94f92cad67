//! Arguments about a source: one flag per `SourceOption`.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use millpond_engine::run::{OptionValues, Quirk, SourceOption, SourceOptions};

/// Options of a source, as flags. The list of flags is that of `SourceOption`.
#[derive(Clone, Debug)]
pub(crate) struct SourceArgs {
    options: SourceOptions,
    tags_files: Vec<PathBuf>,
}

/// Error of a file named by a flag.
#[derive(Debug)]
pub(crate) enum TagsFileError {
    Unreadable(PathBuf, std::io::Error),
    Invalid(PathBuf, String),
}

impl SourceArgs {
    /// Options of the flags, with the files that they name.
    pub(crate) fn read_files_and_build_options(&self) -> Result<SourceOptions, TagsFileError> {
        let mut options = self.options.clone();
        for path in &self.tags_files {
            let text = std::fs::read_to_string(path)
                .map_err(|error| TagsFileError::Unreadable(path.clone(), error))?;
            options
                .push(SourceOption::Tags, &text)
                .map_err(|bad| TagsFileError::Invalid(path.clone(), bad.to_string()))?;
        }
        Ok(options)
    }
}

impl clap::Args for SourceArgs {
    fn augment_args(command: Command) -> Command {
        SourceOption::ALL
            .into_iter()
            .fold(command, |command, option| command.arg(build_arg(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SourceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SourceArgs, clap::Error> {
        let (mut options, mut tags_files) = (SourceOptions::default(), Vec::new());
        for option in SourceOption::ALL {
            let name = option.as_str();
            if matches.value_source(name) != Some(ValueSource::CommandLine) {
                continue;
            }
            if option.values() == OptionValues::Switch {
                push_value(&mut options, option, "true")?;
                continue;
            }
            for value in matches.get_many::<String>(name).into_iter().flatten() {
                if option == SourceOption::Tags {
                    tags_files.push(PathBuf::from(value));
                } else {
                    push_value(&mut options, option, value)?;
                }
            }
        }
        Ok(SourceArgs { options, tags_files })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = SourceArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds a value whose form the argument's parser has checked.
fn push_value(
    options: &mut SourceOptions,
    option: SourceOption,
    value: &str,
) -> Result<(), clap::Error> {
    options.push(option, value).map_err(|bad| {
        let words = format!("invalid value '{value}' for '--{}': {bad}\n", option.flag());
        clap::Error::raw(clap::error::ErrorKind::ValueValidation, words)
    })
}

/// Builds the argument of an option.
fn build_arg(option: SourceOption) -> Arg {
    let ArgTexts { value_name, help, details } = arg_texts(option);
    let arg = Arg::new(option.as_str()).long(option.flag()).help(help.clone());
    let arg = match details {
        Some(details) => arg.long_help(format!("{help}\n\n{details}")),
        None => arg,
    };
    match option.values() {
        OptionValues::Switch => arg.action(ArgAction::SetTrue),
        OptionValues::One => arg.value_name(value_name).value_parser(value_parser(option)),
        OptionValues::Many => {
            arg.value_name(value_name).action(ArgAction::Append).value_parser(value_parser(option))
        }
    }
}

/// Parser of one value. A file is read, and checked, when the command starts.
fn value_parser(
    option: SourceOption,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |value| {
        if option != SourceOption::Tags {
            SourceOptions::default().push(option, value).map_err(|bad| bad.to_string())?;
        }
        Ok(value.to_owned())
    }
}

/// Texts of an argument's help.
struct ArgTexts {
    value_name: &'static str,
    help: String,
    details: Option<&'static str>,
}

/// Help of an option's argument.
fn arg_texts(option: SourceOption) -> ArgTexts {
    let (value_name, help, details) = match option {
        SourceOption::StartsInThinking => (
            "",
            "Treat the start of the stream as thinking: the model's template opens the tag".into(),
            None,
        ),
        SourceOption::Tags => (
            "FILE",
            "Hide more tags: lines of `reasoning: NAME...`, `tool: NAME...` or `unwrapped: NAME...`"
                .into(),
            None,
        ),
        SourceOption::FinishWord => (
            "WORD",
            "End the run when the agent writes this word, such as '!isfinish'".into(),
            Some(
                "The word is hidden everywhere outside code, in upper or lower case, unless a \
                 letter or digit follows it. At the start or end of a message it ends the run: \
                 tool calls of the same reply still run, later output is dropped. In the middle \
                 of a message, in code, in tool arguments and in results it does not end the run. \
                 Quote it: many shells interpret `!`.",
            ),
        ),
        SourceOption::Quirk => {
            let known: Vec<&str> = Quirk::ALL.iter().map(|quirk| quirk.as_str()).collect();
            let known = known.join(", ");
            ("NAME", format!("Work around a known provider bug; may be repeated ({known})"), None)
        }
        SourceOption::Action => (
            "NAME",
            "Treat calls of this tool as actions: cards with parameters and screenshot; may be \
             repeated"
                .to_owned(),
            Some(
                "Computer and browser tools are actions without it. NAME is the tool's name as \
                 the source writes it, or without its MCP server.",
            ),
        ),
    };
    ArgTexts { value_name, help, details }
}
