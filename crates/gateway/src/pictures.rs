//! Pictures in a stream: kept once beside the log, and named in it.
//!
//! Invariant: a picture that an event names has been kept before the event is.

use engine::event::{Event, Image};
use engine::view::blob;

use crate::digest::Digest;
use crate::id::SessionId;
use crate::limits::BLOB_BYTES_MAX;
use crate::log::{Fact, Log};
use crate::store::StoreError;

/// Takes inline pictures out of facts. What is no base64, or too large, stays where it is.
pub async fn put_aside(
    log: &Log,
    session: SessionId,
    facts: &mut [Fact],
) -> Result<(), StoreError> {
    for (_, event) in facts {
        let Event::ImageReceived { image, .. } = event else { continue };
        let Image::Inline { media_type, base64 } = &*image else { continue };
        let Some(bytes) = blob::bytes(base64).filter(|bytes| bytes.len() <= BLOB_BYTES_MAX) else {
            continue;
        };
        let (digest, kind) = (Digest::of(&bytes), media_type.to_string());
        let kept =
            Image::Kept { media_type: media_type.clone(), digest: digest.to_string().into() };
        log.blocking(move |store| store.put_blob(session, digest.0, &kind, &bytes)).await?;
        *image = kept;
    }
    Ok(())
}
