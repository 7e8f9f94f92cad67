//! Cutting a stream everywhere, in linear time.

use engine::ingest::{Ingest, Options};

use crate::support::Kept;

/// Positions just after each line feed, which is where frames end.
fn frame_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends: Vec<usize> = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    ends.insert(0, 0);
    ends.push(bytes.len());
    ends.dedup();
    ends
}

/// A source at some point of a stream.
#[derive(Clone)]
struct At {
    ingest: Ingest,
    kept: Kept,
}

impl At {
    fn push(&self, chunks: &[&[u8]]) -> At {
        let mut next = At { ingest: self.ingest.clone(), kept: Kept::default() };
        for chunk in chunks {
            next.ingest.push(chunk, None, &mut next.kept);
        }
        next
    }
}

/// Around the ends of a line, where more than buffering happens.
const EDGE_BYTES: usize = 8;

/// Cuts each line in two at each of `cuts`: what was said and the state just before its end must
/// be those of the line in one piece, and the line end that follows is the same for all. Around
/// line ends, stretches of two lines are cut and read to their end. Each line is also read byte by
/// byte. Because a stream is its lines one after the other, this is every cut of the whole stream,
/// in linear time.
pub(crate) fn check_cuts(name: &str, bytes: &[u8], cuts: impl Fn(usize) -> bool) {
    let ends = frame_ends(bytes);
    let mut at = At { ingest: Ingest::new(&Options::default()), kept: Kept::default() };
    for (line, &begin) in ends.iter().enumerate() {
        let next = ends[(line + 1).min(ends.len() - 1)];
        let last = next.saturating_sub(1).max(begin);
        let before_end = at.push(&[&bytes[begin..last]]);
        for cut in (begin..last).filter(|&cut| cuts(cut)) {
            let cut_up = at.push(&[&bytes[begin..cut], &bytes[cut..last]]);
            check_same(&cut_up, &before_end, name, cut);
        }
        let end = ends[(line + 2).min(ends.len() - 1)];
        let whole = at.push(&[&bytes[begin..end]]);
        for edge in [begin, next] {
            let near = edge.saturating_sub(EDGE_BYTES).max(begin)..(edge + EDGE_BYTES).min(end);
            for cut in near {
                let cut_up = at.push(&[&bytes[begin..cut], &bytes[cut..end]]);
                check_same(&cut_up, &whole, name, cut);
            }
        }
        let bytewise: Vec<&[u8]> = bytes[begin..next].chunks(1).collect();
        let after = at.push(&[&bytes[begin..next]]);
        check_same(&at.push(&bytewise), &after, name, begin);
        at = after;
    }
}

#[track_caller]
fn check_same(got: &At, expected: &At, name: &str, cut: usize) {
    assert!(got.kept.0 == expected.kept.0, "{name} cut at {cut}: other events");
    assert!(got.ingest == expected.ingest, "{name} cut at {cut}: other state");
}
