//! Events in, frames out, for one kind of stream.
//!
//! Invariant: frames are a function of the log and the kind alone, so that one encoding serves all
//! readers and a reader can resume at any frame.

use std::borrow::Cow;

use crate::event::{Millis, Record};
use crate::view::{Key, Options, Patch, Picture, Status, Thinking, View, ViewName};

use super::cursor::Cursor;
use super::json::{Object, write_text};
use super::own::{About, Own};
use super::patch::PatchFrames;

/// One message to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub id: Cursor,
    /// Empty for patches, whose payload says what they are.
    pub event: &'a str,
    /// A JSON object.
    pub data: &'a str,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The view's own frames.
    #[default]
    Own,
    /// Patches to a page, the same for all views.
    Patch,
}

/// What the view's own text frames carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The message so far.
    #[default]
    Accumulated,
    /// What is new.
    Delta,
}

/// Everything that makes two streams of one session differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub view: ViewName,
    pub format: Format,
    pub content: Content,
    pub thinking: Thinking,
}

impl Kind {
    pub fn new(view: ViewName) -> Kind {
        Kind {
            view,
            format: Format::default(),
            content: Content::default(),
            thinking: Thinking::default(),
        }
    }

    /// One letter for the view and its format, two characters more for what is unusual.
    pub(super) fn write(self, out: &mut String) {
        let letter = LETTERS.iter().find(|(view, _)| *view == self.view).map_or('?', |of| of.1);
        out.push(match self.format {
            Format::Own => letter,
            Format::Patch => letter.to_ascii_uppercase(),
        });
        let option = OPTIONS.iter().position(|of| *of == (self.content, self.thinking));
        if let Some(letter) = option.filter(|&at| 0 < at).and_then(|at| b"_abcdefg".get(at)) {
            out.push('-');
            out.push(char::from(*letter));
        }
    }

    pub(super) fn read(text: &str) -> Option<(Kind, &str)> {
        let letter = text.chars().next()?;
        let (view, _) = LETTERS.iter().find(|of| of.1 == letter.to_ascii_lowercase())?;
        let format = if letter.is_ascii_lowercase() { Format::Own } else { Format::Patch };
        let rest = &text[1..];
        let (at, rest) = match rest.strip_prefix('-') {
            None => (0, rest),
            Some(rest) => {
                let letter = rest.bytes().next()?;
                let at = b"_abcdefg".iter().position(|of| *of == letter).filter(|&at| 0 < at)?;
                (at, &rest[1..])
            }
        };
        let (content, thinking) = OPTIONS[at];
        Some((Kind { view: *view, format, content, thinking }, rest))
    }
}

const LETTERS: [(ViewName, char); ViewName::ALL.len()] = [
    (ViewName::Latest, 'l'),
    (ViewName::Steps, 's'),
    (ViewName::Bubbles, 'b'),
    (ViewName::Transcript, 't'),
    (ViewName::Sentences, 'f'),
];

const OPTIONS: [(Content, Thinking); 8] = [
    (Content::Accumulated, Thinking::AsUsual),
    (Content::Accumulated, Thinking::Hide),
    (Content::Accumulated, Thinking::Latest),
    (Content::Accumulated, Thinking::Show),
    (Content::Delta, Thinking::AsUsual),
    (Content::Delta, Thinking::Hide),
    (Content::Delta, Thinking::Latest),
    (Content::Delta, Thinking::Show),
];

/// Whether appends in a row become one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Merging {
    #[default]
    Off,
    UntilFlush,
}

/// The stream of one kind, as far as the log has been read.
#[derive(Clone, Debug)]
pub struct Encoder {
    view: View,
    page: Page,
    merging: Merging,
    /// A frame that may still grow.
    pending: Option<Pending>,
    merged: u64,
}

/// The page, and how changes to it are spelt.
#[derive(Clone, Debug)]
struct Page {
    kind: Kind,
    epoch: u32,
    /// As JSON strings, because most frames carry them.
    session: String,
    run: String,
    picture: Picture,
    spelling: Spelling,
    data: String,
}

#[derive(Clone, Debug)]
enum Spelling {
    Own(Own),
    Patch(PatchFrames),
}

#[derive(Clone, Debug)]
struct Pending {
    key: Key,
    begins: Begins,
    text: String,
    seq: u64,
    sent: u32,
}

/// What the text of a frame that grows is to its item.
#[derive(Clone, Copy, Debug)]
enum Begins {
    Nothing,
    Item { at_ms: Option<Millis> },
}

/// Whether later text may be put to this patch before it is sent.
fn may_grow(patch: &Patch<'_>, format: Format) -> bool {
    match patch {
        Patch::Append { .. } => true,
        Patch::Next { .. } => format == Format::Patch,
        _ => false,
    }
}

impl Pending {
    fn begin(patch: &Patch<'_>, seq: u64, sent: u32) -> Option<Pending> {
        let (key, text, begins) = match patch {
            Patch::Append { key, text } => (*key, text, Begins::Nothing),
            Patch::Next { key, at_ms, text } => (*key, text, Begins::Item { at_ms: *at_ms }),
            _ => return None,
        };
        Some(Pending { key, begins, text: text.to_string(), seq, sent })
    }

    /// Takes more text of the same item, if that is what this is.
    fn grow(&mut self, patch: &Patch<'_>, seq: u64, sent: u32) -> bool {
        match patch {
            Patch::Append { key, text } if *key == self.key => {
                self.text.push_str(text);
                (self.seq, self.sent) = (seq, sent);
                true
            }
            _ => false,
        }
    }
}

impl Encoder {
    pub fn new(kind: Kind, session: &str, epoch: u32) -> Encoder {
        let spelling = match kind.format {
            Format::Own => Spelling::Own(Own::default()),
            Format::Patch => Spelling::Patch(PatchFrames::default()),
        };
        let mut quoted = String::new();
        write_text(session, &mut quoted);
        let page = Page {
            kind,
            epoch,
            session: quoted,
            run: String::new(),
            picture: Picture::default(),
            spelling,
            data: String::new(),
        };
        let view = View::new(kind.view, Options { thinking: kind.thinking });
        Encoder { view, page, merging: Merging::Off, pending: None, merged: 0 }
    }

    /// From here on, appends to one item become one frame until something else happens to the page
    /// or [`Encoder::flush`] is called.
    #[must_use]
    pub fn merging(self) -> Encoder {
        Encoder { merging: Merging::UntilFlush, ..self }
    }

    /// Overlays that came too late to be shown; only the view `steps` has any.
    pub fn suppressed_overlays(&self) -> u64 {
        match &self.view {
            View::Steps(steps) => steps.suppressed_overlays(),
            _ => 0,
        }
    }

    /// Appends that went into the frame of another.
    pub fn merged(&self) -> u64 {
        self.merged
    }

    /// The page as it stands. Text that waits in an unsent frame is on it.
    pub fn picture(&self) -> &Picture {
        &self.page.picture
    }

    pub fn push(&mut self, record: &Record<'_>, out: &mut impl FnMut(Frame<'_>)) {
        let Encoder { view, page, merging, pending, merged } = self;
        let seq = record.seq;
        let mut sent = 0;
        view.apply(record, &mut |patch| {
            if *merging == Merging::UntilFlush && may_grow(&patch, page.kind.format) {
                sent += 1;
                if pending.as_mut().is_some_and(|open| open.grow(&patch, seq, sent)) {
                    *merged += 1;
                } else {
                    page.send(pending, out);
                    *pending = Pending::begin(&patch, seq, sent);
                }
                page.picture.apply(&patch);
                return;
            }
            // First, because a frame may carry all of the item as it stands.
            page.send(pending, out);
            page.picture.apply(&patch);
            if let Patch::Status(Status::Queued) = patch {
                page.run.clear();
                write_text(&record.run, &mut page.run);
            }
            page.spell(&patch, seq, &mut sent, out);
        });
    }

    /// Reads a record of the past for a reader that stands at `cursor`: only frames that it has not
    /// had are sent, each on its own.
    pub fn catch_up(
        &mut self,
        record: &Record<'_>,
        cursor: &Cursor,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        let merging = std::mem::take(&mut self.merging);
        self.push(record, &mut |frame| {
            if (cursor.seq, cursor.sent) < (frame.id.seq, frame.id.sent) {
                out(frame);
            }
        });
        self.merging = merging;
    }

    /// Sends what has been merged so far.
    pub fn flush(&mut self, out: &mut impl FnMut(Frame<'_>)) {
        self.page.send(&mut self.pending, out);
    }

    /// The whole page in one frame, for a reader that has nothing yet. It stands before the event
    /// `next`: all frames of those before it are on it.
    pub fn snapshot(&self, next: u64, out: &mut impl FnMut(Frame<'_>)) {
        let Page { kind, epoch, picture, run, .. } = &self.page;
        let mut data = String::new();
        let none_yet = picture.status == Status::Idle || run.is_empty();
        let going = if none_yet { "null" } else { run };
        Object::new(&mut data).json("run", going).value("picture", picture).end();
        let id = Cursor { kind: *kind, epoch: *epoch, seq: next, sent: 0 };
        out(Frame { id, event: "snapshot", data: &data });
    }
}

impl Page {
    fn send(&mut self, pending: &mut Option<Pending>, out: &mut impl FnMut(Frame<'_>)) {
        if let Some(Pending { key, begins, text, seq, mut sent }) = pending.take() {
            let text = Cow::Owned(text);
            let patch = match begins {
                Begins::Nothing => Patch::Append { key, text },
                Begins::Item { at_ms } => Patch::Next { key, at_ms, text },
            };
            sent -= 1;
            self.spell(&patch, seq, &mut sent, out);
        }
    }

    /// Spells a patch that the page already has.
    fn spell(
        &mut self,
        patch: &Patch<'_>,
        seq: u64,
        sent: &mut u32,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        let Page { kind, epoch, session, run, picture, spelling, data } = self;
        let mut say = |event: &str, data: &str| {
            *sent += 1;
            let id = Cursor { kind: *kind, epoch: *epoch, seq, sent: *sent };
            out(Frame { id, event, data });
        };
        match spelling {
            Spelling::Own(own) => {
                let about = About { kind: *kind, session, run, seq };
                own.spell(patch, picture, about, data, &mut say);
            }
            Spelling::Patch(frames) => {
                frames.spell(patch, data);
                say("", data);
            }
        }
    }
}
