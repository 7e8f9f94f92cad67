//! Images for models and agents: loads stored images, and describes those that are not sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use millpond_engine::event::Image;
use millpond_log::Log;
use millpond_log::digest::Digest;
use millpond_log::id::SessionId;

/// Replaces stored images by their bytes. An image that cannot be read is left as it is.
pub(crate) async fn inline_kept_images(
    log: &Log,
    session: SessionId,
    images: impl IntoIterator<Item = &mut Image<'static>>,
) {
    for image in images {
        let Image::Kept { media_type, digest } = image else { continue };
        let Ok(Digest(digest)) = digest.parse::<Digest>() else { continue };
        let found = log.call_store(move |store| store.load_blob_of_session(session, digest)).await;
        if let Ok(Some((_, bytes))) = found {
            let base64 = STANDARD.encode(bytes).into();
            *image = Image::Inline { media_type: std::mem::take(media_type), base64 };
        }
    }
}

/// Appends a note of how many images are left out.
pub(crate) fn add_omitted_images_note(text: &str, left_out: usize) -> String {
    let note = match left_out {
        0 => return text.to_owned(),
        1 => "(An image attached to this message was omitted.)".to_owned(),
        count => format!("({count} images attached to this message were omitted.)"),
    };
    if text.trim().is_empty() { note } else { format!("{text}\n\n{note}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        assert_eq!(add_omitted_images_note("Look", 0), "Look");
        let note = "(An image attached to this message was omitted.)";
        assert_eq!(add_omitted_images_note(" ", 1), note);
        assert_eq!(add_omitted_images_note("Look", 1), format!("Look\n\n{note}"));
        assert!(add_omitted_images_note("Look", 2).contains("2 images"));
    }
}
