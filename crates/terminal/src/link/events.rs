//! Server-sent events as the gateway writes them, with their ids.

/// An event longer than this is no page that could be shown.
const EVENT_BYTES_MAX: usize = 64 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) data: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Event(Event),
    /// The line is alive.
    Comment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Puts events together from bytes, however they are cut.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    event: Event,
}

impl Events {
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut hear: impl FnMut(Heard),
    ) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.end_line(&String::from_utf8_lossy(&line), &mut hear);
        }
        self.line.extend_from_slice(rest);
        let held = self.line.len() + self.event.data.len();
        if EVENT_BYTES_MAX < held { Err(TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self, line: &str, hear: &mut impl FnMut(Heard)) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if !event.data.is_empty() {
                hear(Heard::Event(event));
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => hear(Heard::Comment),
            "id" => value.clone_into(&mut self.event.id),
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_the_bytes_are_cut_the_events_are_the_same() {
        let text = "event:stream\ndata:{}\n\n: 12\nid:a\ndata: \"ż\"\r\n\r\nid:b\nevent:x\ndata:1\ndata:2\n\nid:c\ndata:cut";
        let whole = heard(&[text.as_bytes()]);
        let event = |id: &str, name: &str, data: &str| {
            Heard::Event(Event { id: id.into(), name: name.into(), data: data.into() })
        };
        assert_eq!(
            whole,
            [
                event("", "stream", "{}"),
                Heard::Comment,
                event("a", "", "\"ż\""),
                event("b", "x", "1\n2")
            ]
        );
        for first in 0..text.len() {
            for second in first..text.len() {
                let bytes = text.as_bytes();
                let cut = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(heard(&cut), whole);
            }
        }
    }

    fn heard(pieces: &[&[u8]]) -> Vec<Heard> {
        let (mut events, mut all) = (Events::default(), Vec::new());
        for piece in pieces {
            events.push(piece, |heard| all.push(heard)).unwrap();
        }
        all
    }
}
