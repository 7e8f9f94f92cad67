//! Writing JSON objects straight into a text, without building them first.

use serde::Serialize;

/// An object being written. [`Object::end`] closes it.
pub(super) struct Object<'o> {
    out: &'o mut String,
    empty: bool,
}

impl<'o> Object<'o> {
    /// Begins one in place of what `out` held.
    pub(super) fn new(out: &'o mut String) -> Object<'o> {
        out.clear();
        Object::inside(out)
    }

    /// Begins one at the end of `out`.
    pub(super) fn inside(out: &'o mut String) -> Object<'o> {
        out.push('{');
        Object { out, empty: true }
    }

    /// Where a member's value is to be written.
    pub(super) fn member(&mut self, name: &'static str) -> &mut String {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
        self.out
    }

    pub(super) fn text(mut self, name: &'static str, text: &str) -> Object<'o> {
        write_text(text, self.member(name));
        self
    }

    /// A member whose value is JSON already.
    pub(super) fn json(mut self, name: &'static str, json: &str) -> Object<'o> {
        self.member(name).push_str(json);
        self
    }

    pub(super) fn number(mut self, name: &'static str, number: u64) -> Object<'o> {
        write_number(number, self.member(name));
        self
    }

    pub(super) fn value(mut self, name: &'static str, value: &impl Serialize) -> Object<'o> {
        write_value(value, self.member(name));
        self
    }

    /// A member that is left out where there is nothing to say.
    pub(super) fn some(self, name: &'static str, value: Option<&impl Serialize>) -> Object<'o> {
        match value {
            Some(value) => self.value(name, value),
            None => self,
        }
    }

    /// A list that is left out where nothing is in it.
    pub(super) fn list(self, name: &'static str, list: &[impl Serialize]) -> Object<'o> {
        if list.is_empty() { self } else { self.value(name, &list) }
    }

    /// All members of a value that is an object.
    pub(super) fn members(mut self, value: &impl Serialize) -> Object<'o> {
        if let Ok(text) = serde_json::to_string(value) {
            self.push_members(&text);
        }
        self
    }

    /// All members of an object that is already written.
    pub(super) fn push_members(&mut self, object: &str) {
        let inner = object.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            if !std::mem::replace(&mut self.empty, false) {
                self.out.push(',');
            }
            self.out.push_str(inner);
        }
    }

    pub(super) fn end(self) -> &'o str {
        self.out.push('}');
        self.out
    }
}

/// Our own types always have a JSON form.
pub(super) fn write_value(value: &impl Serialize, out: &mut String) {
    if let Ok(text) = serde_json::to_string(value) {
        out.push_str(&text);
    }
}

/// A JSON string; what needs no escape is copied in one stretch.
pub(super) fn write_text(text: &str, out: &mut String) {
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

pub(super) fn write_number(mut number: u64, out: &mut String) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
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
            write_text(&text, &mut json);
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text, "{json}");
        }
    }
}
