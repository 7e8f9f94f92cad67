import { expect, test } from "vitest";
import { Reader, type Change, type LineState } from "../src/index.ts";
import { HandClock, scripted, settled, written } from "./support.ts";

const SNAPSHOT =
  'event:snapshot\nid:c0\ndata:{"run":null,"picture":{"items":{"0":{"kind":"text","run":"r","id":"m0","state":"live","text":"Hel"}}}}\n\n';

function reading(answers: (() => Response)[]) {
  const clock = new HandClock();
  const changes: Change[] = [];
  const states: LineState[] = [];
  const { gateway, calls } = scripted((_, place) => {
    const answer = answers[place];
    if (!answer) throw new TypeError("failed to fetch");
    return answer();
  });
  const ends = { change: (change: Change) => changes.push(change), state: (state: LineState) => states.push(state) };
  const reader = new Reader(gateway, "S", { view: "latest" }, ends, clock);
  reader.open();
  return { reader, calls, clock, changes, states, text: () => reader.page.items.get(0)?.text };
}

test("a line that breaks is resumed at the last frame, and what was half said is not said", async () => {
  const first = written();
  const second = written();
  const { calls, clock, text, states } = reading([() => first.response, () => second.response]);
  await settled();
  first.write(SNAPSHOT + 'id:c1\ndata:"lo"\n\nid:c2\ndata:" wor');
  await settled();
  expect(text()).toBe("Hello");
  first.break();
  await settled();
  expect(states).toEqual(["connecting", "open", "waiting"]);
  await clock.pass(250);
  expect(calls[1]?.headers["last-event-id"]).toBe("c1");
  second.write('event:stream\ndata:{"recovered":true,"epoch":0,"head":9}\n\nid:c2\ndata:" world"\n\n');
  await settled();
  expect(text()).toBe("Hello world");
});

test("a page that cannot be recovered is taken anew, whole", async () => {
  const first = written();
  const second = written();
  const { clock, text, changes } = reading([() => first.response, () => second.response]);
  await settled();
  first.write(SNAPSHOT);
  await settled();
  first.end();
  await settled();
  await clock.pass(250);
  const anew = SNAPSHOT.replace("Hel", "Hello, all of it").replace("c0", "d0");
  second.write('event:stream\ndata:{"recovered":false,"epoch":1,"head":9}\n\n' + anew);
  await settled();
  expect(text()).toBe("Hello, all of it");
  expect(changes).toEqual([{ what: "everything" }, { what: "everything" }]);
});

test("a patch that does not fit makes the reader take the page anew", async () => {
  const first = written();
  const second = written();
  const { calls, clock } = reading([() => first.response, () => second.response]);
  await settled();
  first.write('id:c9\ndata:"to nothing"\n\n');
  await settled();
  expect(calls.length, "not at once: it might never fit").toBe(1);
  await clock.pass(250);
  expect(calls.length).toBe(2);
  expect(calls[1]?.headers["last-event-id"]).toBeUndefined();
});

test("a silent line is dead after 35 seconds; heartbeats keep it", async () => {
  const first = written();
  const second = written();
  const { calls, clock } = reading([() => first.response, () => second.response]);
  await settled();
  first.write(SNAPSHOT);
  await settled();
  for (let beat = 0; beat < 5; beat++) {
    await clock.pass(15_000);
    first.write(": head 3\n\n");
    await settled();
  }
  expect(calls.length).toBe(1);
  await clock.pass(35_000);
  expect(calls.length).toBe(2);
  expect(calls[0]?.signal?.aborted).toBe(true);
  expect(calls[1]?.headers["last-event-id"]).toBe("c0");
});

test("a line whose heartbeat is behind what others saw is opened again", async () => {
  const first = written();
  const { reader, calls } = reading([() => first.response]);
  await settled();
  first.write(SNAPSHOT + ": head 3\n\n");
  await settled();
  reader.expectHead(3);
  expect(calls.length).toBe(1);
  reader.expectHead(4);
  expect(calls.length).toBe(2);
});

test("what an old line still says after a new one was opened is not heard", async () => {
  const first = written();
  const second = written();
  const { reader, text } = reading([() => first.response, () => second.response]);
  await settled();
  first.write(SNAPSHOT);
  await settled();
  reader.refresh();
  await settled();
  first.write('id:c1\ndata:"lo"\n\n');
  second.write('id:c1\ndata:"lo"\n\n');
  await settled();
  expect(text()).toBe("Hello");
});

test("attempts come less and less often, and a refusal is the last", async () => {
  const no = () => new Response('{"error":{"code":"not_found","message":"Nothing here."}}', { status: 404 });
  const gone = () => Response.error();
  const { calls, clock, states } = reading([gone, gone, gone, no]);
  await settled();
  await clock.pass(250);
  await clock.pass(499);
  expect(calls.length).toBe(2);
  await clock.pass(1);
  expect(calls.length).toBe(3);
  await clock.pass(1_000);
  expect(states.at(-1)).toBe("refused");
  await clock.pass(100_000);
  expect(calls.length).toBe(4);
});
