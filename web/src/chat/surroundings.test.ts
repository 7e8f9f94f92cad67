import { Gateway } from "@millpond/client";
import { expect, test, vi } from "vitest";
import { en } from "../words/en.ts";
import { aroundOf } from "./surroundings.ts";

test("a picture that did not come is asked for again after a while, one that came is not", async () => {
  vi.useFakeTimers();
  let asked = 0;
  const fetch = async () => {
    if (++asked === 1) throw new TypeError("failed to fetch");
    return new Response("x");
  };
  const around = aroundOf(new Gateway({ token: "t", fetch }), { words: en, session: "S", openLarge: () => {}, copied: () => {} });
  await expect(around.picture("sha256:00")).rejects.toThrow("failed to fetch");
  await expect(around.picture("sha256:00"), "not with every word").rejects.toThrow("failed to fetch");
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await around.picture("sha256:00")).toMatch(/^blob:/);
  await around.picture("sha256:00");
  expect(asked).toBe(2);
  around.dispose();
  vi.useRealTimers();
});
