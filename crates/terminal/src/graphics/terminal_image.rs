//! An image encoded as the escape sequence that draws it.
//!
//! Invariant: no input bytes are passed on. The image is decoded and encoded again.

use std::fmt::Write as _;
use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};

use super::{CellSize, GraphicsProtocol};
use crate::size::Size;

/// Pixels of a side; larger images are not decoded.
const SIDE_PIXELS_MAX: u32 = 16_384;

/// Bytes that decoding may allocate.
const DECODED_BYTES_MAX: u64 = 256_000_000;

/// Widest image, in columns.
const COLS_MAX: u16 = 80;

/// An image takes at most the screen's rows divided by this.
const SCREEN_ROWS_DIVISOR: u16 = 2;

/// Bytes of one kitty chunk.
const KITTY_CHUNK_BYTES_MAX: usize = 4_096;

/// Pixel rows of one sixel band.
const SIXEL_BAND_PIXELS: u32 = 6;

/// An image scaled and encoded for one terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalImage {
    sequence: String,
    cols: u16,
    rows: u16,
}

/// Error of decoding or encoding an image.
#[derive(Debug, thiserror::Error)]
pub enum EncodeImageError {
    #[error("cannot decode the image: {0}")]
    Decode(#[from] image::ImageError),
    #[error("cannot decode the image: {0}")]
    Read(#[from] std::io::Error),
    #[error("cannot encode the image as sixels: {0}")]
    EncodeSixel(#[from] icy_sixel::SixelError),
}

impl TerminalImage {
    /// Decodes an image, scales it down to part of the screen, and encodes it. Never scales up.
    pub fn encode(
        bytes: &[u8],
        graphics: GraphicsProtocol,
        cell: CellSize,
        size: Size,
    ) -> Result<TerminalImage, EncodeImageError> {
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(SIDE_PIXELS_MAX);
        limits.max_image_height = Some(SIDE_PIXELS_MAX);
        limits.max_alloc = Some(DECODED_BYTES_MAX);
        reader.limits(limits);
        let image = scale_down_to_fit(reader.decode()?, graphics, cell, size);
        let cells = |pixels: u32, of: u32| u16::try_from(pixels.div_ceil(of)).unwrap_or(u16::MAX);
        let (cols, rows) = (
            cells(image.width(), cell.width),
            cells(round_height_for_protocol(image.height(), graphics), cell.height),
        );
        let sequence = match graphics {
            GraphicsProtocol::Kitty => kitty_sequence(
                &encode_png(&pad_to_whole_cells(&image, cols, rows, cell))?,
                cols,
                rows,
            ),
            GraphicsProtocol::Iterm2 => iterm2_sequence(&encode_png(&image)?, cols, rows),
            GraphicsProtocol::Sixel => sixel_sequence(&image)?,
        };
        Ok(TerminalImage { sequence, cols, rows })
    }

    pub fn row_count(&self) -> usize {
        usize::from(self.rows)
    }

    /// Escape sequence that draws it at the cursor. The cursor position afterwards is undefined.
    pub fn escape_sequence(&self) -> &str {
        &self.sequence
    }

    /// Returns true if it fits on a screen of this size with one row below.
    pub fn fits_on_screen(&self, size: Size) -> bool {
        self.cols <= size.cols && self.rows < size.rows
    }
}

/// Scales an image down to its share of the screen, keeping its proportions.
fn scale_down_to_fit(
    image: DynamicImage,
    graphics: GraphicsProtocol,
    cell: CellSize,
    size: Size,
) -> DynamicImage {
    let cols = u32::from(size.cols.clamp(1, COLS_MAX));
    let rows = u32::from((size.rows / SCREEN_ROWS_DIVISOR).max(1));
    let (width, mut height) = (cols * cell.width, rows * cell.height);
    if graphics == GraphicsProtocol::Sixel {
        height = (height / SIXEL_BAND_PIXELS * SIXEL_BAND_PIXELS).max(1);
    }
    if image.width() <= width && image.height() <= height {
        return image;
    }
    image.thumbnail(width, height)
}

/// Pads an image with transparent pixels to whole cells; kitty would stretch it otherwise.
fn pad_to_whole_cells(image: &DynamicImage, cols: u16, rows: u16, cell: CellSize) -> DynamicImage {
    let (width, height) = (u32::from(cols) * cell.width, u32::from(rows) * cell.height);
    let mut ground = DynamicImage::new_rgba8(width, height);
    image::imageops::replace(&mut ground, image, 0, 0);
    ground
}

fn round_height_for_protocol(height: u32, graphics: GraphicsProtocol) -> u32 {
    match graphics {
        GraphicsProtocol::Sixel => height.next_multiple_of(SIXEL_BAND_PIXELS),
        GraphicsProtocol::Kitty | GraphicsProtocol::Iterm2 => height,
    }
}

fn encode_png(image: &DynamicImage) -> Result<Vec<u8>, EncodeImageError> {
    let mut png = Vec::new();
    image.to_rgba8().write_to(&mut Cursor::new(&mut png), ImageFormat::Png)?;
    Ok(png)
}

/// Returns the kitty sequence: drawn at once, without a reply, without moving the cursor.
fn kitty_sequence(png: &[u8], cols: u16, rows: u16) -> String {
    let base64 = STANDARD.encode(png);
    let mut out = String::with_capacity(base64.len() + base64.len() / 64);
    let mut rest = base64.as_str();
    let mut how = format!("a=T,f=100,q=2,C=1,c={cols},r={rows},");
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(KITTY_CHUNK_BYTES_MAX));
        let more = u8::from(!after.is_empty());
        // Writing to a string cannot fail.
        let _ = write!(out, "\x1b_G{how}m={more};{chunk}\x1b\\");
        "q=2,".clone_into(&mut how);
        rest = after;
    }
    out
}

fn iterm2_sequence(png: &[u8], cols: u16, rows: u16) -> String {
    format!(
        "\x1b]1337;File=inline=1;size={};width={cols};height={rows};preserveAspectRatio=1;\
         doNotMoveCursor=1:{}\x07",
        png.len(),
        STANDARD.encode(png),
    )
}

fn sixel_sequence(image: &DynamicImage) -> Result<String, EncodeImageError> {
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

    fn test_png(width: u32, height: u32) -> Vec<u8> {
        let image = image::RgbaImage::from_fn(width, height, |x, y| {
            image::Rgba([(x % 251) as u8, (y % 241) as u8, ((x * y) % 239) as u8, 255])
        });
        encode_png(&DynamicImage::ImageRgba8(image)).unwrap()
    }

    fn encode_test_image(graphics: GraphicsProtocol, width: u32, height: u32) -> TerminalImage {
        TerminalImage::encode(&test_png(width, height), graphics, CELL, Size::new(100, 30)).unwrap()
    }

    /// Decodes the image from the chunks of a kitty sequence.
    fn decode_kitty_image(art: &TerminalImage) -> DynamicImage {
        let pieces = art.escape_sequence().split("\x1b_G").skip(1);
        let base64: String = pieces
            .map(|piece| {
                let (keys, data) = piece.strip_suffix("\x1b\\").unwrap().split_once(';').unwrap();
                assert!(keys.contains("q=2") && data.len() <= KITTY_CHUNK_BYTES_MAX, "{keys}");
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
            let art = encode_test_image(GraphicsProtocol::Kitty, given.0, given.1);
            let drawn = decode_kitty_image(&art).to_rgba8();
            let seen = drawn.enumerate_pixels().filter(|(_, _, pixel)| pixel.0[3] > 0);
            let corner = seen.fold((0, 0), |far, (x, y, _)| (far.0.max(x + 1), far.1.max(y + 1)));
            assert_eq!(corner, expected, "{given:?}");
            let ground = (u32::from(art.cols) * 10, u32::from(art.rows) * 20);
            assert_eq!((drawn.width(), drawn.height()), ground, "{given:?}");
            assert!(art.escape_sequence().contains(&format!("c={},r={},", art.cols, art.rows)));
        }
    }

    #[test]
    fn each_way_of_drawing_gets_its_own_words() {
        let art_iterm2 = encode_test_image(GraphicsProtocol::Iterm2, 200, 100);
        let (head, data) = art_iterm2.escape_sequence().split_once(':').unwrap();
        assert!(head.starts_with("\x1b]1337;File=inline=1;"), "{head}");
        assert!(head.contains("width=20;height=5;"), "{head}");
        let png = STANDARD.decode(data.strip_suffix('\x07').unwrap()).unwrap();
        assert_eq!(image::load_from_memory(&png).unwrap().width(), 200);
        let art_sixel = encode_test_image(GraphicsProtocol::Sixel, 200, 100);
        assert!(
            art_sixel.escape_sequence().starts_with("\x1bP")
                && art_sixel.escape_sequence().ends_with("\x1b\\")
        );
        assert!(!art_sixel.escape_sequence()[1..].trim_end_matches("\x1b\\").contains('\x1b'));
        assert_eq!(art_sixel.row_count(), 6, "100 pixels are 102 in bands of six");
    }

    #[test]
    fn s12_what_is_no_picture_is_told_and_never_handed_on() {
        for bytes in [&b""[..], b"\x1b[2Jboo", &test_png(30, 30)[..60]] {
            let told =
                TerminalImage::encode(bytes, GraphicsProtocol::Kitty, CELL, Size::new(80, 24))
                    .unwrap_err();
            assert!(told.to_string().starts_with("cannot decode the image"), "{told}");
        }
        let mut huge = test_png(10, 10);
        huge[16..24].copy_from_slice(&[0, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff]);
        assert!(
            TerminalImage::encode(&huge, GraphicsProtocol::Kitty, CELL, Size::new(80, 24)).is_err()
        );
    }
}
