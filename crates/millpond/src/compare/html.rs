//! One page with all views at every event: patches, a client that applies them, and nothing from
//! anywhere else.
//!
//! Invariant: what a model wrote is only ever data, in a form that cannot leave its element; the
//! client puts it on the page as text.

use std::collections::HashSet;
use std::fmt::Write;

use engine::event::{Event, Image, Record};
use engine::view::blob::reference;
use engine::view::{Thinking, ViewName};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::gist::gist;
use super::{Column, purpose};

/// Largest page that is written; browsers get slow before that.
const PAGE_BYTES_MAX: usize = 64 << 20;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const CLIENT: &str = include_str!("client.js");
const SCRIPT: &str = include_str!("page.js");

/// The page would be larger than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge {
    pub(super) bytes_max: usize,
}

/// The data of a page, as far as the stream has been read: JSON, without what closes its lists.
pub(super) struct Page {
    events: String,
    /// For each view its patches, in a list for each event.
    frames: [String; ViewName::ALL.len()],
    images: String,
    embedded: HashSet<String>,
    bytes_max: usize,
}

impl Page {
    pub(super) fn new() -> Page {
        Page::up_to(PAGE_BYTES_MAX)
    }

    fn up_to(bytes_max: usize) -> Page {
        Page {
            events: String::new(),
            frames: Default::default(),
            images: String::new(),
            embedded: HashSet::new(),
            bytes_max,
        }
    }

    fn bytes(&self) -> usize {
        let frames: usize = self.frames.iter().map(String::len).sum();
        self.events.len() + self.images.len() + frames
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.bytes_max < self.bytes()
    }

    /// An event, and what each view makes of it.
    pub(super) fn push(&mut self, record: &Record<'_>, columns: &mut [Column], thinking: Thinking) {
        if self.is_too_large() {
            return;
        }
        let (name, text) = gist(&record.event, thinking);
        next_in(&mut self.events);
        push_json(&json!({ "type": name, "at": record.at_ms, "text": text }), &mut self.events);
        if let Event::ImageReceived { image: Image::Inline { media_type, base64 }, .. } =
            &record.event
        {
            self.embed(media_type, base64);
        }
        for (frames, column) in self.frames.iter_mut().zip(columns) {
            next_in(frames);
            frames.push('[');
            let start = frames.len();
            column.encoder.push(record, &mut |frame| {
                if start < frames.len() {
                    frames.push(',');
                }
                push_escaped(frame.data, frames);
            });
            frames.push(']');
        }
    }

    /// Keeps a picture under the name that items have for it, once.
    fn embed(&mut self, media_type: &str, base64: &str) {
        let name = reference(base64);
        if !is_picture(media_type, base64) || self.embedded.contains(&name) {
            return;
        }
        next_in(&mut self.images);
        push_json(&name, &mut self.images);
        self.images.push(':');
        push_json(&format!("data:{media_type};base64,{base64}"), &mut self.images);
        self.embedded.insert(name);
    }

    /// The whole page, which opens after the event `at`.
    pub(super) fn finish(self, title: &str, at: u64) -> Result<String, TooLarge> {
        let too_large = TooLarge { bytes_max: self.bytes_max };
        if self.is_too_large() {
            return Err(too_large);
        }
        let page = filled(PAGE, &|place, out| match place {
            "policy" => out.push_str(&policy()),
            "style" => out.push_str(STYLE),
            "data" => self.push_data(title, at, out),
            "client" => out.push_str(CLIENT),
            "script" => out.push_str(SCRIPT),
            _ => {}
        });
        if too_large.bytes_max < page.len() { Err(too_large) } else { Ok(page) }
    }

    fn push_data(&self, title: &str, at: u64, out: &mut String) {
        out.push_str("{\"title\":");
        push_json(&title, out);
        // Writing to a string cannot fail.
        let _ = write!(out, ",\"at\":{at},\"events\":[{}],\"views\":[", self.events);
        for (place, (view, frames)) in ViewName::ALL.into_iter().zip(&self.frames).enumerate() {
            if 0 < place {
                out.push(',');
            }
            out.push_str("{\"name\":");
            push_json(&view.as_str(), out);
            out.push_str(",\"purpose\":");
            push_json(&purpose(view), out);
            let _ = write!(out, ",\"frames\":[{frames}]}}");
        }
        let _ = write!(out, "],\"images\":{{{}}}}}", self.images);
    }
}

/// The template with its `@places@` filled. What is put in is not looked at again.
fn filled(template: &str, fill: &dyn Fn(&str, &mut String)) -> String {
    let mut out = String::new();
    for (at, part) in template.split('@').enumerate() {
        if at % 2 == 0 {
            out.push_str(part);
        } else {
            fill(part, &mut out);
        }
    }
    out
}

fn next_in(list: &mut String) {
    if !list.is_empty() {
        list.push(',');
    }
}

/// Our own types always have a JSON form.
fn push_json(value: &impl Serialize, out: &mut String) {
    if let Ok(json) = serde_json::to_string(value) {
        push_escaped(&json, out);
    }
}

/// JSON that stays inside its element: `<` occurs in strings only, and has another spelling there.
fn push_escaped(json: &str, out: &mut String) {
    for (at, part) in json.split('<').enumerate() {
        if 0 < at {
            out.push_str("\\u003c");
        }
        out.push_str(part);
    }
}

/// Whether it can be a picture, and nothing else, in an address.
fn is_picture(media_type: &str, base64: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    media_type.strip_prefix("image/").is_some_and(|kind| kind.bytes().all(is_plain))
        && base64.bytes().all(is_base64)
}

/// Nothing is fetched, and only the page's own style and scripts count.
fn policy() -> String {
    format!(
        "default-src 'none'; img-src data:; style-src {}; script-src {} {}; \
         base-uri 'none'; form-action 'none'",
        source_of(STYLE),
        source_of(CLIENT),
        source_of(SCRIPT)
    )
}

/// The name of an element's content in a policy.
fn source_of(content: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(content.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let at = (bits >> (18 - 6 * digit)) & 63;
            let is_padding = chunk.len() < digit;
            text.push(if is_padding { '=' } else { char::from(DIGITS[at as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_in_its_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn the_largest_page_is_written_and_one_byte_more_is_not() {
        let page = |bytes_max| {
            let mut page = Page::up_to(bytes_max);
            page.embed("image/png", "AAAA");
            page
        };
        let whole = page(usize::MAX).finish("t", 0).unwrap();
        assert_eq!(page(whole.len()).finish("t", 0).as_deref(), Ok(whole.as_str()));
        let bytes_max = whole.len() - 1;
        assert_eq!(page(bytes_max).finish("t", 0), Err(TooLarge { bytes_max }));
        assert!(page(10).is_too_large());
    }

    #[test]
    fn a_picture_is_kept_once_and_only_if_it_is_one() {
        let mut page = Page::new();
        for (media_type, base64) in [
            ("image/png", "AAAA"),
            ("image/png", "AAAA"),
            ("text/html", "BBBB"),
            ("image/png,<script>", "CCCC"),
            ("image/png", "DD\"D"),
        ] {
            page.embed(media_type, base64);
        }
        let name = reference("AAAA");
        assert_eq!(page.images, format!("\"{name}\":\"data:image/png;base64,AAAA\""));
    }

    #[test]
    fn places_are_filled_once_whatever_is_put_into_them() {
        let page = filled("a@data@b", &|place, out| {
            assert_eq!(place, "data");
            out.push_str("@style@");
        });
        assert_eq!(page, "a@style@b");
    }

    /// The hash in the policy is of what stands between the tags, byte by byte.
    #[test]
    fn style_and_scripts_stand_in_the_page_as_they_were_hashed() {
        let page = Page::new().finish("t", 0).unwrap();
        for element in [
            format!("<style>{STYLE}</style>"),
            format!("<script id=\"client\">{CLIENT}</script>"),
            format!("<script>{SCRIPT}</script>"),
        ] {
            assert!(page.contains(&element));
        }
        for content in [STYLE, CLIENT, SCRIPT] {
            assert!(page.contains(&source_of(content)) && !content.contains('\r'));
        }
        let mut words = PAGE.split_whitespace();
        let is_handler = |word: &str| word.starts_with("on") && word.contains('=');
        assert!(!words.any(is_handler) && !PAGE.contains("style="), "the policy forbids them");
    }
}
