//! A picture of the working folder: how large its files are, by their kind.

use std::collections::BTreeMap;
use std::path::Path;

use super::BadCall;
use super::files::walk;
use super::root::Root;

const WIDTH: u32 = 480;
const BAR: u32 = 28;
const GAP: u32 = 12;
const BARS_MAX: usize = 8;
const BACKGROUND: [u8; 3] = [250, 250, 248];
const COLOURS: [[u8; 3]; 4] = [[38, 110, 142], [88, 140, 86], [198, 134, 66], [140, 90, 140]];

/// The chart as PNG, and what it shows in words.
pub(super) fn draw(root: &Root) -> Result<(String, Vec<u8>), BadCall> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for (path, bytes) in walk(root, Path::new(""))? {
        let kind = path.extension().map(|kind| kind.to_string_lossy().into_owned());
        *sizes.entry(kind.unwrap_or_else(|| "no ending".to_owned())).or_default() += bytes;
    }
    let mut sizes: Vec<(String, u64)> = sizes.into_iter().collect();
    sizes.sort_by_key(|(kind, bytes)| (std::cmp::Reverse(*bytes), kind.clone()));
    sizes.truncate(BARS_MAX);
    let lines: Vec<String> =
        sizes.iter().map(|(kind, bytes)| format!("{kind}: {bytes} bytes\n")).collect();
    let words = if lines.is_empty() { "(no files)".to_owned() } else { lines.concat() };
    let lengths: Vec<u64> = sizes.into_iter().map(|(_, bytes)| bytes).collect();
    Ok((words, bars(&lengths)?))
}

fn bars(lengths: &[u64]) -> Result<Vec<u8>, BadCall> {
    let count = u32::try_from(lengths.len()).unwrap_or(0).max(1);
    let height = GAP + count * (BAR + GAP);
    let longest = lengths.iter().copied().max().unwrap_or(0).max(1);
    let room = u64::from(WIDTH - 2 * GAP);
    let mut pixels = Vec::with_capacity(3 * (WIDTH * height) as usize);
    for y in 0..height {
        let (row, within) = (y / (BAR + GAP), y % (BAR + GAP));
        let length = lengths.get(row as usize).map(|bytes| 1 + bytes * (room - 1) / longest);
        for x in 0..WIDTH {
            let in_bar = GAP <= within
                && length.is_some_and(|length| GAP <= x && u64::from(x - GAP) < length);
            let colour = COLOURS[row as usize % COLOURS.len()];
            pixels.extend(if in_bar { colour } else { BACKGROUND });
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, height);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&pixels)?;
        writer.finish()
    });
    written.map_err(|error| BadCall(format!("The chart cannot be drawn: {error}.")))?;
    Ok(bytes)
}
