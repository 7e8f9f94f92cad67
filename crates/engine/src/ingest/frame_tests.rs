use super::*;
use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    Frame(String, String),
    Sent(String),
    TooLong(usize),
    Noise(String),
}

fn cut<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Got> {
    let mut cutter = Cutter::default();
    let mut got = Vec::new();
    let mut out = |cutting: Cutting<'_>| {
        got.push(match cutting {
            Cutting::Frame(frame) if frame.from == Direction::Client => {
                Got::Sent(frame.data.to_owned())
            }
            Cutting::Frame(frame) => Got::Frame(frame.name.to_owned(), frame.data.to_owned()),
            Cutting::TooLong { beginning } => Got::TooLong(beginning.len()),
            Cutting::Noise(text) => Got::Noise(text.to_owned()),
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
fn check(input: impl AsRef<[u8]>, expected: &[Got]) {
    let bytes = input.as_ref();
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(cut([head, tail]), expected, "cut at {at}");
    }
    assert_eq!(cut(bytes.chunks(1)), expected, "byte by byte");
}

fn data(text: &str) -> Got {
    named("", text)
}

fn named(name: &str, text: &str) -> Got {
    Got::Frame(name.to_owned(), text.to_owned())
}

fn noise(text: &str) -> Got {
    Got::Noise(text.to_owned())
}

#[test]
fn server_sent_events_have_names_and_joined_data() {
    check("event: a\ndata: b\n\n", &[named("a", "b")]);
    check("data: a\ndata:\ndata:  b\n\n", &[data("a\n\n b")]);
    check("event: a\n\ndata: b\n\n", &[data("b")]);
}

#[test]
fn line_endings_are_interchangeable() {
    check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[data("a"), data("b"), data("c")]);
    check("{\"a\":1}\r\n{\"b\":2}\r\n", &[data("{\"a\":1}"), data("{\"b\":2}")]);
}

#[test]
fn comments_keepalives_and_other_fields_are_passed_over() {
    check(": ping\n\n:\n\nretry: 5\nid: 1\ndata: é🎉\n\n", &[data("é🎉")]);
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    check("\u{feff}data: a\n\n", &[data("a")]);
    check("\u{feff}{\"a\":1}\n", &[data("{\"a\":1}")]);
    check("\u{feff}[{\"a\":1}]", &[data("{\"a\":1}")]);
    check(" \u{feff} \n\u{feff}x\n", &[noise("x")]);
    check("data: 1\n\n\u{feff}data: 2\n\ndata: 3\n\n", &[data("1"), data("3")]);
}

#[test]
fn the_last_event_counts_without_its_blank_line() {
    check("data: a\n\ndata: [DONE]", &[data("a"), data("[DONE]")]);
    check("{\"a\":1}\n{\"b\":2}", &[data("{\"a\":1}"), data("{\"b\":2}")]);
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    check(b"data: a\xffb\n\n", &[data("a\u{fffd}b")]);
    check(b"{\"a\":\"\xff\"}\n", &[data("{\"a\":\"\u{fffd}\"}")]);
}

#[test]
fn json_may_be_printed_over_several_lines() {
    check(
        "{\n  \"a\": [\n    1\n  ]\n}\n{\"b\":2}\n",
        &[data("{\n  \"a\": [\n    1\n  ]\n}"), data("{\"b\":2}")],
    );
}

#[test]
fn a_bare_line_break_in_a_string_is_mended() {
    check("{\"a\":\"one\ntwo\"}\n{\"b\":2}\n", &[data("{\"a\":\"one\\ntwo\"}"), data("{\"b\":2}")]);
}

#[test]
fn one_bad_line_costs_one_line() {
    check(
        "{\"a\":1}\n{\"b\":\n{\"c\":3}\n",
        &[data("{\"a\":1}"), data("{\"b\":"), data("{\"c\":3}")],
    );
    check(
        "{\"a\":\"never closed\n{\"c\":3}\n",
        &[data("{\"a\":\"never closed"), data("{\"c\":3}")],
    );
}

#[test]
fn lines_of_text_are_noise() {
    check("Loading…\n{\"a\":1}\n\nbye\n", &[noise("Loading…"), data("{\"a\":1}"), noise("bye")]);
    check("{\"a\":1}\n[DONE]\n", &[data("{\"a\":1}"), data("[DONE]")]);
    check("dat", &[noise("dat")]);
    check("", &[]);
    check(" \n\n", &[]);
}

#[test]
fn events_may_begin_after_lines_of_text() {
    check(
        "HTTP/1.1 200 OK\ncontent-type: x\n\nevent: a\ndata: b\n\n",
        &[noise("HTTP/1.1 200 OK"), noise("content-type: x"), named("a", "b")],
    );
    check("warming up\ndata: [DONE]", &[noise("warming up"), data("[DONE]")]);
    check(
        "{\"a\":1}\ndata: no event\n{\"b\":2}\n",
        &[data("{\"a\":1}"), noise("data: no event"), data("{\"b\":2}")],
    );
}

#[test]
fn a_line_may_hold_several_values() {
    check(
        "{\"a\":1}{\"b\":2} {\"c\":\n3} x\n",
        &[data("{\"a\":1}"), data("{\"b\":2}"), data("{\"c\":\n3}"), noise("x")],
    );
}

#[test]
fn a_bracket_in_a_string_closes_nothing_and_a_quote_may_be_escaped() {
    check("{\"a\":\"x\\n\"}{\"b\":2}\n", &[data("{\"a\":\"x\\n\"}"), data("{\"b\":2}")]);
    check("{\"a\":\"x\\\"}{\"}{\"b\":2}\n", &[data("{\"a\":\"x\\\"}{\"}"), data("{\"b\":2}")]);
    check("{\\}{\"b\":2}\n", &[data("{\\}"), data("{\"b\":2}")]);
}

#[test]
fn a_line_break_of_two_bytes_is_one() {
    check("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", &[data("a\nb"), data("c")]);
}

#[test]
fn the_decoder_itself_drops_one_byte_order_mark() {
    let mut got = Vec::new();
    let mut decoder = SseDecoder::default();
    let mut keep = |cutting: Cutting<'_>| {
        if let Cutting::Frame(frame) = cutting {
            got.push(frame.data.to_owned());
        }
    };
    decoder.push("\u{feff}data: 1\n\n\u{feff}data: 2\n\ndata: 3\n\n".as_bytes(), &mut keep);
    assert_eq!(got, ["1", "3"]);
}

#[test]
fn a_mark_before_words_is_part_of_them() {
    check("{\"a\":1}\n> said\n< heard\n", &[data("{\"a\":1}"), noise("> said"), noise("< heard")]);
}

#[test]
fn a_transcript_tells_who_sent_what() {
    check("> {\"a\":1}\n< {\"b\":2}\n", &[Got::Sent("{\"a\":1}".to_owned()), data("{\"b\":2}")]);
}

#[test]
fn the_elements_of_an_array_are_frames() {
    check(
        "[{\"a\":\"]},{\"}\n,\r\n{\"b\":[{}]}]\n",
        &[data("{\"a\":\"]},{\"}"), data("{\"b\":[{}]}")],
    );
    check("[]", &[]);
    check("[{\"a\":1", &[data("{\"a\":1")]);
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
            let got = cut([head, tail]);
            let long = got.contains(&Got::TooLong(UNREADABLE_BYTES_KEPT));
            assert!(got.len() == 1 && long != fits, "{len} bytes cut at {at}");
        }
    }
}

#[test]
fn a_frame_at_the_limit_is_kept_and_one_byte_more_is_passed_over() {
    check_limit("data: ", b'x', "", FRAME_BYTES_MAX - "data: ".len());
    // Two lines of one event count together, but for the line break that joins them.
    let first = "data: ".to_owned() + &"y".repeat(FRAME_BYTES_MAX / 2) + "\ndata: ";
    check_limit(&first, b'x', "", FRAME_BYTES_MAX - FRAME_BYTES_MAX / 2);
    let long = "data: 1\n\ndata: ".to_owned() + &"x".repeat(FRAME_BYTES_MAX) + "\n\n";
    assert_eq!(cut([long.as_bytes()]), [data("1"), Got::TooLong(UNREADABLE_BYTES_KEPT)]);
    check_limit("{\"a\":\"", b'x', "\"}", FRAME_BYTES_MAX - "{\"a\":\"\"}".len());
    check_limit("[{\"a\":\"", b'x', "\"}", FRAME_BYTES_MAX - "{\"a\":\"\"}".len());
}

#[test]
fn after_a_frame_that_is_too_long_the_stream_goes_on() {
    let mut bytes = b"data: ".to_vec();
    bytes.resize(FRAME_BYTES_MAX + 7, b'x');
    bytes.extend_from_slice(b"\ndata: still the same event\n\ndata: next\n\n");
    assert_eq!(cut([&*bytes]), [Got::TooLong(UNREADABLE_BYTES_KEPT), data("next")]);
    let mut bytes = b"{".to_vec();
    bytes.resize(FRAME_BYTES_MAX + 7, b' ');
    bytes.extend_from_slice(b"}\n{\"a\":1}\n");
    let got = cut([&*bytes]);
    assert_eq!(got, [Got::TooLong(UNREADABLE_BYTES_KEPT), data("{\"a\":1}")]);
    let half = "data: ".to_owned() + &"x".repeat(FRAME_BYTES_MAX / 2) + "\n";
    let event = half.repeat(3) + "\ndata: next\n\n";
    let got = cut([event.as_bytes()]);
    assert_eq!(got, [Got::TooLong(UNREADABLE_BYTES_KEPT), data("next")]);
}
