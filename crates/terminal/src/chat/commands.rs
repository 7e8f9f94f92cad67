//! Slash commands: their list and their parser.

use millpond_engine::view::ViewName;

/// One of the slash commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    Help,
    View,
    Model,
    Tools,
    New,
    Sessions,
    Resume,
    Queue,
    Answer,
    Cancel,
    Retry,
    Copy,
    Export,
    Web,
    Redraw,
    PrintAll,
    PrintRawCall,
    Quit,
}

/// Name, arguments and description of a slash command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    pub kind: CommandKind,
    /// Without the slash.
    pub name: &'static str,
    /// Usage of the arguments; in brackets if optional.
    pub arguments: &'static str,
    /// One line for the menu and `/help`.
    pub about: &'static str,
}

/// All slash commands, in the order of `/help`.
pub const COMMANDS: [CommandSpec; 18] = [
    CommandSpec {
        kind: CommandKind::Help,
        name: "help",
        arguments: "",
        about: "show keys and commands",
    },
    CommandSpec {
        kind: CommandKind::View,
        name: "view",
        arguments: "NAME",
        about: "switch view: latest, steps, bubbles, transcript or sentences",
    },
    CommandSpec {
        kind: CommandKind::Model,
        name: "model",
        arguments: "[PROFILE]",
        about: "show the model, or switch to a profile",
    },
    CommandSpec {
        kind: CommandKind::Tools,
        name: "tools",
        arguments: "",
        about: "list the agent's tools and their policies",
    },
    CommandSpec {
        kind: CommandKind::New,
        name: "new",
        arguments: "",
        about: "start a new conversation",
    },
    CommandSpec {
        kind: CommandKind::Sessions,
        name: "sessions",
        arguments: "[WORDS]",
        about: "list or search conversations",
    },
    CommandSpec {
        kind: CommandKind::Resume,
        name: "resume",
        arguments: "NUMBER",
        about: "open a conversation from that list, or choose one",
    },
    CommandSpec {
        kind: CommandKind::Queue,
        name: "queue",
        arguments: "[drop NUMBER]",
        about: "list queued messages, or drop one",
    },
    CommandSpec {
        kind: CommandKind::Answer,
        name: "answer",
        arguments: "NUMBER [WHY]",
        about: "answer the open request by number, with an optional reason, or in words",
    },
    CommandSpec { kind: CommandKind::Cancel, name: "cancel", arguments: "", about: "stop the run" },
    CommandSpec {
        kind: CommandKind::Retry,
        name: "retry",
        arguments: "",
        about: "retry the last run",
    },
    CommandSpec {
        kind: CommandKind::Copy,
        name: "copy",
        arguments: "",
        about: "copy the last reply",
    },
    CommandSpec {
        kind: CommandKind::Export,
        name: "export",
        arguments: "FILE",
        about: "write the conversation to a new file",
    },
    CommandSpec {
        kind: CommandKind::Web,
        name: "web",
        arguments: "",
        about: "show this conversation's web address",
    },
    CommandSpec {
        kind: CommandKind::Redraw,
        name: "redraw",
        arguments: "",
        about: "redraw the live part of the screen",
    },
    CommandSpec {
        kind: CommandKind::PrintAll,
        name: "all",
        arguments: "",
        about: "print the whole conversation",
    },
    CommandSpec {
        kind: CommandKind::PrintRawCall,
        name: "raw",
        arguments: "[NUMBER]",
        about: "print a tool call's arguments and output in full; 1 is the newest",
    },
    CommandSpec { kind: CommandKind::Quit, name: "quit", arguments: "", about: "quit" },
];

/// A parsed slash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlashCommand {
    Help,
    View(ViewName),
    Model,
    /// Switch to this profile.
    SwitchProfile(String),
    Tools,
    New,
    Sessions(String),
    /// By its number in the printed list, or by its id.
    Resume(String),
    Queue,
    RemoveQueued(usize),
    Answer(String),
    Cancel,
    Retry,
    Copy,
    Export(String),
    Web,
    Redraw,
    PrintAll,
    /// Counted from the newest, which is 1.
    PrintRawCall(usize),
    Quit,
}

/// Parses a slash command; an error is its usage. `None` if the line is for the agent.
pub fn parse_slash_command_if_known(line: &str) -> Option<Result<SlashCommand, String>> {
    let line = line.strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let known = COMMANDS.iter().find(|command| command.name == name)?;
    let usage = || Err(format!("/{} {}: {}", known.name, known.arguments, known.about));
    let needs_arguments =
        matches!(known.kind, CommandKind::Answer | CommandKind::Export | CommandKind::Resume);
    if needs_arguments && rest.is_empty() {
        return Some(usage());
    }
    Some(match known.kind {
        CommandKind::Help => Ok(SlashCommand::Help),
        CommandKind::View => match ViewName::ALL.iter().find(|view| view.as_str() == rest) {
            Some(view) => Ok(SlashCommand::View(*view)),
            None => usage(),
        },
        CommandKind::Model if rest.is_empty() => Ok(SlashCommand::Model),
        CommandKind::Model => Ok(SlashCommand::SwitchProfile(rest.to_owned())),
        CommandKind::Tools => Ok(SlashCommand::Tools),
        CommandKind::New => Ok(SlashCommand::New),
        CommandKind::Sessions => Ok(SlashCommand::Sessions(rest.to_owned())),
        CommandKind::Queue if rest.is_empty() => Ok(SlashCommand::Queue),
        CommandKind::Queue => match rest.strip_prefix("drop").map(str::trim).map(str::parse) {
            Some(Ok(number)) => Ok(SlashCommand::RemoveQueued(number)),
            Some(Err(_)) | None => usage(),
        },
        CommandKind::Resume => Ok(SlashCommand::Resume(rest.to_owned())),
        CommandKind::Answer => Ok(SlashCommand::Answer(rest.to_owned())),
        CommandKind::Cancel => Ok(SlashCommand::Cancel),
        CommandKind::Retry => Ok(SlashCommand::Retry),
        CommandKind::Copy => Ok(SlashCommand::Copy),
        CommandKind::Export => Ok(SlashCommand::Export(rest.to_owned())),
        CommandKind::Web => Ok(SlashCommand::Web),
        CommandKind::Redraw => Ok(SlashCommand::Redraw),
        CommandKind::PrintAll => Ok(SlashCommand::PrintAll),
        CommandKind::PrintRawCall if rest.is_empty() => Ok(SlashCommand::PrintRawCall(1)),
        CommandKind::PrintRawCall => {
            rest.parse().map(SlashCommand::PrintRawCall).or_else(|_| usage())
        }
        CommandKind::Quit => Ok(SlashCommand::Quit),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_ours_and_the_rest_is_the_agents() {
        assert_eq!(parse_slash_command_if_known("hello"), None);
        assert_eq!(parse_slash_command_if_known("/compact now"), None);
        assert_eq!(
            parse_slash_command_if_known("/view steps"),
            Some(Ok(SlashCommand::View(ViewName::Steps)))
        );
        assert_eq!(
            parse_slash_command_if_known("/queue drop 2"),
            Some(Ok(SlashCommand::RemoveQueued(2)))
        );
        assert!(
            matches!(parse_slash_command_if_known("/view sideways"), Some(Err(words)) if words.contains("bubbles"))
        );
        assert!(matches!(parse_slash_command_if_known("/resume"), Some(Err(_))));
        let raw = |line| parse_slash_command_if_known(line).unwrap().ok();
        assert_eq!(raw("/raw"), Some(SlashCommand::PrintRawCall(1)));
        assert_eq!(raw("/raw 3"), Some(SlashCommand::PrintRawCall(3)));
        assert_eq!(raw("/raw Bash"), None);
        for command in COMMANDS {
            let told = parse_slash_command_if_known(&format!("/{}", command.name)).unwrap();
            let needs = !command.arguments.is_empty() && !command.arguments.starts_with('[');
            assert_eq!(told.is_err(), needs, "{}", command.name);
        }
    }
}
