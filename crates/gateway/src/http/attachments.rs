//! Attachments of a message: images uploaded to its session before.

use millpond_engine::event::Image;

use crate::gateway::Gateway;
use crate::limits::{ATTACHMENT_BYTES_MAX, ATTACHMENTS_MAX};
use millpond_log::digest::Digest;
use millpond_log::id::SessionId;

use super::error::ApiError;

/// Loads the images that a message names by digest, and stores their detected media types. Rejects
/// any that models do not accept.
pub(super) async fn check_attachments_and_store_types(
    gateway: &Gateway,
    session: SessionId,
    names: Vec<String>,
) -> Result<Vec<Image<'static>>, ApiError> {
    if ATTACHMENTS_MAX < names.len() {
        return Err(ApiError::bad_request(format!(
            "A message may have at most {ATTACHMENTS_MAX} images."
        )));
    }
    let mut images = Vec::with_capacity(names.len());
    for name in names {
        let hex = name.strip_prefix("sha256:").unwrap_or(&name);
        let digest: Digest = hex.parse().map_err(|_| not_uploaded_error(&name))?;
        let found = gateway
            .log
            .call_store(move |store| store.load_blob_of_session(session, digest.0))
            .await?;
        let (_, bytes) = found.ok_or_else(|| not_uploaded_error(&name))?;
        if ATTACHMENT_BYTES_MAX < bytes.len() {
            return Err(ApiError::bad_request(format!(
                "Attachment {digest} is larger than {} MiB, the limit for models.",
                ATTACHMENT_BYTES_MAX >> 20
            )));
        }
        let media_type = sniff_image_type(&bytes).ok_or_else(|| {
            ApiError::bad_request(format!(
                "Attachment {digest} is not a PNG, JPEG, GIF or WebP image. Put the text of other \
                 files into the message."
            ))
        })?;
        // Stores the detected media type for later readers.
        gateway
            .log
            .call_store(move |store| {
                store.store_blob_for_session(session, digest.0, media_type, &bytes)
            })
            .await?;
        let digest = digest.to_string().into();
        images.push(Image::Kept { media_type: media_type.into(), digest });
    }
    Ok(images)
}

fn not_uploaded_error(name: &str) -> ApiError {
    let name: String = name.chars().take(80).collect();
    ApiError::bad_request(format!(
        "Attachment `{name}` is not in this session. Upload it first, and refer to it by its \
         digest."
    ))
}

/// Detects the media type by the first bytes; the uploader's claim is not trusted.
fn sniff_image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_what_its_bytes_say() {
        assert_eq!(sniff_image_type(b"\x89PNG\r\n\x1a\n\0"), Some("image/png"));
        assert_eq!(sniff_image_type(&[0xff, 0xd8, 0xff, 0xe0]), Some("image/jpeg"));
        assert_eq!(sniff_image_type(b"GIF89a"), Some("image/gif"));
        assert_eq!(sniff_image_type(b"RIFF\x10\0\0\0WEBPVP8 "), Some("image/webp"));
        for other in [&b""[..], b"GIF88a", b"RIFF\x10\0\0\0WAVE", b"<svg", b"\x89PNG"] {
            assert_eq!(sniff_image_type(other), None);
        }
    }
}
