//! Removal of indentation, counted in columns: a tab may be removed in part.

use millpond_engine::markdown::Position;

const TAB: usize = 4;

/// Returns `line` from `from` on, without its first columns of white space, at most `columns` of
/// them.
pub(super) fn strip_indent_columns(line: &str, from: Position, columns: usize) -> String {
    let Position { mut bytes, mut column, mut spare } = from;
    let mut left = columns;
    while left > 0 {
        if spare > 0 {
            let used = spare.min(left);
            spare -= used;
            column += used;
            left -= used;
            continue;
        }
        spare = match line.as_bytes().get(bytes) {
            Some(b' ') => 1,
            Some(b'\t') => TAB - column % TAB,
            _ => break,
        };
        bytes += 1;
    }
    let mut content = " ".repeat(spare);
    content.push_str(line.get(bytes..).unwrap_or_default());
    content
}
