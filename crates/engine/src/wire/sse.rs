//! Frames as server-sent events and as JSON lines.

use super::encoder::Frame;
use super::json::{ObjectWriter, write_string};

/// Appends a frame as a server-sent event. Payloads are JSON on one line, so they cannot break the
/// framing.
pub fn write_sse_event(frame: &Frame<'_>, out: &mut String) {
    out.push_str("id:");
    frame.id.write(out);
    if !frame.event.is_empty() {
        out.push_str("\nevent:");
        out.push_str(frame.event);
    }
    out.push_str("\ndata:");
    out.push_str(frame.data);
    out.push_str("\n\n");
}

/// Appends a frame as a line `{"id", "event", "data"}`; a patch frame has no `event`.
pub fn write_json_line(frame: &Frame<'_>, out: &mut String) {
    let mut object = ObjectWriter::begin_at_end(out);
    write_string(&frame.id.to_string(), object.begin_member("id"));
    if !frame.event.is_empty() {
        write_string(frame.event, object.begin_member("event"));
    }
    object.begin_member("data").push_str(frame.data);
    object.finish();
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ViewName;
    use crate::wire::{Cursor, StreamKind};

    #[test]
    fn frames_are_written_with_their_names_where_they_have_any() {
        let id =
            Cursor { kind: StreamKind::new(ViewName::Steps), epoch: 0, seq: 7, frames_sent: 1 };
        let written = |event| {
            let frame = Frame { id, event, data: "{\"a\":1}" };
            let (mut one, mut line) = ("before\n".to_owned(), "before\n".to_owned());
            write_sse_event(&frame, &mut one);
            write_json_line(&frame, &mut line);
            (one, line)
        };
        let (event, line) = written("text");
        assert_eq!(event, "before\nid:s7\nevent:text\ndata:{\"a\":1}\n\n");
        assert_eq!(line, "before\n{\"id\":\"s7\",\"event\":\"text\",\"data\":{\"a\":1}}\n");
        let (event, line) = written("");
        assert_eq!(event, "before\nid:s7\ndata:{\"a\":1}\n\n");
        assert_eq!(line, "before\n{\"id\":\"s7\",\"data\":{\"a\":1}}\n");
    }
}
