//! Dialect of the UI messages of Kilo, Roo and Cline: say and ask messages, one per line or all in
//! one array (`ui_messages.json`).
//!
//! Text is cumulative: a repeated message, with the same `ts`, has its whole text so far. A model
//! request is a round. A completion result ends the run; a run with an open ask has not ended.

use crate::event::TextMode;
use crate::ingest::frame::Frame;
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::shared::cline_messages::ClineMessages;
use super::{Dialect, Unreadable};

/// Parser state of the `kilo` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kilo {
    messages: ClineMessages,
}

impl Dialect for Kilo {
    const NAME: &'static str = "kilo";
    const MODE: TextMode = TextMode::Cumulative;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.type_text() {
            "say" => Likeness::yes_if(probe.has_all(["ts", "say"])),
            "ask" => Likeness::yes_if(probe.has_all(["ts", "ask"])),
            "user" | "assistant" | "system" | "error" => {
                Likeness::maybe_if(probe.has_all(["id", "content", "ts"]))
            }
            _ => Likeness::No,
        }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        self.messages.push_frame(frame, out)
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.messages.finish(out);
    }
}
