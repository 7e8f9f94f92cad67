import { expect, test } from "vitest";
import { SessionReader, type Change, type ConnectionState } from "../src/index.ts";
import { ManualClock, fakeGateway, flushAsyncWork, writableResponse } from "./fakes.ts";

const SNAPSHOT =
  'event:snapshot\nid:c0\ndata:{"run":null,"protocol":2,"page":{"items":{"0":{"kind":"text","run":"r","id":"m0","state":"live","text":"Hel"}}}}\n\n';

function openReader(responses: (() => Response)[]) {
  const clock = new ManualClock();
  const changes: Change[] = [];
  const states: ConnectionState[] = [];
  const { gateway, requests } = fakeGateway((_, index) => {
    const respond = responses[index];
    if (!respond) throw new TypeError("failed to fetch");
    return respond();
  });
  const handlers = { onChange: (change: Change) => changes.push(change), onState: (state: ConnectionState) => states.push(state) };
  const reader = new SessionReader(gateway, "S", { view: "latest" }, handlers, clock);
  reader.open();
  return { reader, requests, clock, changes, states, text: () => reader.page.items.get(0)?.text };
}

test("a broken connection resumes after the last frame; a half-received frame is dropped", async () => {
  const first = writableResponse();
  const second = writableResponse();
  const { requests, clock, text, states } = openReader([() => first.response, () => second.response]);
  await flushAsyncWork();
  first.write(SNAPSHOT + 'id:c1\ndata:"lo"\n\nid:c2\ndata:" wor');
  await flushAsyncWork();
  expect(text()).toBe("Hello");
  first.break();
  await flushAsyncWork();
  expect(states).toEqual(["connecting", "open", "retrying"]);
  await clock.advance(250);
  expect(requests[1]?.headers["last-event-id"]).toBe("c1");
  second.write('event:stream\ndata:{"recovered":true,"epoch":0,"head":9}\n\nid:c2\ndata:" world"\n\n');
  await flushAsyncWork();
  expect(text()).toBe("Hello world");
});

test("a page that cannot be resumed is replaced by a snapshot", async () => {
  const first = writableResponse();
  const second = writableResponse();
  const { clock, text, changes } = openReader([() => first.response, () => second.response]);
  await flushAsyncWork();
  first.write(SNAPSHOT);
  await flushAsyncWork();
  first.end();
  await flushAsyncWork();
  await clock.advance(250);
  const replacement = SNAPSHOT.replace("Hel", "Hello, all of it").replace("c0", "d0");
  second.write('event:stream\ndata:{"recovered":false,"epoch":1,"head":9}\n\n' + replacement);
  await flushAsyncWork();
  expect(text()).toBe("Hello, all of it");
  expect(changes).toEqual([{ type: "replaced" }, { type: "replaced" }]);
});

test("after a patch that does not apply the reader requests a snapshot", async () => {
  const first = writableResponse();
  const second = writableResponse();
  const { requests, clock } = openReader([() => first.response, () => second.response]);
  await flushAsyncWork();
  first.write('id:c9\ndata:"to nothing"\n\n');
  await flushAsyncWork();
  expect(requests.length, "after a delay: it may fail again").toBe(1);
  await clock.advance(250);
  expect(requests.length).toBe(2);
  expect(requests[1]?.headers["last-event-id"]).toBeUndefined();
});

test("a silent connection is replaced after 35 seconds; heartbeats keep it", async () => {
  const first = writableResponse();
  const second = writableResponse();
  const { requests, clock } = openReader([() => first.response, () => second.response]);
  await flushAsyncWork();
  first.write(SNAPSHOT);
  await flushAsyncWork();
  for (let beat = 0; beat < 5; beat++) {
    await clock.advance(15_000);
    first.write(": head 3\n\n");
    await flushAsyncWork();
  }
  expect(requests.length).toBe(1);
  await clock.advance(35_000);
  expect(requests.length).toBe(2);
  expect(requests[0]?.signal?.aborted).toBe(true);
  expect(requests[1]?.headers["last-event-id"]).toBe("c0");
});

test("a connection whose heartbeat is behind the known head is replaced", async () => {
  const first = writableResponse();
  const { reader, requests } = openReader([() => first.response]);
  await flushAsyncWork();
  first.write(SNAPSHOT + ": head 3\n\n");
  await flushAsyncWork();
  reader.reconnectIfBehind(3);
  expect(requests.length).toBe(1);
  reader.reconnectIfBehind(4);
  expect(requests.length).toBe(2);
});

test("data of a replaced connection is ignored", async () => {
  const first = writableResponse();
  const second = writableResponse();
  const { reader, text } = openReader([() => first.response, () => second.response]);
  await flushAsyncWork();
  first.write(SNAPSHOT);
  await flushAsyncWork();
  reader.reconnect();
  await flushAsyncWork();
  first.write('id:c1\ndata:"lo"\n\n');
  second.write('id:c1\ndata:"lo"\n\n');
  await flushAsyncWork();
  expect(text()).toBe("Hello");
});

test("retries back off, and stop after a permanent error", async () => {
  const notFound = () => new Response('{"error":{"code":"not_found","message":"Nothing here."}}', { status: 404 });
  const networkError = () => Response.error();
  const { requests, clock, states } = openReader([networkError, networkError, networkError, notFound]);
  await flushAsyncWork();
  await clock.advance(250);
  await clock.advance(499);
  expect(requests.length).toBe(2);
  await clock.advance(1);
  expect(requests.length).toBe(3);
  await clock.advance(1_000);
  expect(states.at(-1)).toBe("refused");
  await clock.advance(100_000);
  expect(requests.length).toBe(4);
});
