//! Text style: one of the terminal's sixteen colours, and attributes.

use std::ops::BitOr;

/// A colour of the terminal's palette, as the user's theme defines it.
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
    /// Swapped foreground and background, for selected rows.
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

/// Colour and attributes of text.
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
    pub fn with_attributes(self, attributes: Attributes) -> Style {
        Style { attributes: self.attributes | attributes, ..self }
    }

    pub(crate) const fn with_attributes_const(self, attributes: Attributes) -> Style {
        Style { colour: self.colour, attributes: Attributes(self.attributes.0 | attributes.0) }
    }

    /// Combines this style with the one below: attributes add up, this colour wins unless default.
    #[must_use]
    pub fn layered_over(self, below: Style) -> Style {
        let colour = if self.colour == Colour::Default { below.colour } else { self.colour };
        Style { colour, attributes: self.attributes | below.attributes }
    }
}
