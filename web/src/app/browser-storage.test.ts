import type { OutboxMessage } from "@millpond/client";
import { afterEach, expect, test, vi } from "vitest";

/** Stubs a local storage that holds at most `capacity` characters per key. */
function stubStorage(capacity: number, items = new Map<string, string>()) {
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => items.get(name) ?? null,
    removeItem: (name: string) => items.delete(name),
    setItem: (name: string, text: string) => {
      if (capacity < text.length) throw new DOMException("full", "QuotaExceededError");
      items.set(name, text);
    },
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test("a rejection that does not fit into storage is kept while the page is open", async () => {
  const message: OutboxMessage = { key: "a", session: "S", text: "hello" };
  stubStorage(JSON.stringify([message]).length);
  const { outboxStorage } = await import("./browser-storage.ts");
  outboxStorage.write([message]);
  const refused = { ...message, refused: { code: "bad_request", message: "No." } };
  outboxStorage.write([refused]);
  expect(outboxStorage.read()).toEqual([refused]);
});

test("a message stored by an older version keeps its rejection reason", async () => {
  stubStorage(1000, new Map([["millpond.letters", JSON.stringify([{ key: "a", session: "S", text: "x", refused: "Too long." }])]]));
  const { outboxStorage } = await import("./browser-storage.ts");
  expect(outboxStorage.read()).toEqual([{ key: "a", session: "S", text: "x", refused: { code: "", message: "Too long." } }]);
});
