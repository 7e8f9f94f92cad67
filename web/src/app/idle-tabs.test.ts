import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pauseWhileHidden, type PausableConnection } from "./idle-tabs.ts";

class FakeDocument extends EventTarget {
  visibilityState: DocumentVisibilityState = "visible";

  setVisibility(state: DocumentVisibilityState): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

let fakeDocument: FakeDocument;
beforeEach(() => {
  vi.useFakeTimers();
  fakeDocument = new FakeDocument();
  vi.stubGlobal("document", fakeDocument);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function recordingConnection(): PausableConnection & { calls: string[] } {
  const calls: string[] = [];
  return { calls, open: () => calls.push("open"), close: () => calls.push("close"), reconnect: () => calls.push("reconnect") };
}

function hideAndShow(whileHidden: () => void = () => {}): void {
  fakeDocument.setVisibility("hidden");
  vi.advanceTimersByTime(10_000);
  whileHidden();
  fakeDocument.setVisibility("visible");
}

test("only what was closed is opened again, whatever the preference is by then", () => {
  const connection = recordingConnection();
  let notify = false;
  pauseWhileHidden(() => [connection], () => notify);
  hideAndShow(() => (notify = true));
  expect(connection.calls).toEqual(["close", "open"]);
  hideAndShow(() => (notify = false));
  expect(connection.calls).toEqual(["close", "open", "reconnect"]);
});

test("a connection that was replaced while paused stays closed", () => {
  const [before, after] = [recordingConnection(), recordingConnection()];
  let connection = before;
  pauseWhileHidden(() => [connection]);
  hideAndShow(() => (connection = after));
  expect([before.calls, after.calls]).toEqual([["close"], ["reconnect"]]);
});
