//! References to images: the bytes are stored once, by digest, and never put into frames.

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

/// Reference to an image on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImageRef<'a> {
    /// The source's URL, or `sha256:` and the digest of the image's bytes.
    #[serde(rename = "ref")]
    pub reference: Cow<'a, str>,
    /// Media type, such as `image/png`; `None` for a link.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "mediaType")]
    pub media_type: Option<Cow<'a, str>>,
}

impl<'a> ImageRef<'a> {
    /// Builds the reference of an image; hashes inline bytes.
    pub fn from_image(image: &'a Image<'a>) -> ImageRef<'a> {
        match image {
            Image::Url { url } => ImageRef { reference: Cow::Borrowed(url), media_type: None },
            Image::Inline { media_type, base64 } => ImageRef {
                reference: Cow::Owned(sha256_reference_of_base64(base64)),
                media_type: Some(Cow::Borrowed(media_type)),
            },
            Image::Kept { media_type, digest } => ImageRef {
                reference: Cow::Owned(format!("sha256:{digest}")),
                media_type: Some(Cow::Borrowed(media_type)),
            },
        }
    }

    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> ImageRef<'static> {
        ImageRef {
            reference: Cow::Owned(self.reference.into_owned()),
            media_type: self.media_type.map(|kind| Cow::Owned(kind.into_owned())),
        }
    }
}

/// Returns `sha256:` and the digest of the decoded bytes, the same for inline and stored images.
/// Invalid base64 is hashed as text.
pub fn sha256_reference_of_base64(base64: &str) -> String {
    let digest = match decode_base64(base64) {
        Some(bytes) => sha256_hex(&bytes),
        None => sha256_hex(base64.as_bytes()),
    };
    format!("sha256:{digest}")
}

/// Decodes base64, with or without line breaks; `None` if it is invalid.
pub fn decode_base64(base64: &str) -> Option<Vec<u8>> {
    let read = |text: &str| BASE64.decode(text).ok();
    read(base64).or_else(|| {
        // Some sources wrap it into lines.
        let broken = base64.bytes().any(|byte| byte.is_ascii_whitespace());
        broken.then(|| read(&base64.split_ascii_whitespace().collect::<String>())).flatten()
    })
}

/// Returns the SHA-256 digest in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
