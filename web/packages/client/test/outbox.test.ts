import { expect, test } from "vitest";
import { Outbox, type OutboxMessage, type GatewayError } from "../src/index.ts";
import { ManualClock, fakeGateway, flushAsyncWork, type RecordedRequest } from "./fakes.ts";

function openOutbox(respond: (request: RecordedRequest, index: number) => Response | Promise<Response>) {
  const clock = new ManualClock();
  const { gateway, requests } = fakeGateway(respond);
  let stored: OutboxMessage[] = [];
  const acceptedKeys: string[] = [];
  const signedOut: number[] = [];
  const storage = { read: () => stored, write: (messages: OutboxMessage[]) => void (stored = messages) };
  const handlers = {
    onChange: () => {},
    onAccepted: (message: OutboxMessage, run: string) => acceptedKeys.push(`${message.key} ${run}`),
    onSignedOut: ({ status }: GatewayError) => signedOut.push(status),
  };
  const outbox = new Outbox(gateway, storage, handlers, clock);
  return { outbox, requests, clock, acceptedKeys, signedOut, stored: () => stored };
}

const accepted = (run: string) => Response.json({ id: run, run }, { status: 202 });

test("messages written offline are sent in order, with the same key", async () => {
  let online = false;
  const { outbox, requests, clock, acceptedKeys, stored } = openOutbox((_, index) => {
    if (!online) throw new TypeError("failed to fetch");
    return accepted(`r${index}`);
  });
  outbox.enqueue({ key: "a", session: "S", text: "one" });
  outbox.enqueue({ key: "b", session: "S", text: "two", join: true });
  await flushAsyncWork();
  expect(stored().map(({ key }) => key)).toEqual(["a", "b"]);
  online = true;
  await clock.advance(3_000);
  expect(acceptedKeys.map((line) => line.slice(0, 1))).toEqual(["a", "b"]);
  expect(stored()).toEqual([]);
  const keys = requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual(["a", "a", "b"].slice(-keys.length));
  expect(requests.at(-1)?.body).toEqual({ text: "two", join: true });
});

test("a rejected message stays with its reason and does not block the next", async () => {
  const { outbox, acceptedKeys, stored } = openOutbox((request) =>
    (request.body as { text: string }).text === "bad"
      ? Response.json({ error: { code: "bad_request", message: "A message has some text." } }, { status: 400 })
      : accepted("r"),
  );
  outbox.enqueue({ key: "a", session: "S", text: "bad" });
  outbox.enqueue({ key: "b", session: "S", text: "good" });
  await flushAsyncWork();
  expect(acceptedKeys).toEqual(["b r"]);
  expect(stored()).toEqual([{ key: "a", session: "S", text: "bad", refused: { code: "bad_request", message: "A message has some text." } }]);
});

test("a full outbox rejects messages", () => {
  const { outbox } = openOutbox(() => {
    throw new TypeError("failed to fetch");
  });
  for (let n = 0; n < 100; n++) expect(outbox.enqueue({ key: `${n}`, session: "S", text: "x" })).toBe(true);
  expect(outbox.enqueue({ key: "x", session: "S", text: "x" })).toBe(false);
});

/** A response that never comes; rejects when the request is aborted. */
function hangUntilAborted({ signal }: RecordedRequest): Promise<Response> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))));
}

test("a stuck message blocks only its own session, and is aborted and retried", async () => {
  let stuck = true;
  const { outbox, requests, clock, acceptedKeys, stored } = openOutbox((request) => (stuck && request.path.includes("/A/") ? hangUntilAborted(request) : accepted("r")));
  outbox.enqueue({ key: "a1", session: "A", text: "one" });
  outbox.enqueue({ key: "a2", session: "A", text: "two" });
  outbox.enqueue({ key: "b1", session: "B", text: "other" });
  await flushAsyncWork();
  expect(acceptedKeys).toEqual(["b1 r"]);
  expect(stored().map(({ delay }) => delay)).toEqual([undefined, undefined]);
  await clock.advance(500);
  expect(stored().map(({ delay }) => delay), "only then it counts as slow").toEqual(["slow", undefined]);
  stuck = false;
  await clock.advance(30_000);
  expect(requests.filter(({ signal }) => signal?.aborted).length).toBe(1);
  expect(stored()[0]?.delay).toBe("unreachable");
  await clock.advance(3_000);
  expect(acceptedKeys).toEqual(["b1 r", "a1 r", "a2 r"]);
});

test("signing out is reported once, and nothing is sent until the next flush", async () => {
  let signedIn = false;
  const unauthorized = () => Response.json({ error: { code: "unauthorized", message: "Not signed in." } }, { status: 401 });
  const { outbox, requests, clock, acceptedKeys, signedOut, stored } = openOutbox(() => (signedIn ? accepted("r") : unauthorized()));
  outbox.enqueue({ key: "a", session: "S", text: "one" });
  await flushAsyncWork();
  await clock.advance(600_000);
  expect(signedOut).toEqual([401]);
  expect(requests.length).toBe(1);
  expect(stored().length).toBe(1);
  signedIn = true;
  await outbox.flush();
  expect(acceptedKeys).toEqual(["a r"]);
});
