use super::*;
use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

/// Owned copy of a [`CutterOutput`].
#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedOutput {
    Frame(String, String),
    ClientFrame(String),
    TooLong(usize),
    Noise(String),
}

fn cut_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<OwnedOutput> {
    let mut cutter = Cutter::default();
    let mut got = Vec::new();
    let mut out = |cutting: CutterOutput<'_>| {
        got.push(match cutting {
            CutterOutput::Frame(frame) if frame.origin == FrameOrigin::Client => {
                OwnedOutput::ClientFrame(frame.data.to_owned())
            }
            CutterOutput::Frame(frame) => {
                OwnedOutput::Frame(frame.name.to_owned(), frame.data.to_owned())
            }
            CutterOutput::TooLong { beginning } => OwnedOutput::TooLong(beginning.len()),
            CutterOutput::Noise(text) => OwnedOutput::Noise(text.to_owned()),
        });
    };
    for chunk in chunks {
        cutter.push(chunk, &mut out);
    }
    cutter.finish(&mut out);
    got
}

/// Cuts `input` whole, in two at every position, and byte by byte.
#[track_caller]
fn check(input: impl AsRef<[u8]>, expected: &[OwnedOutput]) {
    let bytes = input.as_ref();
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(cut_chunks([head, tail]), expected, "cut at {at}");
    }
    assert_eq!(cut_chunks(bytes.chunks(1)), expected, "byte by byte");
}

fn unnamed_frame(text: &str) -> OwnedOutput {
    named_frame("", text)
}

fn named_frame(name: &str, text: &str) -> OwnedOutput {
    OwnedOutput::Frame(name.to_owned(), text.to_owned())
}

fn noise(text: &str) -> OwnedOutput {
    OwnedOutput::Noise(text.to_owned())
}

#[test]
fn server_sent_events_have_names_and_joined_data() {
    check("event: a\ndata: b\n\n", &[named_frame("a", "b")]);
    check("data: a\ndata:\ndata:  b\n\n", &[unnamed_frame("a\n\n b")]);
    check("event: a\n\ndata: b\n\n", &[unnamed_frame("b")]);
}

#[test]
fn line_endings_are_interchangeable() {
    check(
        "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
        &[unnamed_frame("a"), unnamed_frame("b"), unnamed_frame("c")],
    );
    check("{\"a\":1}\r\n{\"b\":2}\r\n", &[unnamed_frame("{\"a\":1}"), unnamed_frame("{\"b\":2}")]);
}

#[test]
fn comments_keepalives_and_other_fields_are_passed_over() {
    check(": ping\n\n:\n\nretry: 5\nid: 1\ndata: é🎉\n\n", &[unnamed_frame("é🎉")]);
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    check("\u{feff}data: a\n\n", &[unnamed_frame("a")]);
    check("\u{feff}{\"a\":1}\n", &[unnamed_frame("{\"a\":1}")]);
    check("\u{feff}[{\"a\":1}]", &[unnamed_frame("{\"a\":1}")]);
    check(" \u{feff} \n\u{feff}x\n", &[noise("x")]);
    check("data: 1\n\n\u{feff}data: 2\n\ndata: 3\n\n", &[unnamed_frame("1"), unnamed_frame("3")]);
}

#[test]
fn the_last_event_counts_without_its_blank_line() {
    check("data: a\n\ndata: [DONE]", &[unnamed_frame("a"), unnamed_frame("[DONE]")]);
    check("{\"a\":1}\n{\"b\":2}", &[unnamed_frame("{\"a\":1}"), unnamed_frame("{\"b\":2}")]);
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    check(b"data: a\xffb\n\n", &[unnamed_frame("a\u{fffd}b")]);
    check(b"{\"a\":\"\xff\"}\n", &[unnamed_frame("{\"a\":\"\u{fffd}\"}")]);
}

#[test]
fn json_may_be_printed_over_several_lines() {
    check(
        "{\n  \"a\": [\n    1\n  ]\n}\n{\"b\":2}\n",
        &[unnamed_frame("{\n  \"a\": [\n    1\n  ]\n}"), unnamed_frame("{\"b\":2}")],
    );
}

#[test]
fn a_bare_line_break_in_a_string_is_mended() {
    check(
        "{\"a\":\"one\ntwo\"}\n{\"b\":2}\n",
        &[unnamed_frame("{\"a\":\"one\\ntwo\"}"), unnamed_frame("{\"b\":2}")],
    );
}

#[test]
fn one_bad_line_costs_one_line() {
    check(
        "{\"a\":1}\n{\"b\":\n{\"c\":3}\n",
        &[unnamed_frame("{\"a\":1}"), unnamed_frame("{\"b\":"), unnamed_frame("{\"c\":3}")],
    );
    check(
        "{\"a\":\"never closed\n{\"c\":3}\n",
        &[unnamed_frame("{\"a\":\"never closed"), unnamed_frame("{\"c\":3}")],
    );
}

#[test]
fn lines_of_text_are_noise() {
    check(
        "Loading…\n{\"a\":1}\n\nbye\n",
        &[noise("Loading…"), unnamed_frame("{\"a\":1}"), noise("bye")],
    );
    check("{\"a\":1}\n[DONE]\n", &[unnamed_frame("{\"a\":1}"), unnamed_frame("[DONE]")]);
    check("dat", &[noise("dat")]);
    check("", &[]);
    check(" \n\n", &[]);
}

#[test]
fn events_may_begin_after_lines_of_text() {
    check(
        "HTTP/1.1 200 OK\ncontent-type: x\n\nevent: a\ndata: b\n\n",
        &[noise("HTTP/1.1 200 OK"), noise("content-type: x"), named_frame("a", "b")],
    );
    check("warming up\ndata: [DONE]", &[noise("warming up"), unnamed_frame("[DONE]")]);
    check(
        "{\"a\":1}\ndata: no event\n{\"b\":2}\n",
        &[unnamed_frame("{\"a\":1}"), noise("data: no event"), unnamed_frame("{\"b\":2}")],
    );
}

#[test]
fn a_line_may_hold_several_values() {
    check(
        "{\"a\":1}{\"b\":2} {\"c\":\n3} x\n",
        &[
            unnamed_frame("{\"a\":1}"),
            unnamed_frame("{\"b\":2}"),
            unnamed_frame("{\"c\":\n3}"),
            noise("x"),
        ],
    );
}

#[test]
fn a_bracket_in_a_string_closes_nothing_and_a_quote_may_be_escaped() {
    check(
        "{\"a\":\"x\\n\"}{\"b\":2}\n",
        &[unnamed_frame("{\"a\":\"x\\n\"}"), unnamed_frame("{\"b\":2}")],
    );
    check(
        "{\"a\":\"x\\\"}{\"}{\"b\":2}\n",
        &[unnamed_frame("{\"a\":\"x\\\"}{\"}"), unnamed_frame("{\"b\":2}")],
    );
    check("{\\}{\"b\":2}\n", &[unnamed_frame("{\\}"), unnamed_frame("{\"b\":2}")]);
}

#[test]
fn a_line_break_of_two_bytes_is_one() {
    check(
        "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
        &[unnamed_frame("a\nb"), unnamed_frame("c")],
    );
}

#[test]
fn the_decoder_itself_drops_one_byte_order_mark() {
    let mut got = Vec::new();
    let mut decoder = SseDecoder::default();
    let mut keep = |cutting: CutterOutput<'_>| {
        if let CutterOutput::Frame(frame) = cutting {
            got.push(frame.data.to_owned());
        }
    };
    decoder.push("\u{feff}data: 1\n\n\u{feff}data: 2\n\ndata: 3\n\n".as_bytes(), &mut keep);
    assert_eq!(got, ["1", "3"]);
}

#[test]
fn a_mark_before_words_is_part_of_them() {
    check(
        "{\"a\":1}\n> said\n< heard\n",
        &[unnamed_frame("{\"a\":1}"), noise("> said"), noise("< heard")],
    );
}

#[test]
fn a_transcript_tells_who_sent_what() {
    check(
        "> {\"a\":1}\n< {\"b\":2}\n",
        &[OwnedOutput::ClientFrame("{\"a\":1}".to_owned()), unnamed_frame("{\"b\":2}")],
    );
}

#[test]
fn the_elements_of_an_array_are_frames() {
    check(
        "[{\"a\":\"]},{\"}\n,\r\n{\"b\":[{}]}]\n",
        &[unnamed_frame("{\"a\":\"]},{\"}"), unnamed_frame("{\"b\":[{}]}")],
    );
    check("[]", &[]);
    check("[{\"a\":1", &[unnamed_frame("{\"a\":1")]);
}

/// At the limit and one byte past it, in one chunk and in two.
fn check_limit(before: &str, fill: u8, after: &str, payload: usize) {
    let make = |len: usize| {
        let mut bytes = before.as_bytes().to_vec();
        bytes.resize(before.len() + len, fill);
        bytes.extend_from_slice(after.as_bytes());
        bytes.extend_from_slice(b"\n\n");
        bytes
    };
    for (len, fits) in [(payload, true), (payload + 1, false)] {
        let bytes = make(len);
        for at in [0, 1, before.len(), 9, 5000, bytes.len() - 3, bytes.len()] {
            let (head, tail) = bytes.split_at(at);
            let got = cut_chunks([head, tail]);
            let long = got.contains(&OwnedOutput::TooLong(UNREADABLE_BYTES_KEPT));
            assert!(got.len() == 1 && long != fits, "{len} bytes cut at {at}");
        }
    }
}

#[test]
fn a_frame_at_the_limit_is_kept_and_one_byte_more_is_passed_over() {
    check_limit("data: ", b'x', "", FRAME_BYTES_MAX - "data: ".len());
    // Two data lines of one event count together, without the line break that joins them.
    let first = "data: ".to_owned() + &"y".repeat(FRAME_BYTES_MAX / 2) + "\ndata: ";
    check_limit(&first, b'x', "", FRAME_BYTES_MAX - FRAME_BYTES_MAX / 2);
    let long = "data: 1\n\ndata: ".to_owned() + &"x".repeat(FRAME_BYTES_MAX) + "\n\n";
    assert_eq!(
        cut_chunks([long.as_bytes()]),
        [unnamed_frame("1"), OwnedOutput::TooLong(UNREADABLE_BYTES_KEPT)]
    );
    check_limit("{\"a\":\"", b'x', "\"}", FRAME_BYTES_MAX - "{\"a\":\"\"}".len());
    check_limit("[{\"a\":\"", b'x', "\"}", FRAME_BYTES_MAX - "{\"a\":\"\"}".len());
}

#[test]
fn after_a_frame_that_is_too_long_the_stream_goes_on() {
    let mut bytes = b"data: ".to_vec();
    bytes.resize(FRAME_BYTES_MAX + 7, b'x');
    bytes.extend_from_slice(b"\ndata: still the same event\n\ndata: next\n\n");
    assert_eq!(
        cut_chunks([&*bytes]),
        [OwnedOutput::TooLong(UNREADABLE_BYTES_KEPT), unnamed_frame("next")]
    );
    let mut bytes = b"{".to_vec();
    bytes.resize(FRAME_BYTES_MAX + 7, b' ');
    bytes.extend_from_slice(b"}\n{\"a\":1}\n");
    let got = cut_chunks([&*bytes]);
    assert_eq!(got, [OwnedOutput::TooLong(UNREADABLE_BYTES_KEPT), unnamed_frame("{\"a\":1}")]);
    let half = "data: ".to_owned() + &"x".repeat(FRAME_BYTES_MAX / 2) + "\n";
    let event = half.repeat(3) + "\ndata: next\n\n";
    let got = cut_chunks([event.as_bytes()]);
    assert_eq!(got, [OwnedOutput::TooLong(UNREADABLE_BYTES_KEPT), unnamed_frame("next")]);
}

/// Decodes server-sent events with their ids, and returns the reconnection time too.
fn decode_with_ids(chunks: &[&[u8]]) -> (Vec<(String, String)>, Option<std::time::Duration>) {
    let (mut decoder, mut got) = (SseDecoder::default(), Vec::new());
    for chunk in chunks {
        decoder.push(chunk, &mut |output| {
            if let CutterOutput::Frame(frame) = output {
                got.push((frame.id.to_owned(), frame.data.to_owned()));
            }
        });
    }
    (got, decoder.reconnection_time())
}

#[test]
fn an_event_id_persists_until_the_next_one_wherever_the_bytes_are_cut() {
    let input = b"data:0\n\nid: a\ndata: 1\n\ndata:2\r\n\r\nretry: 250\nid:b\0\nid:c\nretry: x\n\
        event:n\ndata:3\n\nid\ndata:4\n\nid:never\ndata:cut";
    let expected = [("", "0"), ("a", "1"), ("a", "2"), ("c", "3"), ("", "4")];
    let expected = expected.map(|(id, data)| (id.to_owned(), data.to_owned()));
    for at in 0..=input.len() {
        let (head, tail) = input.split_at(at);
        let (events, retry) = decode_with_ids(&[head, tail]);
        assert_eq!(events, expected, "cut at {at}");
        assert_eq!(retry, Some(std::time::Duration::from_millis(250)));
    }
}

#[test]
fn a_decoder_may_have_a_limit_of_its_own() {
    for (max, frames) in [(9, 1), (8, 0)] {
        let (mut decoder, mut good) = (SseDecoder::with_frame_bytes_max(max), 0);
        decoder.push(b"data:1234\n\n", &mut |output| {
            good += usize::from(matches!(output, CutterOutput::Frame(_)));
        });
        assert_eq!(good, frames, "{max}");
    }
}
