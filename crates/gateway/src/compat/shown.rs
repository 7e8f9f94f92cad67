//! Addresses that may leave: links a browser may open, pictures by reference.

use engine::event::Image;
use engine::view::blob::reference;

/// A picture as a client may fetch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture<'a> {
    pub(super) url: String,
    pub(super) media_type: &'a str,
}

/// A picture's address: the source's own, or `prefix` and the digest under which it is kept.
/// Nothing where the source's own is no web address.
pub(super) fn picture<'a>(image: &'a Image<'_>, prefix: &str) -> Option<Picture<'a>> {
    match image {
        Image::Url { url } => {
            is_link(url).then(|| Picture { url: url.to_string(), media_type: "image/*" })
        }
        Image::Inline { media_type, base64 } => {
            let name = reference(base64);
            let digest = name.strip_prefix("sha256:").unwrap_or(&name);
            Some(Picture { url: format!("{prefix}{digest}"), media_type })
        }
        Image::Kept { media_type, digest } => {
            Some(Picture { url: format!("{prefix}{digest}"), media_type })
        }
    }
}

/// Clients put addresses into links: nothing that runs may get there.
pub(super) fn is_link(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["http", "https"].iter().any(|s| scheme.eq_ignore_ascii_case(s)))
}
