//! Pictures as models and agents are shown them: the bytes, in place of the name they have in the log.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::event::Image;
use gateway::digest::Digest;
use gateway::id::SessionId;
use gateway::log::Log;

/// Reads what is kept. A picture that cannot be read keeps its name.
pub(crate) async fn load(
    log: &Log,
    session: SessionId,
    images: impl IntoIterator<Item = &mut Image<'static>>,
) {
    for image in images {
        let Image::Kept { media_type, digest } = image else { continue };
        let Ok(Digest(digest)) = digest.parse::<Digest>() else { continue };
        let found = log.blocking(move |store| store.blob(session, digest)).await;
        if let Ok(Some((_, bytes))) = found {
            let base64 = STANDARD.encode(bytes).into();
            *image = Image::Inline { media_type: std::mem::take(media_type), base64 };
        }
    }
}

/// A text that says how many pictures came with it and are not shown.
pub(crate) fn without(text: &str, left_out: usize) -> String {
    let words = match left_out {
        0 => return text.to_owned(),
        1 => "(A picture that came with this message cannot be shown here.)".to_owned(),
        many => format!("({many} pictures that came with this message cannot be shown here.)"),
    };
    if text.trim().is_empty() { words } else { format!("{text}\n\n{words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        assert_eq!(without("Look", 0), "Look");
        let one = "(A picture that came with this message cannot be shown here.)";
        assert_eq!(without(" ", 1), one);
        assert_eq!(without("Look", 1), format!("Look\n\n{one}"));
        assert!(without("Look", 2).contains("2 pictures"));
    }
}
