import { expect, test } from "vitest";
import { DRAW_REST_FACTOR, DRAW_REST_MS, LAYOUT_CHARACTERS_PER_MS } from "./limits.ts";
import { restAfter } from "./pace.ts";

test("drawing rests between draws, and takes no more than a share of the time where they are dear", () => {
  expect(restAfter(0, 0)).toBe(DRAW_REST_MS);
  expect(restAfter(DRAW_REST_MS / DRAW_REST_FACTOR, 0)).toBe(DRAW_REST_MS);
  expect(restAfter(20, 0)).toBe(20 * DRAW_REST_FACTOR);
  expect(restAfter(0, 20 * LAYOUT_CHARACTERS_PER_MS), "a block that takes long to lay out").toBe(20 * DRAW_REST_FACTOR);
});
