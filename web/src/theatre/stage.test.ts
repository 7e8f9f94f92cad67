import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Page, VIEWS, type Patch, type View } from "@millpond/client";
import { Stage, pauseBefore, type Moment } from "./stage.ts";

/** A golden of the engine, a patch a moment. */
function moments(): Moment[] {
  const file = join(import.meta.dirname, "../../../fixtures/anthropic/two-messages.patches");
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line && !/^\w+ = /.test(line));
  return lines.map((line, seq) => {
    const [, view = "", patch = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    return { seq, at_ms: seq * 100, run: "r1", event: "x", views: { [view]: [JSON.parse(patch) as Patch] } };
  });
}

test("any moment looks the same however it was come to", () => {
  const all = moments();
  const pages = new Map<View, Page>();
  const stage = new Stage((view, page) => pages.set(view, page));
  all.forEach((moment) => stage.add(moment));
  const texts = () => JSON.stringify(VIEWS.map((view) => [...(pages.get(view)?.items ?? [])]));
  const forwards = all.map((_, place) => {
    stage.goTo(place + 1);
    return texts();
  });
  for (const place of [0, 5, 2, all.length - 1, 1, 7]) {
    stage.goTo(0);
    stage.goTo(place + 1);
    expect(texts(), `at ${place}`).toBe(forwards[place]);
    stage.goTo(all.length);
    stage.goTo(place + 1);
    expect(texts(), `back at ${place}`).toBe(forwards[place]);
  }
});

test("pauses are those of the run, and never long", () => {
  const at = (at_ms: number | null): Moment => ({ seq: 0, at_ms, run: "", event: "", views: {} });
  expect(pauseBefore(at(150), at(100))).toBe(50);
  expect(pauseBefore(at(100), at(150))).toBe(0);
  expect(pauseBefore(at(99_000), at(0))).toBe(2_000);
  expect(pauseBefore(at(null), at(0))).toBe(40);
  expect(pauseBefore(at(5), undefined)).toBe(40);
});
