//! The frames of `latest`:
//! `queued started (streaming (thinking | tool | final_message_start | assistant)*)+` and an ending.

use crate::view::patch::Status;
use crate::view::{Item, Patch, Picture, State};

use super::encoder::Content;
use super::json::Object;
use super::own::{About, Say, ending, item};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spelling {
    /// A run says once that its text begins.
    told: Told,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    #[default]
    Nothing,
    TextBegan,
}

impl Spelling {
    pub(super) fn spell(
        &mut self,
        patch: &Patch<'_>,
        picture: &Picture,
        about: About<'_>,
        data: &mut String,
        say: &mut Say<'_>,
    ) {
        let run = about.run;
        match patch {
            Patch::Status(status) => self.status(status, run, data, say),
            // Before any text there is none to replace.
            Patch::Put { item, .. } if item.text.is_empty() && self.told == Told::Nothing => {}
            Patch::Put { item, .. } if item.state == State::Live => {
                assistant(item, &item.text, Writing::Anew, about, data, say);
            }
            Patch::Append { key, text: delta } => {
                let Some(item) = item(*key, picture) else { return };
                match about.kind.content {
                    Content::Accumulated => {
                        assistant(item, &item.text, Writing::Anew, about, data, say);
                    }
                    Content::Delta => assistant(item, delta, Writing::On, about, data, say),
                }
            }
            Patch::Rewrite { key, .. } => {
                if let Some(item) = item(*key, picture) {
                    assistant(item, &item.text, Writing::Anew, about, data, say);
                }
            }
            Patch::Ended(ended) => say(ended.outcome.as_str(), ending(ended, data).end()),
            _ => {}
        }
    }

    fn status(&mut self, status: &Status<'_>, run: &str, data: &mut String, say: &mut Say<'_>) {
        let frame = Object::new(data).json("run", run);
        match status {
            Status::Queued => say("queued", frame.end()),
            Status::Started => {
                self.told = Told::Nothing;
                say("started", frame.end());
            }
            Status::Streaming { round } => say("streaming", frame.value("round", round).end()),
            Status::Thinking { .. } => say("thinking", frame.end()),
            Status::Working { phase, .. } => say("tool", frame.value("phase", phase).end()),
            Status::Writing if self.told == Told::Nothing => {
                self.told = Told::TextBegan;
                say("final_message_start", frame.end());
            }
            Status::Writing | Status::Waiting | Status::Resumed { .. } | Status::Idle => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Writing {
    /// In place of what stood there.
    Anew,
    /// After it.
    On,
}

fn assistant(
    item: &Item<'_>,
    text: &str,
    writing: Writing,
    about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let name = match about.kind.content {
        Content::Accumulated => "content",
        Content::Delta => "delta",
    };
    let replace = match writing {
        Writing::Anew => "true",
        Writing::On => "false",
    };
    let frame = Object::new(data).json("run", about.run).text("id", &item.id).text(name, text);
    say("assistant", frame.json("replace", replace).end());
}
