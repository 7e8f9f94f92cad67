//! A picture as what a terminal is told to draw it.
//!
//! Invariant: nothing of what came in is handed on. It is decoded, and what was seen is written anew.

use std::fmt::Write as _;
use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};

use super::{CellSize, Graphics};
use crate::size::Size;

/// Pixels of a side. What is larger is not decoded.
const SIDE_PIXELS_MAX: u32 = 16_384;

/// Bytes that decoding may take.
const DECODED_BYTES_MAX: u64 = 256_000_000;

/// Columns that a picture is wide at most.
const COLS_MAX: u16 = 80;

/// Of the screen's rows a picture takes at most this part.
const ROWS_PART: u16 = 2;

/// Bytes that kitty takes at once.
const KITTY_CHUNK: usize = 4_096;

/// Pixels that sixels draw below each other at once.
const SIXEL_BAND: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Art {
    sequence: String,
    cols: u16,
    rows: u16,
}

/// Why a picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum Unshown {
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] image::ImageError),
    #[error("it cannot be read: {0}")]
    Broken(#[from] std::io::Error),
    #[error("it cannot be drawn: {0}")]
    Undrawable(#[from] icy_sixel::SixelError),
}

impl Art {
    /// A picture for a screen of this size: never larger than it is, nor than a part of the screen.
    pub fn new(
        bytes: &[u8],
        graphics: Graphics,
        cell: CellSize,
        size: Size,
    ) -> Result<Art, Unshown> {
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(SIDE_PIXELS_MAX);
        limits.max_image_height = Some(SIDE_PIXELS_MAX);
        limits.max_alloc = Some(DECODED_BYTES_MAX);
        reader.limits(limits);
        let image = fitted(reader.decode()?, graphics, cell, size);
        let cells = |pixels: u32, of: u32| u16::try_from(pixels.div_ceil(of)).unwrap_or(u16::MAX);
        let (cols, rows) = (
            cells(image.width(), cell.width),
            cells(drawn_height(image.height(), graphics), cell.height),
        );
        let sequence = match graphics {
            Graphics::Kitty => kitty(&png(&padded(&image, cols, rows, cell))?, cols, rows),
            Graphics::Iterm2 => iterm2(&png(&image)?, cols, rows),
            Graphics::Sixel => sixel(&image)?,
        };
        Ok(Art { sequence, cols, rows })
    }

    pub fn rows(&self) -> usize {
        usize::from(self.rows)
    }

    /// What draws it from where the cursor stands. Where the cursor is afterwards nobody knows.
    pub fn sequence(&self) -> &str {
        &self.sequence
    }

    /// Whether it has room on a screen, with a row below it.
    pub fn fits(&self, size: Size) -> bool {
        self.cols <= size.cols && self.rows < size.rows
    }
}

/// Only ever smaller than it was, with its proportions.
fn fitted(image: DynamicImage, graphics: Graphics, cell: CellSize, size: Size) -> DynamicImage {
    let cols = u32::from(size.cols.clamp(1, COLS_MAX));
    let rows = u32::from((size.rows / ROWS_PART).max(1));
    let (width, mut height) = (cols * cell.width, rows * cell.height);
    if graphics == Graphics::Sixel {
        height = (height / SIXEL_BAND * SIXEL_BAND).max(1);
    }
    if image.width() <= width && image.height() <= height {
        return image;
    }
    image.thumbnail(width, height)
}

/// On a ground of whole characters that nobody sees: kitty would stretch it to fill them.
fn padded(image: &DynamicImage, cols: u16, rows: u16, cell: CellSize) -> DynamicImage {
    let (width, height) = (u32::from(cols) * cell.width, u32::from(rows) * cell.height);
    let mut ground = DynamicImage::new_rgba8(width, height);
    image::imageops::replace(&mut ground, image, 0, 0);
    ground
}

fn drawn_height(height: u32, graphics: Graphics) -> u32 {
    match graphics {
        Graphics::Sixel => height.next_multiple_of(SIXEL_BAND),
        Graphics::Kitty | Graphics::Iterm2 => height,
    }
}

fn png(image: &DynamicImage) -> Result<Vec<u8>, Unshown> {
    let mut png = Vec::new();
    image.to_rgba8().write_to(&mut Cursor::new(&mut png), ImageFormat::Png)?;
    Ok(png)
}

/// Drawn at once; the terminal does not answer, and does not move its cursor.
fn kitty(png: &[u8], cols: u16, rows: u16) -> String {
    let base64 = STANDARD.encode(png);
    let mut out = String::with_capacity(base64.len() + base64.len() / 64);
    let mut rest = base64.as_str();
    let mut how = format!("a=T,f=100,q=2,C=1,c={cols},r={rows},");
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(KITTY_CHUNK));
        let more = u8::from(!after.is_empty());
        // Writing to a string cannot fail.
        let _ = write!(out, "\x1b_G{how}m={more};{chunk}\x1b\\");
        "q=2,".clone_into(&mut how);
        rest = after;
    }
    out
}

fn iterm2(png: &[u8], cols: u16, rows: u16) -> String {
    format!(
        "\x1b]1337;File=inline=1;size={};width={cols};height={rows};preserveAspectRatio=1;\
         doNotMoveCursor=1:{}\x07",
        png.len(),
        STANDARD.encode(png),
    )
}

fn sixel(image: &DynamicImage) -> Result<String, Unshown> {
    let pixels = image.to_rgba8();
    let side = |pixels: u32| pixels as usize;
    let options = icy_sixel::EncodeOptions::default();
    Ok(icy_sixel::sixel_encode(
        pixels.as_raw(),
        side(pixels.width()),
        side(pixels.height()),
        &options,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: CellSize = CellSize { width: 10, height: 20 };

    fn picture(width: u32, height: u32) -> Vec<u8> {
        let image = image::RgbaImage::from_fn(width, height, |x, y| {
            image::Rgba([(x % 251) as u8, (y % 241) as u8, ((x * y) % 239) as u8, 255])
        });
        png(&DynamicImage::ImageRgba8(image)).unwrap()
    }

    fn art(graphics: Graphics, width: u32, height: u32) -> Art {
        Art::new(&picture(width, height), graphics, CELL, Size::new(100, 30)).unwrap()
    }

    /// The picture that kitty gets, put together from its pieces.
    fn kitty_png(art: &Art) -> DynamicImage {
        let pieces = art.sequence().split("\x1b_G").skip(1);
        let base64: String = pieces
            .map(|piece| {
                let (keys, data) = piece.strip_suffix("\x1b\\").unwrap().split_once(';').unwrap();
                assert!(keys.contains("q=2") && data.len() <= KITTY_CHUNK, "{keys}");
                data
            })
            .collect();
        image::load_from_memory(&STANDARD.decode(base64).unwrap()).unwrap()
    }

    #[test]
    fn pictures_keep_their_proportions_and_leave_half_of_the_screen() {
        for (given, expected) in [
            ((40, 40), (40, 40)),
            ((1_600, 400), (800, 200)),
            ((400, 1_600), (75, 300)),
            ((1, 1), (1, 1)),
        ] {
            let art = art(Graphics::Kitty, given.0, given.1);
            let drawn = kitty_png(&art).to_rgba8();
            let seen = drawn.enumerate_pixels().filter(|(_, _, pixel)| pixel.0[3] > 0);
            let corner = seen.fold((0, 0), |far, (x, y, _)| (far.0.max(x + 1), far.1.max(y + 1)));
            assert_eq!(corner, expected, "{given:?}");
            let ground = (u32::from(art.cols) * 10, u32::from(art.rows) * 20);
            assert_eq!((drawn.width(), drawn.height()), ground, "{given:?}");
            assert!(art.sequence().contains(&format!("c={},r={},", art.cols, art.rows)));
        }
    }

    #[test]
    fn each_way_of_drawing_gets_its_own_words() {
        let art_iterm2 = art(Graphics::Iterm2, 200, 100);
        let (head, data) = art_iterm2.sequence().split_once(':').unwrap();
        assert!(head.starts_with("\x1b]1337;File=inline=1;"), "{head}");
        assert!(head.contains("width=20;height=5;"), "{head}");
        let png = STANDARD.decode(data.strip_suffix('\x07').unwrap()).unwrap();
        assert_eq!(image::load_from_memory(&png).unwrap().width(), 200);
        let art_sixel = art(Graphics::Sixel, 200, 100);
        assert!(
            art_sixel.sequence().starts_with("\x1bP") && art_sixel.sequence().ends_with("\x1b\\")
        );
        assert!(!art_sixel.sequence()[1..].trim_end_matches("\x1b\\").contains('\x1b'));
        assert_eq!(art_sixel.rows(), 6, "100 pixels are 102 in bands of six");
    }

    #[test]
    fn s12_what_is_no_picture_is_told_and_never_handed_on() {
        for bytes in [&b""[..], b"\x1b[2Jboo", &picture(30, 30)[..60]] {
            let told = Art::new(bytes, Graphics::Kitty, CELL, Size::new(80, 24)).unwrap_err();
            assert!(told.to_string().starts_with("it cannot be read"), "{told}");
        }
        let mut huge = picture(10, 10);
        huge[16..24].copy_from_slice(&[0, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff]);
        assert!(Art::new(&huge, Graphics::Kitty, CELL, Size::new(80, 24)).is_err());
    }
}
