import { expect, test } from "vitest";
import { Line, type LineState } from "../src/index.ts";
import { HandClock, scripted, settled, written } from "./support.ts";

function lineTo(answer: (place: number) => Response | Promise<Response>) {
  const { gateway, calls } = scripted((_, place) => answer(place));
  const clock = new HandClock();
  const told: string[] = [];
  const state = (state: LineState, why?: { code: string }) => void told.push(why ? `${state} ${why.code}` : state);
  const line = new Line(gateway, { request: () => ({ path: "/x", headers: {} }), event: () => {}, state }, clock);
  return { line, calls, clock, told };
}

test("a line that is open, or waits to be, is opened once", async () => {
  const { line, calls, clock } = lineTo((place) => {
    if (place === 0) throw new TypeError("failed to fetch");
    return written().response;
  });
  line.open();
  line.open();
  await settled();
  line.open();
  await settled();
  expect(calls.length, "it waits").toBe(1);
  await clock.pass(250);
  line.open();
  await settled();
  expect(calls.length).toBe(2);
  line.close();
  line.open();
  expect(calls.length).toBe(3);
});

test("an answer that comes when nobody waits for it any more is not left to run", async () => {
  let cancelled = 0;
  let answer = (_: Response): void => {};
  const { line } = lineTo(() => new Promise((done) => (answer = done)));
  line.open();
  await settled();
  line.close();
  answer(new Response(new ReadableStream({ cancel: () => void (cancelled += 1) })));
  await settled();
  expect(cancelled).toBe(1);
});

test("whoever is sent away for now is told why, and tries again", async () => {
  const full = () => Response.json({ error: { code: "theatre_full", message: "Full." } }, { status: 429 });
  const { line, clock, told } = lineTo((place) => (place === 0 ? full() : written().response));
  line.open();
  await settled();
  await clock.pass(250);
  expect(told).toEqual(["connecting", "waiting theatre_full", "connecting", "open"]);
});

test("an upload can be given up", async () => {
  const { gateway, calls } = scripted(() => Response.json({ digest: "sha256:00" }));
  const { signal } = new AbortController();
  await gateway.upload("S", new Blob(["x"]), signal);
  expect(calls[0]?.signal).toBe(signal);
});
