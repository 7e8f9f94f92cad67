//! Pictures as files, so that they can be opened: in a folder that only their person can read.
//!
//! They outlive the chat, because what it wrote into the scrollback leads to them; whoever clears
//! temporary files clears these.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Characters of a digest that name a file: as many as a person can do with.
const NAME_CHARS_MAX: usize = 20;

#[derive(Clone, Debug, Default)]
pub struct Album {
    /// Made with the first picture.
    folder: Arc<Mutex<Option<PathBuf>>>,
}

impl Album {
    /// Puts a picture into a file. `name` is a digest: the same bytes are the same file.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let plain = name.chars().filter(char::is_ascii_alphanumeric);
        let plain: String = plain.take(NAME_CHARS_MAX).collect();
        let folder = self.folder()?;
        let file = folder.join(format!("{plain}.{}", ending(bytes)));
        if !file.exists() {
            // Whole or not at all.
            let mut new = tempfile::NamedTempFile::new_in(folder)?;
            new.write_all(bytes)?;
            new.persist(&file)?;
        }
        Ok(file)
    }

    fn folder(&self) -> io::Result<PathBuf> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*folder {
            return Ok(folder.clone());
        }
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.prefix("millpond-pictures-").tempdir()?.keep();
        Ok(folder.insert(made).clone())
    }
}

/// By what it is, not by what it was said to be: nothing that could run when it is opened.
fn ending(bytes: &[u8]) -> &'static str {
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
        let album = Album::default();
        let file = album.keep("sha256:../../ab", b"\x89PNG\r\n\x1a\nrest").unwrap();
        assert_eq!(file.file_name().unwrap(), "sha256ab.png");
        assert_eq!(std::fs::read(&file).unwrap(), b"\x89PNG\r\n\x1a\nrest");
        let page = album.keep("cd", b"<svg onload=alert(1)>").unwrap();
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
