//! Kilo, Roo and Cline as their own screens see them: say and ask messages, one per line or all in
//! one array (`ui_messages.json`).
//!
//! Text is cumulative: a message that comes again, with the same `ts`, has all it says so far. A
//! request to the model is a round. The end is a completion result; a run that waits for an answer
//! has not ended.

use crate::event::TextMode;
use crate::ingest::frame::Frame;
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::say_ask::SayAsk;
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kilo {
    messages: SayAsk,
}

impl Dialect for Kilo {
    const NAME: &'static str = "kilo";
    const MODE: TextMode = TextMode::Cumulative;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.kind() {
            "say" => Likeness::yes_if(probe.has_all(["ts", "say"])),
            "ask" => Likeness::yes_if(probe.has_all(["ts", "ask"])),
            "user" | "assistant" | "system" | "error" => {
                Likeness::maybe_if(probe.has_all(["id", "content", "ts"]))
            }
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        self.messages.frame(frame, out)
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.messages.finish(out);
    }
}
