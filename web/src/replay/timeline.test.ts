import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Page, VIEWS, type Patch, type View } from "@millpond/client";
import { Timeline, delayBefore, type ReplayEvent } from "./timeline.ts";

/** Events made from a golden of the engine, one patch each. */
function goldenEvents(): ReplayEvent[] {
  const file = join(import.meta.dirname, "../../../fixtures/anthropic/two-messages.patches");
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line && !/^\w+ = /.test(line));
  return lines.map((line, seq) => {
    const [, view = "", patch = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    return { seq, at_ms: seq * 100, run: "r1", event: "x", views: { [view]: [JSON.parse(patch) as Patch] } };
  });
}

test("a position shows the same pages however it was reached", () => {
  const events = goldenEvents();
  const pages = new Map<View, Page>();
  const timeline = new Timeline((view, page) => pages.set(view, page));
  events.forEach((event) => timeline.addEvent(event));
  const texts = () => JSON.stringify(VIEWS.map((view) => [...(pages.get(view)?.items ?? [])]));
  const forwards = events.map((_, index) => {
    timeline.seek(index + 1);
    return texts();
  });
  for (const index of [0, 5, 2, events.length - 1, 1, 7]) {
    timeline.seek(0);
    timeline.seek(index + 1);
    expect(texts(), `at ${index}`).toBe(forwards[index]);
    timeline.seek(events.length);
    timeline.seek(index + 1);
    expect(texts(), `back at ${index}`).toBe(forwards[index]);
  }
});

test("delays are those of the run, with an upper limit", () => {
  const at = (at_ms: number | null): ReplayEvent => ({ seq: 0, at_ms, run: "", event: "", views: {} });
  expect(delayBefore(at(150), at(100))).toBe(50);
  expect(delayBefore(at(100), at(150))).toBe(0);
  expect(delayBefore(at(99_000), at(0))).toBe(2_000);
  expect(delayBefore(at(null), at(0))).toBe(40);
  expect(delayBefore(at(5), undefined)).toBe(40);
});
