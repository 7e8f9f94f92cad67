//! What is known of the pictures of a page, by their names.
//!
//! Only what the gateway keeps is fetched: whoever fetched an address would tell its owner who reads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use engine::view::Item;

use super::item::Look;
use super::put;
use crate::graphics::Art;
use crate::links::{Link, Links};
use crate::row::{Begins, Row};
use crate::style::Style;
use crate::text::neutralised;
use crate::wrap::Wrap;

/// How the gateway names what it keeps.
const KEPT: &str = "sha256:";
const DIGEST_CHARS: usize = 64;

/// What came of fetching a picture.
#[derive(Clone, Debug)]
pub enum Fetched {
    Here {
        file: PathBuf,
        /// Where the terminal draws pictures.
        art: Option<Arc<Art>>,
    },
    /// Why there is nothing to see.
    Not(String),
}

/// Whether rows are written once or may be drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    Here,
    NotYet,
}

#[derive(Debug, Default)]
pub(super) struct Pictures {
    /// Nothing is fetched where nobody would.
    fetches: bool,
    /// Nothing for those that are on their way.
    known: HashMap<String, Option<Fetched>>,
    wanted: Vec<String>,
}

impl Pictures {
    /// Whether pictures are fetched from now on; gives whether they were.
    pub(super) fn set_fetching(&mut self, fetches: bool) -> bool {
        std::mem::replace(&mut self.fetches, fetches)
    }

    /// Names of pictures to be fetched, each once.
    pub(super) fn take_wanted(&mut self) -> Vec<String> {
        std::mem::take(&mut self.wanted)
    }

    /// What nobody waits for any more is passed over.
    pub(super) fn came(&mut self, name: &str, fetched: Fetched) {
        if let Some(coming) = self.known.get_mut(name) {
            *coming = Some(fetched);
        }
    }

    /// Whether a picture of this item is still on its way.
    pub(super) fn are_coming(&mut self, item: &Item<'_>) -> bool {
        let mut coming = false;
        let kept = item.images.iter().filter(|image| is_kept(&image.reference));
        for image in kept.take_while(|_| self.fetches) {
            let known = self.known.entry(image.reference.to_string()).or_insert_with(|| {
                self.wanted.push(image.reference.to_string());
                None
            });
            coming |= known.is_none();
        }
        coming
    }

    /// What was shown is not kept.
    pub(super) fn forget(&mut self, item: &Item<'_>) {
        for image in &item.images {
            self.known.remove(&*image.reference);
        }
    }

    /// Nothing waits for any.
    pub(super) fn forget_all(&mut self) {
        self.known.clear();
    }

    /// The pictures of an item: where they are, and below that themselves if they can be drawn and
    /// stay where they are.
    pub(super) fn rows(&self, item: &Item<'_>, look: Look, stays: Stays, rows: &mut Vec<Row>) {
        for image in &item.images {
            let kind = image.media_type.as_deref().unwrap_or("image");
            let known = self.known.get(&*image.reference).and_then(Option::as_ref);
            match known {
                None => label(kind, &image.reference, None, look, rows),
                Some(Fetched::Not(why)) => {
                    let words = format!("{kind}, which cannot be shown: {why}");
                    put(rows, look, (SIGN, Style::DIM), &words, Style::DIM);
                }
                Some(Fetched::Here { file, art }) => {
                    let path = file.display().to_string();
                    label(kind, &path, Some(Link::to_file(file)), look, rows);
                    let art = art.as_ref().filter(|_| stays == Stays::Here);
                    if let Some(art) = art.filter(|art| art.fits(look.size)) {
                        draw(art, rows);
                    }
                }
            }
        }
    }
}

/// Whether the gateway has it: an address that only begins so has not been given by the gateway.
fn is_kept(reference: &str) -> bool {
    let digest = reference.strip_prefix(KEPT).unwrap_or_default();
    digest.len() == DIGEST_CHARS && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const SIGN: &str = "  ▣ ";

/// What it is, and where, which can be followed where the terminal knows links.
fn label(kind: &str, place: &str, link: Option<Link>, look: Look, rows: &mut Vec<Row>) {
    let link = link.or_else(|| Link::parse(place)).filter(|_| look.links == Links::Behind);
    let (first, lead) = (Row::line(SIGN, Style::DIM), Row::line("    ", Style::PLAIN));
    let mut wrap = Wrap::new(look.size.width(), first, lead);
    let words = neutralised(&format!("{kind} {place}")).replace('\n', " ");
    wrap.push(&words, Style::DIM, link.as_ref(), rows);
    wrap.finish(rows);
}

/// Blank rows, with the first of which the picture is drawn.
fn draw(art: &Arc<Art>, rows: &mut Vec<Row>) {
    rows.push(Row::new(Begins::Line).with_art(Arc::clone(art)));
    rows.extend(std::iter::repeat_with(Row::default).take(art.rows().saturating_sub(1)));
}
