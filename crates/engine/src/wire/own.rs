//! A view's own frames. What all views share is spelt here, the rest in a file for each view.

use std::borrow::Cow;

use crate::view::patch::{Ended, Status};
use crate::view::{Item, Key, Kind as ItemKind, Patch, Picture, ViewName};

use super::encoder::Kind;
use super::json::Object;
use super::{bubbles, latest, sentences, steps, transcript};

/// What a frame says beside its patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) kind: Kind,
    /// As JSON strings.
    pub(super) session: &'a str,
    pub(super) run: &'a str,
    pub(super) seq: u64,
}

/// Where frames go: their name and payload.
pub(super) type Say<'a> = dyn FnMut(&str, &str) + 'a;

#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    latest: latest::Spelling,
    steps: steps::Spelling,
}

impl Own {
    /// Spells a patch that `picture` already has.
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
            Patch::Put { item, .. } if item.kind == ItemKind::User => {
                let frame = Object::new(data).json("run", run).text("id", &item.id);
                say("user", frame.text("content", &item.text).end());
            }
            Patch::Ask(ask) => say("ask", Object::new(data).members(ask).end()),
            Patch::Resolve(resolved) => {
                say("ask-resolved", Object::new(data).members(resolved).end());
            }
            Patch::Attach { key, image } => {
                let frame = Object::new(data).json("run", run).text("id", id(*key, picture));
                say("image", frame.members(image).end());
            }
            Patch::Cite { key, citation } => {
                let frame = Object::new(data).json("run", run).text("id", id(*key, picture));
                say("citation", frame.members(citation).end());
            }
            Patch::Withdraw { keys } => {
                let ids: Vec<&str> = keys.iter().map(|key| id(*key, picture)).collect();
                say("withdrawn", Object::new(data).json("run", run).value("ids", &ids).end());
            }
            Patch::Status(Status::Thinking { text: Some(text) }) => {
                say("thinking", Object::new(data).json("run", run).text("content", text).end());
            }
            _ => match about.kind.view {
                ViewName::Latest => self.latest.spell(patch, picture, about, data, say),
                ViewName::Steps => self.steps.spell(patch, picture, about, data, say),
                ViewName::Transcript => {}
                ViewName::Sentences => sentences::spell(patch, picture, about, data, say),
                ViewName::Bubbles => bubbles::spell(patch, picture, about, data, say),
            },
        }
        // There, what all views tell is an item as well.
        if about.kind.view == ViewName::Transcript {
            transcript::spell(patch, picture, about, data, say);
        }
    }
}

fn id(key: Key, picture: &Picture) -> &str {
    picture.items.get(key).map_or("", |item| &item.id)
}

pub(super) fn item(key: Key, picture: &Picture) -> Option<&Item<'static>> {
    picture.items.get(key)
}

/// An ending with all that every view says of it.
pub(super) fn ending<'d>(ended: &Ended<'_>, data: &'d mut String) -> Object<'d> {
    let content = ended.content.clone().or(Some(Cow::Borrowed("")));
    Object::new(data).members(&Ended { content, ..ended.clone() })
}
