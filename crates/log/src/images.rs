//! Stores inline images as blobs and replaces them in events by their digests.
//!
//! Invariant: the blob is stored before the event that names it.

use millpond_engine::event::{Event, Image};
use millpond_engine::view::image_ref;

use crate::digest::Digest;
use crate::id::SessionId;
use crate::limits::BLOB_BYTES_MAX;
use crate::store::StoreError;
use crate::{Log, TimedEvent};

/// Stores inline images as blobs and replaces them in the events by their digests. Images that are
/// not valid base64, or are too large, stay inline.
pub(crate) async fn move_inline_images_to_blobs(
    log: &Log,
    session: SessionId,
    events: &mut [TimedEvent],
) -> Result<(), StoreError> {
    for (_, event) in events {
        let Event::ImageReceived { image, .. } = event else { continue };
        let Image::Inline { media_type, base64 } = &*image else { continue };
        let Some(bytes) =
            image_ref::decode_base64(base64).filter(|bytes| bytes.len() <= BLOB_BYTES_MAX)
        else {
            continue;
        };
        let (digest, kind) = (Digest::sha256(&bytes), media_type.to_string());
        let stored =
            Image::Kept { media_type: media_type.clone(), digest: digest.to_string().into() };
        log.call_store(move |store| store.store_blob_for_session(session, digest.0, &kind, &bytes))
            .await?;
        *image = stored;
    }
    Ok(())
}
