//! Loading of fetched images: saves each as a file and encodes it for the terminal.

use std::path::PathBuf;
use std::sync::Arc;

use crate::graphics::{GraphicsProtocol, TerminalImage};
use crate::image_files::ImageFiles;
use crate::page::FetchedImage;
use crate::size::Size;

/// Saves and encodes one fetched image.
#[derive(Clone, Debug)]
pub(super) struct ImageLoader {
    pub(super) files: ImageFiles,
    pub(super) protocol: Option<GraphicsProtocol>,
    pub(super) screen_size: Size,
}

impl ImageLoader {
    /// Saves the bytes and encodes them, on a blocking thread so that keys are not delayed.
    pub(super) async fn save_and_encode(self, name: String, bytes: Vec<u8>) -> FetchedImage {
        let shown = tokio::task::spawn_blocking(move || {
            let file = self.files.save(&name, &bytes)?;
            Ok((file, self.encode_for_terminal(&bytes)))
        });
        let shown: Result<(PathBuf, Option<TerminalImage>), std::io::Error> =
            shown.await.unwrap_or_else(|broken| Err(std::io::Error::other(broken)));
        match shown {
            Ok((file, art)) => FetchedImage::Saved { file, image: art.map(Arc::new) },
            Err(error) => FetchedImage::Failed(format!("cannot save the file: {error}")),
        }
    }

    /// Encodes the image; `None` if the terminal cannot show it. The file can still be opened.
    fn encode_for_terminal(&self, bytes: &[u8]) -> Option<TerminalImage> {
        let graphics = self.protocol?;
        TerminalImage::encode(bytes, graphics, graphics.query_cell_size()?, self.screen_size).ok()
    }
}
