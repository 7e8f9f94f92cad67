import { expect, test } from "vitest";
import { DRAW_DELAY_FACTOR, DRAW_DELAY_MS_MIN, LAYOUT_CHARACTERS_PER_MS } from "./limits.ts";
import { delayAfterDraw } from "./draw-delay.ts";

test("expensive draws are followed by longer delays", () => {
  expect(delayAfterDraw(0, 0)).toBe(DRAW_DELAY_MS_MIN);
  expect(delayAfterDraw(DRAW_DELAY_MS_MIN / DRAW_DELAY_FACTOR, 0)).toBe(DRAW_DELAY_MS_MIN);
  expect(delayAfterDraw(20, 0)).toBe(20 * DRAW_DELAY_FACTOR);
  expect(delayAfterDraw(0, 20 * LAYOUT_CHARACTERS_PER_MS), "a block with expensive layout").toBe(20 * DRAW_DELAY_FACTOR);
});
