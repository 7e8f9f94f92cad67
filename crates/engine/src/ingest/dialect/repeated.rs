//! Items that a source sends more than once: piece by piece, whole, or whole again and again.
//!
//! Does: tell what of an item is new, so that its text is shown once. Items that are over are
//! remembered by a fingerprint, as many as [`ITEMS_REMEMBERED_MAX`].

use std::collections::VecDeque;

use crate::event::{Phase, ReasoningOrigin, StepId, UnrecognisedReason};
use crate::limits::{ID_BYTES_MAX, ITEMS_REMEMBERED_MAX, OPEN_TOOLS_MAX};
use crate::run::{Fingerprint, Writer};

/// A foreign id. Its length is the sender's choice: a long one is known by its fingerprint.
#[derive(Clone, Debug, PartialEq)]
enum Id {
    Short(String),
    Long(Fingerprint),
}

impl Id {
    fn of(id: &str) -> Id {
        if id.len() <= ID_BYTES_MAX {
            Id::Short(id.to_owned())
        } else {
            Id::Long(Fingerprint::of(id))
        }
    }

    /// Without an id nothing is the same as anything.
    fn is(&self, id: &str) -> bool {
        match self {
            Id::Short(known) => !id.is_empty() && known == id,
            Id::Long(print) => ID_BYTES_MAX < id.len() && *print == Fingerprint::of(id),
        }
    }
}

/// The texts, or the thoughts, of one source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Repeated {
    open: Option<Item>,
    past: VecDeque<(Id, Fingerprint)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Item {
    id: Id,
    said: String,
    /// What it said before another item came between: that stands in a message that is over.
    before: Option<Fingerprint>,
}

impl Item {
    fn print(&self) -> Fingerprint {
        let mut print = self.before.unwrap_or_default();
        print.push(&self.said);
        print
    }
}

enum News<'a> {
    /// An item nobody has heard of.
    First,
    /// Said already, or older than what has been said.
    Nothing,
    More(&'a str),
    /// The item says something else now; this is what it had said.
    Changed(String),
    /// It was over, and is said to be other than it was.
    Late,
}

/// Messages.
impl Repeated {
    /// New text of a message.
    pub(super) fn text_delta(&mut self, id: &str, delta: &str, out: &mut Writer<'_>) {
        self.phased_delta(id, None, delta, out);
    }

    fn phased_delta(&mut self, id: &str, phase: Option<Phase>, delta: &str, out: &mut Writer<'_>) {
        if self.begin(id) {
            out.begin_message(phase);
        }
        self.say(delta);
        out.text_kept(delta);
    }

    /// All that a message says so far.
    pub(super) fn text(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        self.phased_text(id, None, whole, out);
    }

    /// The same, of a message whose part the source tells.
    pub(super) fn phased_text(
        &mut self,
        id: &str,
        phase: Option<Phase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) {
        match self.news(id, whole) {
            News::First => self.phased_delta(id, phase, whole, out),
            News::Nothing => {}
            News::More(rest) => out.text_kept(rest),
            News::Changed(said) if out.has_said(&said) => out.text_so_far(whole),
            News::Changed(_) | News::Late => out.unrecognised(UnrecognisedReason::Late, whole),
        }
    }
}

/// Thoughts, and texts that are shown elsewhere.
impl Repeated {
    pub(super) fn thought_delta(&mut self, id: &str, delta: &str, out: &mut Writer<'_>) {
        if self.begin(id) {
            out.end_reasoning();
        }
        self.say(delta);
        out.reasoning(delta, ReasoningOrigin::Native);
    }

    pub(super) fn thought(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        match self.news(id, whole) {
            News::First => self.thought_delta(id, whole, out),
            News::Nothing => {}
            News::More(rest) => out.reasoning(rest, ReasoningOrigin::Native),
            News::Changed(_) => {
                // Reasoning is never rewritten: what it has become is a step of its own.
                out.end_reasoning();
                out.reasoning(whole, ReasoningOrigin::Native);
            }
            News::Late => out.unrecognised(UnrecognisedReason::Late, whole),
        }
    }

    /// All that something has said so far, for whoever shows it elsewhere: the part that is new.
    pub(super) fn rest<'a>(&mut self, id: &str, whole: &'a str) -> &'a str {
        match self.news(id, whole) {
            News::First => {
                self.begin(id);
                self.say(whole);
                whole
            }
            News::More(rest) => rest,
            News::Nothing | News::Changed(_) | News::Late => "",
        }
    }

    /// Takes note of new text; says whether its item is known.
    pub(super) fn more(&mut self, id: &str, delta: &str) -> bool {
        let known = self.knows(id);
        if known {
            self.begin(id);
            self.say(delta);
        }
        known
    }
}

/// What is known of the items.
impl Repeated {
    pub(super) fn knows(&self, id: &str) -> bool {
        self.open.as_ref().is_some_and(|item| item.id.is(id))
            || self.past.iter().any(|(past, _)| past.is(id))
    }

    /// Whether the item has to be begun.
    fn begin(&mut self, id: &str) -> bool {
        if self.open.as_ref().is_some_and(|item| item.id.is(id)) {
            return false;
        }
        self.close();
        let past = self.past.iter().position(|(past, _)| past.is(id));
        let past = past.and_then(|at| self.past.remove(at));
        let before = past.map(|(_, print)| print);
        self.open = Some(Item { id: Id::of(id), said: String::new(), before });
        true
    }

    /// The item that is open is over.
    fn close(&mut self) {
        let Some(item) = self.open.take() else { return };
        if ITEMS_REMEMBERED_MAX <= self.past.len() {
            self.past.pop_front();
        }
        let print = item.print();
        self.past.push_back((item.id, print));
    }

    fn say(&mut self, text: &str) {
        if let Some(item) = &mut self.open {
            item.said.push_str(text);
        }
    }

    fn news<'a>(&mut self, id: &str, whole: &'a str) -> News<'a> {
        let known = |print: Fingerprint| {
            let same = print.same_text(&Fingerprint::of(whole));
            if same { News::Nothing } else { News::Late }
        };
        let Some(item) = self.open.as_mut().filter(|item| item.id.is(id)) else {
            let past = self.past.iter().rev().find(|(past, _)| past.is(id));
            return past.map_or(News::First, |&(_, print)| known(print));
        };
        if item.before.is_some() {
            return known(item.print());
        }
        // A beginning of what was said is older than it.
        if item.said.starts_with(whole) {
            return News::Nothing;
        }
        if let Some(rest) = whole.strip_prefix(item.said.as_str()) {
            item.said.push_str(rest);
            return News::More(rest);
        }
        News::Changed(std::mem::replace(&mut item.said, whole.to_owned()))
    }
}

/// Ids of things that are over, the newest of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Recent(VecDeque<Id>);

impl Recent {
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().rev().any(|recent| recent.is(id))
    }

    /// Remembers the id; says whether it is new. A missing one always is.
    pub(super) fn add(&mut self, id: &str) -> bool {
        if self.has(id) {
            return false;
        }
        if id.is_empty() {
            return true;
        }
        if ITEMS_REMEMBERED_MAX <= self.0.len() {
            self.0.pop_front();
        }
        self.0.push_back(Id::of(id));
        true
    }
}

/// What tools that run have put out, from a source that repeats it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outputs(Vec<Output>);

#[derive(Clone, Debug, PartialEq)]
struct Output {
    step: StepId,
    bytes: usize,
    print: Fingerprint,
}

impl Outputs {
    /// All that a running tool has put out so far.
    pub(super) fn so_far(&mut self, step: StepId, whole: &str, out: &mut Writer<'_>) {
        let Some(known) = self.0.iter_mut().find(|output| output.step == step) else {
            if self.0.len() < OPEN_TOOLS_MAX && !whole.is_empty() {
                let print = Fingerprint::of(whole);
                self.0.push(Output { step, bytes: whole.len(), print });
                out.output(step, whole);
            }
            return;
        };
        // What does not go on from before is left for the end, which has it all.
        if let Some(rest) = known.rest(whole) {
            *known = Output { step, bytes: whole.len(), print: Fingerprint::of(whole) };
            out.output(step, rest);
        }
    }

    /// All that a tool has put out: it is over.
    pub(super) fn whole(&mut self, step: StepId, whole: &str, out: &mut Writer<'_>) {
        let at = self.0.iter().position(|output| output.step == step);
        let Some(known) = at.map(|at| self.0.swap_remove(at)) else {
            out.whole_output(step, whole);
            return;
        };
        out.output(step, known.rest(whole).unwrap_or(whole));
    }

    pub(super) fn forget(&mut self, step: StepId) {
        self.0.retain(|output| output.step != step);
    }
}

impl Output {
    fn rest<'a>(&self, whole: &'a str) -> Option<&'a str> {
        let (before, rest) = whole.split_at_checked(self.bytes)?;
        Fingerprint::of(before).same_text(&self.print).then_some(rest)
    }
}
