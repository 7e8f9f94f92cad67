import type { Letter } from "@millpond/client";
import { afterEach, expect, test, vi } from "vitest";

/** A browser that keeps so many characters. */
function keeping(room: number, kept = new Map<string, string>()) {
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    removeItem: (name: string) => kept.delete(name),
    setItem: (name: string, text: string) => {
      if (room < text.length) throw new DOMException("full", "QuotaExceededError");
      kept.set(name, text);
    },
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test("a refusal that the browser has no room for is known while the page is open", async () => {
  const letter: Letter = { key: "a", session: "S", text: "hello" };
  keeping(JSON.stringify([letter]).length);
  const { letters } = await import("./kept.ts");
  letters.write([letter]);
  const refused = { ...letter, refused: { code: "bad_request", message: "No." } };
  letters.write([refused]);
  expect(letters.read()).toEqual([refused]);
});

test("a letter that an older page kept says why it was refused", async () => {
  keeping(1000, new Map([["millpond.letters", JSON.stringify([{ key: "a", session: "S", text: "x", refused: "Too long." }])]]));
  const { letters } = await import("./kept.ts");
  expect(letters.read()).toEqual([{ key: "a", session: "S", text: "x", refused: { code: "", message: "Too long." } }]);
});
