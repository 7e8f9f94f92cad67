use super::*;

/// Everything as one line: emphasis as `<b>`, `<i>`, `<s>`, code as `<c>`, links as `<a>`.
fn render_with_tags(links: HyperlinkMode, pieces: &[&str], ending: Ending) -> String {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut sink = |piece: InlinePiece<'_>| {
        let (text, marks) = match piece {
            InlinePiece::Break => ("⏎".to_owned(), String::new()),
            InlinePiece::Text(text, style, link) => (text.to_owned(), style_tags(style, link)),
        };
        match out.last_mut() {
            _ if text.is_empty() => {}
            Some((before, same)) if *same == marks => before.push_str(&text),
            _ => out.push((text, marks)),
        }
    };
    let mut inline = InlineParser::new(Size::new(20, 12), links);
    for piece in pieces {
        inline.push(piece, &mut sink);
    }
    inline.finish(ending, &mut sink);
    let wrapped = |(text, marks): &(String, String)| match marks.as_str() {
        "" => text.clone(),
        marks => format!("<{marks}>{text}</>"),
    };
    out.iter().map(wrapped).collect()
}

fn style_tags(style: Style, link: Option<&Hyperlink>) -> String {
    let names = [
        (Attributes::BOLD, "b"),
        (Attributes::ITALIC, "i"),
        (Attributes::STRIKE, "s"),
        (Attributes::DIM, "d"),
    ];
    let mut marks: String = names
        .iter()
        .filter(|(flag, _)| style.attributes.contains(*flag))
        .map(|(_, name)| *name)
        .collect();
    if style.colour == CODE_STYLE.colour {
        marks.push('c');
    }
    if let Some(link) = link {
        marks.extend(["a:", link.as_str()]);
    }
    marks
}

/// Reads `text` whole, cut everywhere, and character by character.
#[track_caller]
fn check(text: &str, expected: &str) {
    check_links(HyperlinkMode::Osc8, text, expected);
}

#[track_caller]
fn check_links(links: HyperlinkMode, text: &str, expected: &str) {
    assert_eq!(render_with_tags(links, &[text], Ending::Final), expected, "{text:?}");
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        let cut = [&text[..at], &text[at..]];
        assert_eq!(render_with_tags(links, &cut, Ending::Final), expected, "{text:?} cut at {at}");
    }
    let chars: Vec<&str> =
        text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect();
    assert_eq!(render_with_tags(links, &chars, Ending::Final), expected, "{text:?} by characters");
}

#[test]
fn emphasis_of_every_kind() {
    check(
        "a **b** *c* ***d*** ~~e~~ _f_ __g__",
        "a <b>b</> <i>c</> <bi>d</> <s>e</> <i>f</> <b>g</>",
    );
    check("*a **b** c*", "<i>a </><bi>b</><i> c</>");
    check("snake_case_name 5 * 3 * 2 ~5", "snake_case_name 5 * 3 * 2 ~5");
    check("**a", "**a");
    check("a* **", "a* **");
    check("*a **b*", "*a *<i>b</>");
}

#[test]
fn code_is_literal() {
    check("`a*b*` ``x`y`` ` z", "<c>a*b*</> <c>x`y</> ` z");
    check("*a `b*` c*", "<i>a </><ic>b*</><i> c</>");
}

#[test]
fn links_lead_where_terminals_may_be_sent() {
    check(
        "[a *b*](https://x.y/z_(1) \"t\") c",
        "<a:https://x.y/z_(1)>a </><ia:https://x.y/z_(1)>b</> c",
    );
    check("[a](javascript:x)", "a<d> (javascript:x)</>");
    check("<https://x.y> <b>", "<a:https://x.y>https://x.y</> <b>");
    check("[a] [b](c d)", "[a] [b](c d)");
    check("![alt](https://x/i.png)", "<a:https://x/i.png>[image: alt]</>");
    check_links(HyperlinkMode::SpelledOut, "[a](https://x.y)", "a<d> (https://x.y)</>");
    check_links(HyperlinkMode::SpelledOut, "[https://x.y](https://x.y)", "https://x.y");
    check("[a](https://é/)", "<a:https://%C3%A9/>a</>");
}

#[test]
fn links_hold_emphasis_in_and_out() {
    check("*a [b* c](https://x)*", "<i>a </><ia:https://x>b* c</>");
    check("*a [b* c", "<i>a [b</> c");
}

#[test]
fn breaks_and_escapes() {
    check("a  \nb\\\nc\nd   ", "a⏎b⏎c d");
    check("\\*a\\* \\q &amp; &lt;b&gt; &#27; &x", "*a* \\q & <b> ␛ &x");
}

#[test]
fn what_stays_open_for_longer_than_the_screen_is_text() {
    let limit = held_bytes_max(Size::new(20, 12));
    let inside = "x".repeat(limit - 2);
    check(&format!("**{inside}**"), &format!("<b>{inside}</>"));
    check(&format!("**{inside}y**"), &format!("**{inside}y**"));
    let code = "x".repeat(limit - 2);
    check(&format!("`{code}` "), &format!("<c>{code}</>"));
    check(&format!("`{code}y` "), &format!("`{code}y`"));
}

#[test]
fn what_is_open_is_shown_as_if_it_were_closed() {
    let shown = |text| render_with_tags(HyperlinkMode::Osc8, &[text], Ending::Preview);
    assert_eq!(shown("a **b"), "a <b>b</>");
    assert_eq!(shown("a **b*"), "a <b>b</>");
    assert_eq!(shown("a `b"), "a <c>b</>");
    assert_eq!(shown("[a](https://x"), "a");
}

#[test]
fn emphasis_waits_for_a_bracket_only_as_long_as_the_bracket_may_be_a_link() {
    let limit = held_bytes_max(Size::new(20, 12));
    let far = "x".repeat(limit);
    let near = "x".repeat(limit - 5);
    check(&format!("_a [b_{near} [ {far}"), &format!("_a [b_{near} [ {far}"));
    check(&format!("_a [b_ {near} [ {far}"), &format!("<i>a [b</> {near} [ {far}"));
    check(&format!("_a [b_ {far}"), &format!("<i>a [b</> {far}"));
    check(&format!("a [*b* {far}"), &format!("a [<i>b</> {far}"));
}
