// Delay between draws, so that drawing takes only a share of the time.
// Invariant: a pure function; it reads no clock.

import { DRAW_DELAY_FACTOR, DRAW_DELAY_MS_MIN, LAYOUT_CHARACTERS_PER_MS } from "./limits.ts";

/** Milliseconds to wait after a draw that took `drawMs` and left an open block of `openCharacters`. */
export function delayAfterDraw(drawMs: number, openCharacters: number): number {
  // Layout happens after the draw, where it cannot be measured; its cost grows with the open block.
  const cost = drawMs + openCharacters / LAYOUT_CHARACTERS_PER_MS;
  return Math.max(DRAW_DELAY_MS_MIN, cost * DRAW_DELAY_FACTOR);
}
