//! A bar chart of the file sizes in the working folder, by file extension.

use std::collections::BTreeMap;
use std::path::Path;

use super::ToolCallError;
use super::files::walk_unignored_files_with_sizes;
use super::working_folder::WorkingFolder;

const WIDTH_PIXELS: u32 = 480;
const BAR_PIXELS: u32 = 28;
const GAP_PIXELS: u32 = 12;
const BARS_MAX: usize = 8;
const BACKGROUND: [u8; 3] = [250, 250, 248];
const COLOURS: [[u8; 3]; 4] = [[38, 110, 142], [88, 140, 86], [198, 134, 66], [140, 90, 140]];

/// Draws the chart; returns its values as text and the PNG.
pub(super) fn draw_file_size_chart(
    root: &WorkingFolder,
) -> Result<(String, Vec<u8>), ToolCallError> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for (path, bytes) in walk_unignored_files_with_sizes(root, Path::new(""))? {
        let kind = path.extension().map(|kind| kind.to_string_lossy().into_owned());
        *sizes.entry(kind.unwrap_or_else(|| "no extension".to_owned())).or_default() += bytes;
    }
    let mut sizes: Vec<(String, u64)> = sizes.into_iter().collect();
    sizes.sort_by_key(|(kind, bytes)| (std::cmp::Reverse(*bytes), kind.clone()));
    sizes.truncate(BARS_MAX);
    let lines: Vec<String> =
        sizes.iter().map(|(kind, bytes)| format!("{kind}: {bytes} bytes\n")).collect();
    let description = if lines.is_empty() { "(no files)".to_owned() } else { lines.concat() };
    let lengths: Vec<u64> = sizes.into_iter().map(|(_, bytes)| bytes).collect();
    Ok((description, encode_bars_as_png(&lengths)?))
}

fn encode_bars_as_png(lengths: &[u64]) -> Result<Vec<u8>, ToolCallError> {
    let count = u32::try_from(lengths.len()).unwrap_or(0).max(1);
    let height = GAP_PIXELS + count * (BAR_PIXELS + GAP_PIXELS);
    let max_length = lengths.iter().copied().max().unwrap_or(0).max(1);
    let width = u64::from(WIDTH_PIXELS - 2 * GAP_PIXELS);
    let mut pixels = Vec::with_capacity(3 * (WIDTH_PIXELS * height) as usize);
    for y in 0..height {
        let (row, offset_in_row) = (y / (BAR_PIXELS + GAP_PIXELS), y % (BAR_PIXELS + GAP_PIXELS));
        let length = lengths.get(row as usize).map(|bytes| 1 + bytes * (width - 1) / max_length);
        for x in 0..WIDTH_PIXELS {
            let in_bar = GAP_PIXELS <= offset_in_row
                && length
                    .is_some_and(|length| GAP_PIXELS <= x && u64::from(x - GAP_PIXELS) < length);
            let colour = COLOURS[row as usize % COLOURS.len()];
            pixels.extend(if in_bar { colour } else { BACKGROUND });
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH_PIXELS, height);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&pixels)?;
        writer.finish()
    });
    written.map_err(|error| ToolCallError(format!("Cannot draw the chart: {error}.")))?;
    Ok(bytes)
}
