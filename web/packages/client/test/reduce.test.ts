// Every `.patches` file in `fixtures/` is a golden of the engine; this page must come to the same.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NoPatch, Page, unitsOfBytes, type Patch, type Snapshot } from "../src/index.ts";

const FIXTURES = join(import.meta.dirname, "../../../../fixtures");

function goldens(): string[] {
  const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".patches"));
}

/** The page as the gateway would spell it. */
function spelt(page: Page): Snapshot {
  const items = Object.fromEntries(page.keys.map((key) => [key, without(page.items.get(key), "text", "")]));
  const spelt: Snapshot = { items: items as Snapshot["items"], settled: page.settled, status: page.status };
  if (page.overlay) spelt.overlay = page.overlay;
  if (page.label) spelt.label = page.label;
  if (page.asks.length) spelt.asks = page.asks;
  if (page.ended) spelt.ended = page.ended;
  return spelt;
}

function without(value: object | undefined, field: string, nothing: unknown): object {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name, value]) => name !== field || value !== nothing));
}

test("every fixture's patches make the engine's page, in every view", () => {
  const files = goldens();
  expect(files.length).toBeGreaterThan(200);
  for (const file of files) check(file);
});

function check(file: string): void {
  const pages = new Map<string, Page>();
  for (const line of readFileSync(join(FIXTURES, file), "utf8").split("\n").filter(Boolean)) {
    const [, view = "", whole, json = ""] = /^(\w+) (= )?(.*)$/.exec(line) ?? [];
    const page = pages.get(view) ?? new Page();
    pages.set(view, page);
    if (whole) {
      expect(spelt(page), `${file} ${view}`).toEqual(JSON.parse(json));
      expect(spelt(Page.of(JSON.parse(json) as Snapshot)), `${file} ${view}, taken whole`).toEqual(JSON.parse(json));
    } else page.apply(JSON.parse(json) as Patch);
  }
  expect(pages.size, file).toBe(5);
}

test("an item that comes late stands where its key says", () => {
  const page = new Page();
  for (const i of [3, 1, 2]) page.apply({ i, put: { kind: "text", run: "r", id: `m${i}`, state: "live" } });
  expect(page.keys).toEqual([1, 2, 3]);
  expect(page.apply({ i: 2, remove: true })).toEqual({ what: "removed", key: 2 });
  expect(page.keys).toEqual([1, 3]);
});

test("kept bytes are bytes, not units", () => {
  const page = new Page();
  page.apply({ i: 0, put: { kind: "text", run: "r", id: "m0", state: "live", text: "żółw 🐢 x" } });
  page.apply({ i: 0, keep: 12, t: "!" });
  expect(page.items.get(0)?.text).toBe("żółw 🐢!");
  expect([0, 1, 2, 3, 4].map((bytes) => unitsOfBytes("ż🐢", bytes))).toEqual([0, 0, 1, 1, 1]);
  expect(unitsOfBytes("ż🐢", 6)).toBe(3);
});

test("a patch that does not fit is told, not guessed", () => {
  expect(() => new Page().apply("text")).toThrow(NoPatch);
  expect(() => new Page().apply({ next: "text" })).toThrow(NoPatch);
  expect(new Page().apply({ i: 7, t: "nowhere" })).toEqual({ what: "nothing" });
});
