//! Pictures by reference: what they hold is stored once, by its digest, and never put into frames.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::Image;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A picture as a page names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown<'a> {
    /// The source's own address, or `sha256:` and the digest of the picture's bytes.
    #[serde(rename = "ref")]
    pub reference: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "mediaType")]
    pub media_type: Option<Cow<'a, str>>,
}

impl<'a> Shown<'a> {
    pub fn of(image: &'a Image<'a>) -> Shown<'a> {
        match image {
            Image::Url { url } => Shown { reference: Cow::Borrowed(url), media_type: None },
            Image::Inline { media_type, base64 } => Shown {
                reference: Cow::Owned(reference(base64)),
                media_type: Some(Cow::Borrowed(media_type)),
            },
            Image::Kept { media_type, digest } => Shown {
                reference: Cow::Owned(format!("sha256:{digest}")),
                media_type: Some(Cow::Borrowed(media_type)),
            },
        }
    }

    #[must_use]
    pub fn into_owned(self) -> Shown<'static> {
        Shown {
            reference: Cow::Owned(self.reference.into_owned()),
            media_type: self.media_type.map(|kind| Cow::Owned(kind.into_owned())),
        }
    }
}

/// What names a picture with this content: the same for a picture that came inline and for one that
/// was put aside. Text that is no base64 has its own digest.
pub fn reference(base64: &str) -> String {
    let digest = match bytes(base64) {
        Some(bytes) => hex_digest(&bytes),
        None => hex_digest(base64.as_bytes()),
    };
    format!("sha256:{digest}")
}

/// The bytes of a picture; nothing if the text is no base64.
pub fn bytes(base64: &str) -> Option<Vec<u8>> {
    let read = |text: &str| BASE64.decode(text).ok();
    read(base64).or_else(|| {
        // Some sources break it into lines.
        let broken = base64.bytes().any(|byte| byte.is_ascii_whitespace());
        broken.then(|| read(&base64.split_ascii_whitespace().collect::<String>())).flatten()
    })
}

/// SHA-256, in hexadecimal.
pub fn hex_digest(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
