//! URLs sent to clients: web links and stored images.

use millpond_engine::event::Image;
use millpond_engine::view::image_ref::sha256_reference_of_base64;

/// URL and media type of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImageLink<'a> {
    pub(super) url: String,
    pub(super) media_type: &'a str,
}

/// URL of an image: its own if that is a web URL, or `prefix` and the digest of its blob.
pub(super) fn image_link<'a>(image: &'a Image<'_>, prefix: &str) -> Option<ImageLink<'a>> {
    match image {
        Image::Url { url } => {
            is_web_url(url).then(|| ImageLink { url: url.to_string(), media_type: "image/*" })
        }
        Image::Inline { media_type, base64 } => {
            let name = sha256_reference_of_base64(base64);
            let digest = name.strip_prefix("sha256:").unwrap_or(&name);
            Some(ImageLink { url: format!("{prefix}{digest}"), media_type })
        }
        Image::Kept { media_type, digest } => {
            Some(ImageLink { url: format!("{prefix}{digest}"), media_type })
        }
    }
}

/// True for `http` and `https`. Clients put these into links, so no other scheme may pass.
pub(super) fn is_web_url(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["http", "https"].iter().any(|s| scheme.eq_ignore_ascii_case(s)))
}
