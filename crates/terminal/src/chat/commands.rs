//! What can be said with a slash.

use engine::view::ViewName;

/// A command and what it does, as its menu says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub name: &'static str,
    pub takes: &'static str,
    pub about: &'static str,
}

pub const COMMANDS: [Command; 17] = [
    Command { name: "help", takes: "", about: "keys and commands" },
    Command {
        name: "view",
        takes: "NAME",
        about: "latest, steps, bubbles, transcript or sentences",
    },
    Command { name: "model", takes: "[PROFILE]", about: "who answers, or let another do so" },
    Command { name: "tools", takes: "", about: "what the agent can use, and what it asks about" },
    Command { name: "new", takes: "", about: "begin another conversation" },
    Command { name: "sessions", takes: "[WORDS]", about: "list conversations" },
    Command {
        name: "resume",
        takes: "NUMBER",
        about: "go to a conversation of that list, or choose",
    },
    Command { name: "queue", takes: "[drop NUMBER]", about: "messages that wait, or take one out" },
    Command {
        name: "answer",
        takes: "NUMBER [WHY]",
        about: "answer what is asked, by the number of the answer or in words",
    },
    Command { name: "cancel", takes: "", about: "stop the run" },
    Command { name: "retry", takes: "", about: "send the last message again" },
    Command { name: "copy", takes: "", about: "copy the last reply" },
    Command { name: "export", takes: "FILE", about: "write the page to a file" },
    Command { name: "web", takes: "", about: "the address of this conversation in the browser" },
    Command { name: "redraw", takes: "", about: "draw the live part anew" },
    Command { name: "all", takes: "", about: "print all of the conversation" },
    Command { name: "quit", takes: "", about: "leave" },
];

/// What a line with a slash wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    Help,
    View(ViewName),
    Model,
    /// Let this profile answer.
    Profile(String),
    Tools,
    New,
    Sessions(String),
    /// By its number in the list that was printed, or by its name.
    Resume(String),
    Queue,
    Drop(usize),
    Answer(String),
    Cancel,
    Retry,
    Copy,
    Export(String),
    Web,
    Redraw,
    All,
    Quit,
}

/// An order, or what is wrong with it; nothing if it is none of ours and goes to the agent.
pub fn order(line: &str) -> Option<Result<Order, String>> {
    let line = line.strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let known = COMMANDS.iter().find(|command| command.name == name)?;
    let usage = || Err(format!("/{} {}: {}", known.name, known.takes, known.about));
    Some(match name {
        "help" => Ok(Order::Help),
        "view" => match ViewName::ALL.iter().find(|view| view.as_str() == rest) {
            Some(view) => Ok(Order::View(*view)),
            None => usage(),
        },
        "model" if rest.is_empty() => Ok(Order::Model),
        "model" => Ok(Order::Profile(rest.to_owned())),
        "tools" => Ok(Order::Tools),
        "new" => Ok(Order::New),
        "sessions" => Ok(Order::Sessions(rest.to_owned())),
        "queue" if rest.is_empty() => Ok(Order::Queue),
        "queue" => match rest.strip_prefix("drop").map(str::trim).map(str::parse) {
            Some(Ok(number)) => Ok(Order::Drop(number)),
            _ => usage(),
        },
        "answer" | "export" | "resume" if rest.is_empty() => usage(),
        "resume" => Ok(Order::Resume(rest.to_owned())),
        "answer" => Ok(Order::Answer(rest.to_owned())),
        "cancel" => Ok(Order::Cancel),
        "retry" => Ok(Order::Retry),
        "copy" => Ok(Order::Copy),
        "export" => Ok(Order::Export(rest.to_owned())),
        "web" => Ok(Order::Web),
        "redraw" => Ok(Order::Redraw),
        "all" => Ok(Order::All),
        _ => Ok(Order::Quit),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_ours_and_the_rest_is_the_agents() {
        assert_eq!(order("hello"), None);
        assert_eq!(order("/compact now"), None);
        assert_eq!(order("/view steps"), Some(Ok(Order::View(ViewName::Steps))));
        assert_eq!(order("/queue drop 2"), Some(Ok(Order::Drop(2))));
        assert!(matches!(order("/view sideways"), Some(Err(words)) if words.contains("bubbles")));
        assert!(matches!(order("/resume"), Some(Err(_))));
        for command in COMMANDS {
            let told = order(&format!("/{}", command.name)).unwrap();
            let needs = !command.takes.is_empty() && !command.takes.starts_with('[');
            assert_eq!(told.is_err(), needs, "{}", command.name);
        }
    }
}
