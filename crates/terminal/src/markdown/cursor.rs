//! A place in a line that counts columns: a tab may be used up in part.

const TAB: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    at: usize,
    col: usize,
    /// Columns of a tab that has been used up in part.
    spare: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Cursor<'a> {
        Cursor { line, at: 0, col: 0, spare: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn spare(&self) -> usize {
        self.spare
    }

    /// Columns of white space here.
    pub(super) fn indent(&self) -> usize {
        let mut col = self.col + self.spare;
        for byte in self.rest().bytes() {
            match byte {
                b' ' => col += 1,
                b'\t' => col += TAB - col % TAB,
                _ => break,
            }
        }
        col - self.col
    }

    /// Nothing but white space follows.
    pub(super) fn is_blank(&self) -> bool {
        self.rest().trim_start_matches([' ', '\t']).is_empty()
    }

    /// Passes at most so many columns of white space.
    pub(super) fn skip(&mut self, cols: usize) {
        let mut left = cols;
        while left > 0 {
            if self.spare > 0 {
                let used = self.spare.min(left);
                self.spare -= used;
                self.col += used;
                left -= used;
                continue;
            }
            match self.rest().bytes().next() {
                Some(b' ') => self.spare = 1,
                Some(b'\t') => self.spare = TAB - self.col % TAB,
                _ => return,
            }
            self.at += 1;
        }
    }

    /// Passes so many bytes that are one column each.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.at += bytes;
        self.col += bytes;
    }
}
