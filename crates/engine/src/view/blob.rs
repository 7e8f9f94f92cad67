//! Pictures by reference: what they hold is stored once, by its digest, and never put into frames.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::Image;

/// A picture as a page names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown<'a> {
    /// The source's own address, or `sha256:` and the digest of the picture's base64 text.
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

/// What names a picture with this content.
pub fn reference(base64: &str) -> String {
    use std::fmt::Write;
    let digest = Sha256::digest(base64.as_bytes());
    digest.iter().fold("sha256:".to_owned(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
