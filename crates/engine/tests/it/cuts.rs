//! Checks every chunking of a stream, in linear time.

use millpond_engine::ingest::{Ingest, IngestOptions};

use crate::support::RecordedEvents;

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

/// Ingest state at some point of a stream, and the events of its last chunks.
#[derive(Clone)]
struct IngestSnapshot {
    ingest: Ingest,
    kept: RecordedEvents,
}

impl IngestSnapshot {
    /// Returns the state after these chunks.
    fn pushed(&self, chunks: &[&[u8]]) -> IngestSnapshot {
        let mut next =
            IngestSnapshot { ingest: self.ingest.clone(), kept: RecordedEvents::default() };
        for chunk in chunks {
            next.ingest.push(chunk, None, &mut next.kept);
        }
        next
    }
}

/// Distance from a line end within which every cut is tried.
const EDGE_BYTES: usize = 8;

/// Cuts each line in two at each of `cuts`: what was said and the state just before its end must
/// be those of the line in one piece, and the line end that follows is the same for all. Around
/// line ends, stretches of two lines are cut and read to their end. Each line is also read byte by
/// byte. Because a stream is its lines one after the other, this is every cut of the whole stream,
/// in linear time.
pub(crate) fn check_cuts(name: &str, bytes: &[u8], cuts: impl Fn(usize) -> bool) {
    let ends = frame_ends(bytes);
    let mut at = IngestSnapshot {
        ingest: Ingest::new(&IngestOptions::default()),
        kept: RecordedEvents::default(),
    };
    for (line, &begin) in ends.iter().enumerate() {
        let next = ends[(line + 1).min(ends.len() - 1)];
        let last = next.saturating_sub(1).max(begin);
        let before_end = at.pushed(&[&bytes[begin..last]]);
        for cut in (begin..last).filter(|&cut| cuts(cut)) {
            let cut_up = at.pushed(&[&bytes[begin..cut], &bytes[cut..last]]);
            assert_same_state(&cut_up, &before_end, name, cut);
        }
        let end = ends[(line + 2).min(ends.len() - 1)];
        let whole = at.pushed(&[&bytes[begin..end]]);
        for edge in [begin, next] {
            let near = edge.saturating_sub(EDGE_BYTES).max(begin)..(edge + EDGE_BYTES).min(end);
            for cut in near {
                let cut_up = at.pushed(&[&bytes[begin..cut], &bytes[cut..end]]);
                assert_same_state(&cut_up, &whole, name, cut);
            }
        }
        let bytewise: Vec<&[u8]> = bytes[begin..next].chunks(1).collect();
        let after = at.pushed(&[&bytes[begin..next]]);
        assert_same_state(&at.pushed(&bytewise), &after, name, begin);
        at = after;
    }
}

/// Asserts that two states and their events are equal.
#[track_caller]
fn assert_same_state(got: &IngestSnapshot, expected: &IngestSnapshot, name: &str, cut: usize) {
    assert!(got.kept.0 == expected.kept.0, "{name} cut at {cut}: other events");
    assert!(got.ingest == expected.ingest, "{name} cut at {cut}: other state");
}
