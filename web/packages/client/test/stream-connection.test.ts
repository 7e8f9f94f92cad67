import { expect, test } from "vitest";
import { StreamConnection, type ConnectionState } from "../src/index.ts";
import { ManualClock, fakeGateway, flushAsyncWork, writableResponse } from "./fakes.ts";

function connectTo(respond: (index: number) => Response | Promise<Response>) {
  const { gateway, requests } = fakeGateway((_, index) => respond(index));
  const clock = new ManualClock();
  const states: string[] = [];
  const onState = (state: ConnectionState, error?: { code: string }) => void states.push(error ? `${state} ${error.code}` : state);
  const connection = new StreamConnection(gateway, { nextRequest: () => ({ path: "/x", headers: {} }), onEvent: () => {}, onState }, clock);
  return { connection, requests, clock, states };
}

test("opening twice connects once, also while a retry is scheduled", async () => {
  const { connection, requests, clock } = connectTo((index) => {
    if (index === 0) throw new TypeError("failed to fetch");
    return writableResponse().response;
  });
  connection.open();
  connection.open();
  await flushAsyncWork();
  connection.open();
  await flushAsyncWork();
  expect(requests.length, "a retry is scheduled").toBe(1);
  await clock.advance(250);
  connection.open();
  await flushAsyncWork();
  expect(requests.length).toBe(2);
  connection.close();
  connection.open();
  expect(requests.length).toBe(3);
});

test("a response that arrives after close is cancelled", async () => {
  let cancelled = 0;
  let respond = (_: Response): void => {};
  const { connection } = connectTo(() => new Promise((resolve) => (respond = resolve)));
  connection.open();
  await flushAsyncWork();
  connection.close();
  respond(new Response(new ReadableStream({ cancel: () => void (cancelled += 1) })));
  await flushAsyncWork();
  expect(cancelled).toBe(1);
});

test("a temporary error is reported and retried", async () => {
  const full = () => Response.json({ error: { code: "theatre_full", message: "Full." } }, { status: 429 });
  const { connection, clock, states } = connectTo((index) => (index === 0 ? full() : writableResponse().response));
  connection.open();
  await flushAsyncWork();
  await clock.advance(250);
  expect(states).toEqual(["connecting", "retrying theatre_full", "connecting", "open"]);
});

test("an upload can be aborted", async () => {
  const { gateway, requests } = fakeGateway(() => Response.json({ digest: "sha256:00" }));
  const { signal } = new AbortController();
  await gateway.uploadFile("S", new Blob(["x"]), signal);
  expect(requests[0]?.signal).toBe(signal);
});
