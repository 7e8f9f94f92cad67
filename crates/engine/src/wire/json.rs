//! JSON objects written straight into a string buffer.

use serde::Serialize;

/// Writer of one JSON object; `finish` closes it.
pub(super) struct ObjectWriter<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Clears `out` and begins an object.
    pub(super) fn begin_cleared(out: &'o mut String) -> ObjectWriter<'o> {
        out.clear();
        ObjectWriter::begin_at_end(out)
    }

    /// Begins an object at the end of `out`.
    pub(super) fn begin_at_end(out: &'o mut String) -> ObjectWriter<'o> {
        out.push('{');
        ObjectWriter { out, is_empty: true }
    }

    /// Writes a member's name; returns the buffer for its value.
    pub(super) fn begin_member(&mut self, name: &'static str) -> &mut String {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
        self.out
    }

    /// Adds a string member.
    pub(super) fn add_string(mut self, name: &'static str, text: &str) -> ObjectWriter<'o> {
        write_string(text, self.begin_member(name));
        self
    }

    /// Adds a member whose value is JSON text.
    pub(super) fn add_raw_json(mut self, name: &'static str, json: &str) -> ObjectWriter<'o> {
        self.begin_member(name).push_str(json);
        self
    }

    /// Adds a number member.
    pub(super) fn add_number(mut self, name: &'static str, number: u64) -> ObjectWriter<'o> {
        write_number(number, self.begin_member(name));
        self
    }

    /// Adds a serialized member.
    pub(super) fn add_serialized(
        mut self,
        name: &'static str,
        value: &impl Serialize,
    ) -> ObjectWriter<'o> {
        write_value(value, self.begin_member(name));
        self
    }

    /// Adds a serialized member, unless it is `None`.
    pub(super) fn add_if_some(
        self,
        name: &'static str,
        value: Option<&impl Serialize>,
    ) -> ObjectWriter<'o> {
        match value {
            Some(value) => self.add_serialized(name, value),
            None => self,
        }
    }

    /// Adds a list member, unless it is empty.
    pub(super) fn add_list_if_nonempty(
        self,
        name: &'static str,
        list: &[impl Serialize],
    ) -> ObjectWriter<'o> {
        if list.is_empty() { self } else { self.add_serialized(name, &list) }
    }

    /// Adds all members of a value that serializes as an object.
    pub(super) fn add_members_of(mut self, value: &impl Serialize) -> ObjectWriter<'o> {
        if let Ok(text) = serde_json::to_string(value) {
            self.add_members_of_json(&text);
        }
        self
    }

    /// Adds all members of an object given as JSON text.
    pub(super) fn add_members_of_json(&mut self, object: &str) {
        let inner = object.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            if !std::mem::replace(&mut self.is_empty, false) {
                self.out.push(',');
            }
            self.out.push_str(inner);
        }
    }

    /// Closes the object; returns the whole buffer.
    pub(super) fn finish(self) -> &'o str {
        self.out.push('}');
        self.out
    }
}

/// Appends a value as JSON. Serializing our types cannot fail.
pub(super) fn write_value(value: &impl Serialize, out: &mut String) {
    if let Ok(text) = serde_json::to_string(value) {
        out.push_str(&text);
    }
}

/// Appends a JSON string; stretches without escapes are copied at once.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(control >> 4)]));
                out.push(char::from(HEX[usize::from(control & 15)]));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Appends a number in decimal, without allocating.
pub(super) fn write_number(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_reads_as_itself() {
        let all: String =
            (0..0x300).chain([0x2028, 0xfeff, 0x1_f600]).filter_map(char::from_u32).collect();
        for text in all.chars().map(String::from).chain([all.clone()]) {
            let mut json = String::new();
            write_string(&text, &mut json);
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text, "{json}");
        }
    }
}
