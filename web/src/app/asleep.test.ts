import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openWhileSeen, type Kept } from "./asleep.ts";

class Seen extends EventTarget {
  visibilityState: DocumentVisibilityState = "visible";

  turn(state: DocumentVisibilityState): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

let seen: Seen;
beforeEach(() => {
  vi.useFakeTimers();
  seen = new Seen();
  vi.stubGlobal("document", seen);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function noting(): Kept & { did: string[] } {
  const did: string[] = [];
  return { did, open: () => did.push("open"), close: () => did.push("close"), refresh: () => did.push("refresh") };
}

function hideAndLook(between: () => void = () => {}): void {
  seen.turn("hidden");
  vi.advanceTimersByTime(10_000);
  between();
  seen.turn("visible");
}

test("what was closed is opened again, and only that, whatever was chosen meanwhile", () => {
  const line = noting();
  let notify = false;
  openWhileSeen(() => [line], () => notify);
  hideAndLook(() => (notify = true));
  expect(line.did).toEqual(["close", "open"]);
  hideAndLook(() => (notify = false));
  expect(line.did).toEqual(["close", "open", "refresh"]);
});

test("a line that another has taken the place of stays closed", () => {
  const [before, after] = [noting(), noting()];
  let line = before;
  openWhileSeen(() => [line]);
  hideAndLook(() => (line = after));
  expect([before.did, after.did]).toEqual([["close"], ["refresh"]]);
});
