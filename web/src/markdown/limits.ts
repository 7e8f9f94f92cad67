// Limits of the Markdown renderer.

/** Longer code is not highlighted. */
export const HIGHLIGHT_CHARACTERS_MAX = 100_000;

/** Longer formulas are shown as their source. */
export const MATH_CHARACTERS_MAX = 4_000;

/** A display formula that is not closed within this many lines is not a formula. */
export const MATH_LINES_MAX = 200;

/** Macro expansions per formula. */
export const MATH_EXPANSIONS_MAX = 500;

/** Largest length in a formula, in em. */
export const MATH_SIZE_MAX = 20;

/** Formulas in the cache, so that a redrawn tail does not typeset them again. */
export const MATH_CACHE_MAX = 500;

/** Longer diagrams are shown as their source. */
export const DIAGRAM_CHARACTERS_MAX = 20_000;

/** Open syntax is closed only in inline content up to this length: closing scans all of it. */
export const CLOSE_CHARACTERS_MAX = 8_000;

/** An incomplete formula or table heading is held back up to this length. */
export const HELD_CHARACTERS_MAX = 400;

/** Text after a single `$` is held back up to this length; it may be an amount of money. */
export const HELD_DOLLAR_CHARACTERS_MAX = 60;

/** Unfinished items or rows of an open list or table. */
export const LIVE_ROWS_MAX = 6;

/** The parser ends a table after adding this many empty cells. */
export const TABLE_CELLS_MAX = 65_536;

/** Blocks per part; the browser lays out parts separately. */
export const BLOCKS_PER_PART = 32;

/** Minimum delay between draws: 25 per second look as smooth as 60 and cost less than half. */
export const DRAW_DELAY_MS_MIN = 40;

/** Delay after an expensive draw, as a multiple of its cost. */
export const DRAW_DELAY_FACTOR = 5;

/** Characters of an open block whose layout is estimated at one millisecond. */
export const LAYOUT_CHARACTERS_PER_MS = 8_000;
