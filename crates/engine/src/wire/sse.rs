//! Frames as server-sent events, and as JSON lines.

use super::encoder::Frame;
use super::json::{Object, write_text};

/// Appends a frame as an event. Payloads are JSON on one line, so none can break out of its field.
pub fn write_event(frame: &Frame<'_>, out: &mut String) {
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

/// Appends a frame as a line `{"id", "event", "data"}`; a patch has no event.
pub fn write_line(frame: &Frame<'_>, out: &mut String) {
    let mut object = Object::inside(out);
    write_text(&frame.id.to_string(), object.member("id"));
    if !frame.event.is_empty() {
        write_text(frame.event, object.member("event"));
    }
    object.member("data").push_str(frame.data);
    object.end();
    out.push('\n');
}
