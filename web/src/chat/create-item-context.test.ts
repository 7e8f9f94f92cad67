import { GatewayClient } from "@millpond/client";
import { expect, test, vi } from "vitest";
import { en } from "../i18n/en.ts";
import { createItemContext } from "./create-item-context.ts";

test("a failed image download is retried after a while; a loaded image is not requested again", async () => {
  vi.useFakeTimers();
  let requests = 0;
  const fetch = async () => {
    if (++requests === 1) throw new TypeError("failed to fetch");
    return new Response("x");
  };
  const context = createItemContext(new GatewayClient({ token: "t", fetch }), { strings: en, session: "S", onEnlargeImage: () => {}, onCopied: () => {} });
  await expect(context.imageUrl("sha256:00")).rejects.toThrow("failed to fetch");
  await expect(context.imageUrl("sha256:00"), "not for every delta").rejects.toThrow("failed to fetch");
  expect(requests).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await context.imageUrl("sha256:00")).toMatch(/^blob:/);
  await context.imageUrl("sha256:00");
  expect(requests).toBe(2);
  context.dispose();
  vi.useRealTimers();
});
