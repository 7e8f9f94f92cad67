// Decides how long to wait before the next draw, so that drawing never takes more than a share of the time.
// Invariant: a pure policy; it reads no clock.

import { DRAW_REST_FACTOR, DRAW_REST_MS, LAYOUT_CHARACTERS_PER_MS } from "./limits.ts";

/** Milliseconds to rest after a draw that took `drawMs` and left an open block of `openCharacters`. */
export function restAfter(drawMs: number, openCharacters: number): number {
  // The browser lays the block out after the draw, where its cost cannot be measured; it grows with the block.
  const cost = drawMs + openCharacters / LAYOUT_CHARACTERS_PER_MS;
  return Math.max(DRAW_REST_MS, cost * DRAW_REST_FACTOR);
}
