//! Images saved as files, in a temporary folder that only the user can read.
//!
//! The files outlive the chat because hyperlinks in the scrollback point to them; the system's
//! cleanup of temporary files removes them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Characters of a digest that name a file.
const NAME_CHARS_MAX: usize = 20;

/// Temporary folder of image files; clones share it.
#[derive(Clone, Debug, Default)]
pub struct ImageFiles {
    /// Created with the first image.
    folder: Arc<Mutex<Option<PathBuf>>>,
}

impl ImageFiles {
    /// Saves an image and returns its path. `name` is a digest: the same bytes share one file.
    pub fn save(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let plain = name.chars().filter(char::is_ascii_alphanumeric);
        let plain: String = plain.take(NAME_CHARS_MAX).collect();
        let folder = self.get_or_create_folder()?;
        let file = folder.join(format!("{plain}.{}", extension_from_content(bytes)));
        if !file.exists() {
            // Renamed into place, so that the file is never partial.
            let mut new = tempfile::NamedTempFile::new_in(folder)?;
            new.write_all(bytes)?;
            new.persist(&file)?;
        }
        Ok(file)
    }

    fn get_or_create_folder(&self) -> io::Result<PathBuf> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*folder {
            return Ok(folder.clone());
        }
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.prefix("millpond-images-").tempdir()?.keep();
        Ok(folder.insert(made).clone())
    }
}

/// Returns the file extension by content, not by claimed type: opening the file never runs it.
fn extension_from_content(bytes: &[u8]) -> &'static str {
    match image::guess_format(bytes) {
        Ok(image::ImageFormat::Png) => "png",
        Ok(image::ImageFormat::Jpeg) => "jpg",
        Ok(image::ImageFormat::Gif) => "gif",
        Ok(image::ImageFormat::WebP) => "webp",
        Ok(image::ImageFormat::Avif) => "avif",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_what_they_are_and_lie_where_nobody_else_looks() {
        let album = ImageFiles::default();
        let file = album.save("sha256:../../ab", b"\x89PNG\r\n\x1a\nrest").unwrap();
        assert_eq!(file.file_name().unwrap(), "sha256ab.png");
        assert_eq!(std::fs::read(&file).unwrap(), b"\x89PNG\r\n\x1a\nrest");
        let page = album.save("cd", b"<svg onload=alert(1)>").unwrap();
        assert_eq!(page.extension().unwrap(), "bin");
        let folder = file.parent().unwrap();
        assert_eq!(Some(folder), page.parent());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
