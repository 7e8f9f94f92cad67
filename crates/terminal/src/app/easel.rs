//! Pictures as this person gets them: as files, and drawn where the terminal can.

use std::path::PathBuf;
use std::sync::Arc;

use crate::album::Album;
use crate::graphics::{Art, Graphics};
use crate::page::Fetched;
use crate::size::Size;

#[derive(Clone, Debug)]
pub(super) struct Easel {
    pub(super) album: Album,
    pub(super) graphics: Option<Graphics>,
    pub(super) size: Size,
}

impl Easel {
    /// Takes its time elsewhere: keys do not wait for it.
    pub(super) async fn show(self, name: String, bytes: Vec<u8>) -> Fetched {
        let shown = tokio::task::spawn_blocking(move || {
            let file = self.album.keep(&name, &bytes)?;
            Ok((file, self.art(&bytes)))
        });
        let shown: Result<(PathBuf, Option<Art>), std::io::Error> =
            shown.await.unwrap_or_else(|broken| Err(std::io::Error::other(broken)));
        match shown {
            Ok((file, art)) => Fetched::Here { file, art: art.map(Arc::new) },
            Err(error) => Fetched::Not(format!("it cannot be put into a file: {error}")),
        }
    }

    /// What cannot be drawn can still be opened.
    fn art(&self, bytes: &[u8]) -> Option<Art> {
        let graphics = self.graphics?;
        Art::new(bytes, graphics, graphics.cell_size()?, self.size).ok()
    }
}
