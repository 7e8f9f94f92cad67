//! How text looks: one of the terminal's own sixteen colours, and attributes.

use std::ops::BitOr;

/// A colour of the terminal's palette: the person's theme decides what it looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Default,
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    White,
    BrightBlack,
    BrightRed,
    BrightGreen,
    BrightYellow,
    BrightBlue,
    BrightMagenta,
    BrightCyan,
    BrightWhite,
}

/// A set of attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(u8);

impl Attributes {
    pub const NONE: Attributes = Attributes(0);
    pub const BOLD: Attributes = Attributes(1);
    pub const DIM: Attributes = Attributes(1 << 1);
    pub const ITALIC: Attributes = Attributes(1 << 2);
    pub const UNDERLINE: Attributes = Attributes(1 << 3);
    pub const STRIKE: Attributes = Attributes(1 << 4);
    /// Black on white, or the other way round: a cursor of our own, a chosen line.
    pub const REVERSE: Attributes = Attributes(1 << 5);

    /// Each attribute with its SGR parameter.
    pub(crate) const CODES: [(Attributes, u8); 6] = [
        (Attributes::BOLD, 1),
        (Attributes::DIM, 2),
        (Attributes::ITALIC, 3),
        (Attributes::UNDERLINE, 4),
        (Attributes::REVERSE, 7),
        (Attributes::STRIKE, 9),
    ];

    pub fn contains(self, other: Attributes) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn without(self, other: Attributes) -> Attributes {
        Attributes(self.0 & !other.0)
    }
}

impl BitOr for Attributes {
    type Output = Attributes;
    fn bitor(self, other: Attributes) -> Attributes {
        Attributes(self.0 | other.0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pub colour: Colour,
    pub attributes: Attributes,
}

impl Style {
    pub const PLAIN: Style = Style { colour: Colour::Default, attributes: Attributes::NONE };
    pub const BOLD: Style = Style { colour: Colour::Default, attributes: Attributes::BOLD };
    pub const DIM: Style = Style { colour: Colour::Default, attributes: Attributes::DIM };

    #[must_use]
    pub const fn coloured(colour: Colour) -> Style {
        Style { colour, attributes: Attributes::NONE }
    }

    /// This style with more attributes.
    #[must_use]
    pub fn with(self, attributes: Attributes) -> Style {
        Style { attributes: self.attributes | attributes, ..self }
    }

    pub(crate) const fn with_const(self, attributes: Attributes) -> Style {
        Style { colour: self.colour, attributes: Attributes(self.attributes.0 | attributes.0) }
    }

    /// This style laid over another: attributes add up, a colour of its own wins.
    #[must_use]
    pub fn over(self, below: Style) -> Style {
        let colour = if self.colour == Colour::Default { below.colour } else { self.colour };
        Style { colour, attributes: self.attributes | below.attributes }
    }
}
