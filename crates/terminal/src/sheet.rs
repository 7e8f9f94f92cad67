//! What rows are put on: a screen that can be drawn on, or something that only takes lines.

use std::io::{self, Stdout, stdout};

use crate::limits::REST_AFTER_RESIZE;
use crate::links::Links;
use crate::page::Look;
use crate::place::{can_draw, place, size};
use crate::plain::Plain;
use crate::row::Row;
use crate::screen::{Cursor, Features, Frame, Leave, Screen};
use crate::size::Size;

#[derive(Debug)]
pub enum Sheet {
    Screen { screen: Box<Screen<Stdout>>, links: Links },
    Plain(Plain<Stdout>),
}

impl Sheet {
    /// Standard output as it is: lines where nothing can be drawn, also where the terminal does not
    /// say where its cursor stands.
    pub fn of_stdout(variable: impl Fn(&str) -> Option<String>) -> Sheet {
        if can_draw(&variable)
            && let Ok((size, row)) = place()
        {
            let screen = Screen::new(stdout(), size, row, Features::detect(&variable));
            let screen = Box::new(screen);
            return Sheet::Screen { screen, links: Links::detect(&variable) };
        }
        Sheet::Plain(Plain::new(stdout()))
    }

    pub fn look(&self) -> Look {
        match self {
            Sheet::Screen { screen, links } => Look { size: screen.size(), links: *links },
            Sheet::Plain(_) => Look { size: Size::UNBOUNDED, links: Links::Spelled },
        }
    }

    /// Puts settled rows down for good, and live ones below them if it can.
    pub fn draw(&mut self, settled: &[Row], live: &[Row]) -> io::Result<()> {
        match self {
            Sheet::Screen { screen, .. } => {
                let row = live.len().saturating_sub(1);
                let col = live.last().map_or(0, Row::width);
                screen.draw(Frame { settled, live, cursor: Cursor::At { row, col } })
            }
            Sheet::Plain(plain) => plain.write(settled),
        }
    }

    /// Whether live rows are seen at all.
    pub fn shows_live(&self) -> bool {
        matches!(self, Sheet::Screen { .. })
    }

    /// Takes note of another size once it has come to rest; gives how many live rows have scrolled
    /// away with it.
    pub fn resized(&mut self) -> io::Result<Option<usize>> {
        let Sheet::Screen { screen, .. } = self else { return Ok(None) };
        let mut last = size()?;
        if last == screen.size() {
            return Ok(None);
        }
        loop {
            std::thread::sleep(REST_AFTER_RESIZE);
            let now = size()?;
            if now == last {
                break;
            }
            last = now;
        }
        let (size, row) = place()?;
        Ok(Some(screen.resize(size, row).scrolled_away))
    }

    /// Leaves nothing behind but what is settled.
    pub fn leave(self) -> io::Result<()> {
        match self {
            Sheet::Screen { screen, .. } => screen.leave(Leave::Erase).map(drop),
            Sheet::Plain(plain) => plain.finish().map(drop),
        }
    }
}
