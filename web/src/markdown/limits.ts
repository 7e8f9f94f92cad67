// Every bound of the markdown renderer, in one place.

/** Longer code is shown without colours. */
export const HIGHLIGHT_CHARACTERS_MAX = 100_000;

/** Longer formulas are shown as their source. */
export const MATH_CHARACTERS_MAX = 4_000;

/** A display formula that is not closed within so many lines is not a formula. */
export const MATH_LINES_MAX = 200;

/** Macro expansions of one formula. */
export const MATH_EXPANSIONS_MAX = 500;

/** Largest length a formula may ask for, in em. */
export const MATH_SIZE_MAX = 20;

/** Formulas kept rendered, so that a redrawn tail does not typeset them again. */
export const MATH_KEPT_MAX = 500;

/** Longer diagrams are shown as their source. */
export const DIAGRAM_CHARACTERS_MAX = 20_000;

/** Half-open syntax is closed only in leaves up to this size: closing costs a scan of the leaf. */
export const MEND_CHARACTERS_MAX = 8_000;

/** A half-open formula or table heading is held back no longer than this. */
export const HELD_CHARACTERS_MAX = 400;

/** A `$` without its partner is held back no longer than this, for it may be money after all. */
export const HELD_DOLLAR_CHARACTERS_MAX = 60;

/** An open list or table keeps at most so many items or rows unfinished. */
export const LIVE_ROWS_MAX = 6;

/** The parser ends a table once it has made up more cells than this. */
export const TABLE_CELLS_MAX = 65_536;

/** Blocks that stand together in one part of the page. */
export const BLOCKS_PER_PART = 32;

/** Every draw makes the next one wait so long: twenty-five a second read as smoothly as sixty and cost less than half. */
export const DRAW_REST_MS = 40;

/** How many times its own cost a dear draw makes the next one wait. */
export const DRAW_REST_FACTOR = 5;

/** Characters of one open block for which its layout is reckoned at a millisecond. */
export const LAYOUT_CHARACTERS_PER_MS = 8_000;
