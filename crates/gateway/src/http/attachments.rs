//! What a person shows with a message: pictures that were uploaded to its session before.

use engine::event::Image;

use crate::digest::Digest;
use crate::gateway::Gateway;
use crate::id::SessionId;
use crate::limits::{ATTACHMENT_BYTES_MAX, ATTACHMENTS_MAX};

use super::error::ApiError;

/// The pictures that a message names. Each is one that a model can be shown.
pub(super) async fn attached(
    gateway: &Gateway,
    session: SessionId,
    names: Vec<String>,
) -> Result<Vec<Image<'static>>, ApiError> {
    if ATTACHMENTS_MAX < names.len() {
        return Err(ApiError::bad_request(format!(
            "A message has at most {ATTACHMENTS_MAX} pictures."
        )));
    }
    let mut images = Vec::with_capacity(names.len());
    for name in names {
        let word = name.strip_prefix("sha256:").unwrap_or(&name);
        let digest: Digest = word.parse().map_err(|_| not_uploaded(&name))?;
        let found = gateway.log.blocking(move |store| store.blob(session, digest.0)).await?;
        let (_, bytes) = found.ok_or_else(|| not_uploaded(&name))?;
        if ATTACHMENT_BYTES_MAX < bytes.len() {
            return Err(ApiError::bad_request(format!(
                "Attachment {digest} is larger than the {} MiB that models take: make it smaller.",
                ATTACHMENT_BYTES_MAX >> 20
            )));
        }
        let media_type = picture(&bytes).ok_or_else(|| {
            ApiError::bad_request(format!(
                "Attachment {digest} is no picture that models take: those are PNG, JPEG, GIF and \
                 WebP. Put the text of other files into the message."
            ))
        })?;
        // From now on it is what its bytes say, for those who look at it too.
        gateway
            .log
            .blocking(move |store| store.put_blob(session, digest.0, media_type, &bytes))
            .await?;
        let digest = digest.to_string().into();
        images.push(Image::Kept { media_type: media_type.into(), digest });
    }
    Ok(images)
}

fn not_uploaded(name: &str) -> ApiError {
    let name: String = name.chars().take(80).collect();
    ApiError::bad_request(format!(
        "Attachment `{name}` is not in this session: upload it to its blobs first, and name it by \
         its digest."
    ))
}

/// The kind of a picture, by its own first bytes: what an uploader says of it proves nothing.
fn picture(bytes: &[u8]) -> Option<&'static str> {
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
        assert_eq!(picture(b"\x89PNG\r\n\x1a\n\0"), Some("image/png"));
        assert_eq!(picture(&[0xff, 0xd8, 0xff, 0xe0]), Some("image/jpeg"));
        assert_eq!(picture(b"GIF89a"), Some("image/gif"));
        assert_eq!(picture(b"RIFF\x10\0\0\0WEBPVP8 "), Some("image/webp"));
        for other in [&b""[..], b"GIF88a", b"RIFF\x10\0\0\0WAVE", b"<svg", b"\x89PNG"] {
            assert_eq!(picture(other), None);
        }
    }
}
