//! Self-contained HTML page with all views at every event: patches, and a script that applies them.
//!
//! Invariant: model output is only embedded as JSON that cannot close its element; the script
//! inserts it as text, never as markup.

use std::collections::HashSet;
use std::fmt::Write;

use millpond_engine::event::{Event, Image, Record};
use millpond_engine::view::image_ref::sha256_reference_of_base64;
use millpond_engine::view::{Thinking, ViewName};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::event_summary::summarise_event;
use super::{ViewColumn, view_purpose};

/// Largest page written; browsers get slow before that.
const PAGE_BYTES_MAX: usize = 64 << 20;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const CLIENT_SCRIPT: &str = include_str!("client.js");
const PAGE_SCRIPT: &str = include_str!("page.js");

/// Error: the page exceeds `bytes_max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageTooLarge {
    pub(super) bytes_max: usize,
}

/// Page in the making: its JSON data as unclosed lists.
pub(super) struct HtmlPage {
    events: String,
    /// Per view: one list of patches per event.
    frames: [String; ViewName::ALL.len()],
    images: String,
    embedded_images: HashSet<String>,
    bytes_max: usize,
}

impl HtmlPage {
    pub(super) fn new() -> HtmlPage {
        HtmlPage::with_limit(PAGE_BYTES_MAX)
    }

    fn with_limit(bytes_max: usize) -> HtmlPage {
        HtmlPage {
            events: String::new(),
            frames: Default::default(),
            images: String::new(),
            embedded_images: HashSet::new(),
            bytes_max,
        }
    }

    fn byte_count(&self) -> usize {
        let frames: usize = self.frames.iter().map(String::len).sum();
        self.events.len() + self.images.len() + frames
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.bytes_max < self.byte_count()
    }

    /// Adds an event and the patches of each view. Ignored once the page is too large.
    pub(super) fn push_record_unless_already_too_large(
        &mut self,
        record: &Record<'_>,
        columns: &mut [ViewColumn],
        thinking: Thinking,
    ) {
        if self.is_too_large() {
            return;
        }
        let (name, text) = summarise_event(&record.event, thinking);
        push_comma_unless_empty(&mut self.events);
        push_value_as_escaped_json(
            &json!({ "type": name, "at": record.at_ms, "text": text }),
            &mut self.events,
        );
        if let Event::ImageReceived { image: Image::Inline { media_type, base64 }, .. } =
            &record.event
        {
            self.embed_image_once_if_safe(media_type, base64);
        }
        for (frames, column) in self.frames.iter_mut().zip(columns) {
            push_comma_unless_empty(frames);
            frames.push('[');
            let start = frames.len();
            column.encoder.push(record, &mut |frame| {
                if start < frames.len() {
                    frames.push(',');
                }
                push_escaped_json(frame.data, frames);
            });
            frames.push(']');
        }
    }

    /// Embeds an image once, under the reference that items use for it.
    fn embed_image_once_if_safe(&mut self, media_type: &str, base64: &str) {
        let name = sha256_reference_of_base64(base64);
        if !is_safe_inline_image(media_type, base64) || self.embedded_images.contains(&name) {
            return;
        }
        push_comma_unless_empty(&mut self.images);
        push_value_as_escaped_json(&name, &mut self.images);
        self.images.push(':');
        push_value_as_escaped_json(&format!("data:{media_type};base64,{base64}"), &mut self.images);
        self.embedded_images.insert(name);
    }

    /// Renders the complete page, which opens at event `at`.
    pub(super) fn render(self, title: &str, at: u64) -> Result<String, PageTooLarge> {
        let too_large = PageTooLarge { bytes_max: self.bytes_max };
        if self.is_too_large() {
            return Err(too_large);
        }
        let page = fill_template(TEMPLATE, &|place, out| match place {
            "policy" => out.push_str(&content_security_policy()),
            "style" => out.push_str(STYLE),
            "data" => self.push_page_data(title, at, out),
            "client" => out.push_str(CLIENT_SCRIPT),
            "script" => out.push_str(PAGE_SCRIPT),
            _ => {}
        });
        if too_large.bytes_max < page.len() { Err(too_large) } else { Ok(page) }
    }

    /// Appends the JSON data of the page.
    fn push_page_data(&self, title: &str, at: u64, out: &mut String) {
        out.push_str("{\"title\":");
        push_value_as_escaped_json(&title, out);
        // Writing to a string cannot fail.
        let _ = write!(out, ",\"at\":{at},\"events\":[{}],\"views\":[", self.events);
        for (place, (view, frames)) in ViewName::ALL.into_iter().zip(&self.frames).enumerate() {
            if 0 < place {
                out.push(',');
            }
            out.push_str("{\"name\":");
            push_value_as_escaped_json(&view.as_str(), out);
            out.push_str(",\"purpose\":");
            push_value_as_escaped_json(&view_purpose(view), out);
            let _ = write!(out, ",\"frames\":[{frames}]}}");
        }
        let _ = write!(out, "],\"images\":{{{}}}}}", self.images);
    }
}

/// Replaces the `@placeholders@` of a template. Inserted text is not searched again.
fn fill_template(template: &str, fill: &dyn Fn(&str, &mut String)) -> String {
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

/// Appends a comma unless the list is empty.
fn push_comma_unless_empty(list: &mut String) {
    if !list.is_empty() {
        list.push(',');
    }
}

/// Appends a value as escaped JSON. Serialising these types cannot fail.
fn push_value_as_escaped_json(value: &impl Serialize, out: &mut String) {
    if let Ok(json) = serde_json::to_string(value) {
        push_escaped_json(&json, out);
    }
}

/// Appends JSON with `<` escaped, so that it cannot close its HTML element. `<` occurs in strings
/// only.
fn push_escaped_json(json: &str, out: &mut String) {
    for (at, part) in json.split('<').enumerate() {
        if 0 < at {
            out.push_str("\\u003c");
        }
        out.push_str(part);
    }
}

/// Returns true if this is safe to embed as an image in a data URL.
fn is_safe_inline_image(media_type: &str, base64: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    media_type.strip_prefix("image/").is_some_and(|kind| kind.bytes().all(is_plain))
        && base64.bytes().all(is_base64)
}

/// Content-Security-Policy that blocks all requests and allows only the page's style and scripts.
fn content_security_policy() -> String {
    format!(
        "default-src 'none'; img-src data:; style-src {}; script-src {} {}; \
         base-uri 'none'; form-action 'none'",
        csp_hash(STYLE),
        csp_hash(CLIENT_SCRIPT),
        csp_hash(PAGE_SCRIPT)
    )
}

/// CSP source expression with the SHA-256 of an element's content.
fn csp_hash(content: &str) -> String {
    format!("'sha256-{}'", encode_base64(&Sha256::digest(content.as_bytes())))
}

fn encode_base64(bytes: &[u8]) -> String {
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
            assert_eq!(encode_base64(bytes.as_bytes()), text);
        }
        assert_eq!(encode_base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn the_largest_page_is_written_and_one_byte_more_is_not() {
        let page = |bytes_max| {
            let mut page = HtmlPage::with_limit(bytes_max);
            page.embed_image_once_if_safe("image/png", "AAAA");
            page
        };
        let whole = page(usize::MAX).render("t", 0).unwrap();
        assert_eq!(page(whole.len()).render("t", 0).as_deref(), Ok(whole.as_str()));
        let bytes_max = whole.len() - 1;
        assert_eq!(page(bytes_max).render("t", 0), Err(PageTooLarge { bytes_max }));
        assert!(page(10).is_too_large());
    }

    #[test]
    fn a_picture_is_kept_once_and_only_if_it_is_one() {
        let mut page = HtmlPage::new();
        for (media_type, base64) in [
            ("image/png", "AAAA"),
            ("image/png", "AAAA"),
            ("text/html", "BBBB"),
            ("image/png,<script>", "CCCC"),
            ("image/png", "DD\"D"),
        ] {
            page.embed_image_once_if_safe(media_type, base64);
        }
        let name = sha256_reference_of_base64("AAAA");
        assert_eq!(page.images, format!("\"{name}\":\"data:image/png;base64,AAAA\""));
    }

    #[test]
    fn places_are_filled_once_whatever_is_put_into_them() {
        let page = fill_template("a@data@b", &|place, out| {
            assert_eq!(place, "data");
            out.push_str("@style@");
        });
        assert_eq!(page, "a@style@b");
    }

    /// The policy's hashes cover exactly the bytes between the tags.
    #[test]
    fn style_and_scripts_stand_in_the_page_as_they_were_hashed() {
        let page = HtmlPage::new().render("t", 0).unwrap();
        for element in [
            format!("<style>{STYLE}</style>"),
            format!("<script id=\"client\">{CLIENT_SCRIPT}</script>"),
            format!("<script>{PAGE_SCRIPT}</script>"),
        ] {
            assert!(page.contains(&element));
        }
        for content in [STYLE, CLIENT_SCRIPT, PAGE_SCRIPT] {
            assert!(page.contains(&csp_hash(content)) && !content.contains('\r'));
        }
        let mut words = TEMPLATE.split_whitespace();
        let is_handler = |word: &str| word.starts_with("on") && word.contains('=');
        assert!(!words.any(is_handler) && !TEMPLATE.contains("style="), "the policy forbids them");
    }
}
