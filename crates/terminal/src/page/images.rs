//! Images of a page: which are requested, fetched or failed, and their rows.
//!
//! Only images stored by the gateway are fetched: fetching a foreign address would reveal the
//! reader to its owner.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use millpond_engine::view::Item;

use super::item::RenderOptions;
use super::push_wrapped_text;
use crate::graphics::TerminalImage;
use crate::hyperlinks::{Hyperlink, HyperlinkMode};
use crate::row::{Row, RowStart};
use crate::style::Style;
use crate::text::neutralise;
use crate::wrap::LineWrapper;

/// Prefix of references to images stored by the gateway.
const BLOB_PREFIX: &str = "sha256:";
const DIGEST_CHARS: usize = 64;

/// Result of fetching an image.
#[derive(Clone, Debug)]
pub enum FetchedImage {
    Saved {
        file: PathBuf,
        /// `None` if the terminal cannot show images.
        image: Option<Arc<TerminalImage>>,
    },
    /// Why the image is not available.
    Failed(String),
}

/// Settled rows are written once; live rows may be redrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowPhase {
    Settled,
    Live,
}

/// Whether items wait for their images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ImageFetching {
    On,
    #[default]
    Off,
}

/// Requested images, by reference.
#[derive(Debug, Default)]
pub(super) struct PageImages {
    fetching: ImageFetching,
    /// `None` while being fetched.
    requested: HashMap<String, Option<FetchedImage>>,
    wanted: Vec<String>,
}

impl PageImages {
    /// Turns fetching on or off; returns the previous setting.
    pub(super) fn replace_fetching_mode(&mut self, fetching: ImageFetching) -> ImageFetching {
        std::mem::replace(&mut self.fetching, fetching)
    }

    /// Returns the names of images to fetch, each once.
    pub(super) fn take_wanted(&mut self) -> Vec<String> {
        std::mem::take(&mut self.wanted)
    }

    /// Stores a fetched image; ignored if no item waits for it.
    pub(super) fn set_fetch_result_if_requested(&mut self, name: &str, fetched: FetchedImage) {
        if let Some(coming) = self.requested.get_mut(name) {
            *coming = Some(fetched);
        }
    }

    /// Requests the item's images; returns true while any of them is not fetched.
    pub(super) fn mark_wanted_and_check_pending(&mut self, item: &Item<'_>) -> bool {
        let mut coming = false;
        let kept = item.images.iter().filter(|image| is_gateway_blob(&image.reference));
        for image in kept.take_while(|_| self.fetching == ImageFetching::On) {
            let known = self.requested.entry(image.reference.to_string()).or_insert_with(|| {
                self.wanted.push(image.reference.to_string());
                None
            });
            coming |= known.is_none();
        }
        coming
    }

    /// Drops the images of a printed item.
    pub(super) fn forget_item_images(&mut self, item: &Item<'_>) {
        for image in &item.images {
            self.requested.remove(&*image.reference);
        }
    }

    /// Drops all images.
    pub(super) fn forget_all(&mut self) {
        self.requested.clear();
    }

    /// Pushes a label row for each image of the item, and below it the image itself if the rows are
    /// settled and the terminal can show it.
    pub(super) fn push_image_rows(
        &self,
        item: &Item<'_>,
        options: RenderOptions,
        stays: RowPhase,
        rows: &mut Vec<Row>,
    ) {
        for image in &item.images {
            let kind = image.media_type.as_deref().unwrap_or("image");
            let known = self.requested.get(&*image.reference).and_then(Option::as_ref);
            match known {
                None => push_label_rows(kind, &image.reference, None, options, rows),
                Some(FetchedImage::Failed(why)) => {
                    let words = format!("{kind} not shown: {why}");
                    push_wrapped_text(rows, options, (LABEL_SIGN, Style::DIM), &words, Style::DIM);
                }
                Some(FetchedImage::Saved { file, image: art }) => {
                    let path = file.display().to_string();
                    push_label_rows(kind, &path, Some(Hyperlink::for_file(file)), options, rows);
                    let art = art.as_ref().filter(|_| stays == RowPhase::Settled);
                    if let Some(art) = art.filter(|art| art.fits_on_screen(options.size)) {
                        push_image_and_blank_rows(art, rows);
                    }
                }
            }
        }
    }
}

/// Returns true for a complete digest reference; a mere prefix did not come from the gateway.
fn is_gateway_blob(reference: &str) -> bool {
    let digest = reference.strip_prefix(BLOB_PREFIX).unwrap_or_default();
    digest.len() == DIGEST_CHARS && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const LABEL_SIGN: &str = "  ▣ ";

/// Pushes the media type and location, with a hyperlink where the terminal supports it.
fn push_label_rows(
    kind: &str,
    place: &str,
    link: Option<Hyperlink>,
    options: RenderOptions,
    rows: &mut Vec<Row>,
) {
    let link = link
        .or_else(|| Hyperlink::parse(place))
        .filter(|_| options.hyperlinks == HyperlinkMode::Osc8);
    let (first, lead) =
        (Row::from_text(LABEL_SIGN, Style::DIM), Row::from_text("    ", Style::PLAIN));
    let mut wrap = LineWrapper::new(options.size.width(), first, lead);
    let words = neutralise(&format!("{kind} {place}")).replace('\n', " ");
    wrap.push(&words, Style::DIM, link.as_ref(), rows);
    wrap.finish(rows);
}

/// Pushes blank rows for the image; it is drawn with the first one.
fn push_image_and_blank_rows(art: &Arc<TerminalImage>, rows: &mut Vec<Row>) {
    rows.push(Row::new(RowStart::NewLine).with_image(Arc::clone(art)));
    rows.extend(std::iter::repeat_with(Row::default).take(art.row_count().saturating_sub(1)));
}
