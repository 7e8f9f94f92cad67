// Checks `Page` against the engine: every `.patches` file in `fixtures/` is a golden of both.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PatchError, Page, utf16LengthOfUtf8Prefix, type Patch, type Snapshot } from "../src/index.ts";

const FIXTURES = join(import.meta.dirname, "../../../../fixtures");

function patchFiles(): string[] {
  const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".patches"));
}

/** The page as the gateway encodes it. */
function toSnapshot(page: Page): Snapshot {
  const items = Object.fromEntries(page.keys.map((key) => [key, omitField(page.items.get(key), "text", "")]));
  const snapshot: Snapshot = { items: items as Snapshot["items"], settled: page.settled, status: page.status };
  if (page.overlay) snapshot.overlay = page.overlay;
  if (page.label) snapshot.label = page.label;
  if (page.asks.length) snapshot.asks = page.asks;
  if (page.ended) snapshot.ended = page.ended;
  return snapshot;
}

function omitField(value: object | undefined, field: string, emptyValue: unknown): object {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name, value]) => name !== field || value !== emptyValue));
}

test("the patches of every fixture make the engine's page, in every view", () => {
  const files = patchFiles();
  expect(files.length).toBeGreaterThan(200);
  for (const file of files) checkPatchFile(file);
});

function checkPatchFile(file: string): void {
  const pages = new Map<string, Page>();
  for (const line of readFileSync(join(FIXTURES, file), "utf8").split("\n").filter(Boolean)) {
    const [, view = "", whole, json = ""] = /^(\w+) (= )?(.*)$/.exec(line) ?? [];
    const page = pages.get(view) ?? new Page();
    pages.set(view, page);
    if (whole) {
      expect(toSnapshot(page), `${file} ${view}`).toEqual(JSON.parse(json));
      expect(toSnapshot(Page.fromSnapshot(JSON.parse(json) as Snapshot)), `${file} ${view}, from the snapshot`).toEqual(JSON.parse(json));
    } else page.apply(JSON.parse(json) as Patch);
  }
  expect(pages.size, file).toBe(5);
}

test("an item that arrives late is placed by its key", () => {
  const page = new Page();
  for (const i of [3, 1, 2]) page.apply({ i, put: { kind: "text", run: "r", id: `m${i}`, state: "live" } });
  expect(page.keys).toEqual([1, 2, 3]);
  expect(page.apply({ i: 2, remove: true })).toEqual({ type: "removed", key: 2 });
  expect(page.keys).toEqual([1, 3]);
});

test("`keep` counts UTF-8 bytes", () => {
  const page = new Page();
  page.apply({ i: 0, put: { kind: "text", run: "r", id: "m0", state: "live", text: "żółw 🐢 x" } });
  page.apply({ i: 0, keep: 12, t: "!" });
  expect(page.items.get(0)?.text).toBe("żółw 🐢!");
  expect([0, 1, 2, 3, 4].map((bytes) => utf16LengthOfUtf8Prefix("ż🐢", bytes))).toEqual([0, 0, 1, 1, 1]);
  expect(utf16LengthOfUtf8Prefix("ż🐢", 6)).toBe(3);
});

test("a patch that does not apply throws, or changes nothing", () => {
  expect(() => new Page().apply("text")).toThrow(PatchError);
  expect(() => new Page().apply({ next: "text" })).toThrow(PatchError);
  expect(new Page().apply({ i: 7, t: "nowhere" })).toEqual({ type: "none" });
});
