import { expect, test } from "vitest";
import { Outbox, type Letter, type Refused } from "../src/index.ts";
import { HandClock, scripted, settled, type Call } from "./support.ts";

function sending(answer: (call: Call, place: number) => Response | Promise<Response>) {
  const clock = new HandClock();
  const { gateway, calls } = scripted(answer);
  let kept: Letter[] = [];
  const taken: string[] = [];
  const signedOut: number[] = [];
  const drawer = { read: () => kept, write: (letters: Letter[]) => void (kept = letters) };
  const ends = {
    changed: () => {},
    taken: (letter: Letter, run: string) => taken.push(`${letter.key} ${run}`),
    signedOut: ({ status }: Refused) => signedOut.push(status),
  };
  const outbox = new Outbox(gateway, drawer, ends, clock);
  return { outbox, calls, clock, taken, signedOut, kept: () => kept };
}

const yes = (run: string) => Response.json({ id: run, run }, { status: 202 });

test("what was written while there was no network goes out in order, with the same key", async () => {
  let online = false;
  const { outbox, calls, clock, taken, kept } = sending((_, place) => {
    if (!online) throw new TypeError("failed to fetch");
    return yes(`r${place}`);
  });
  outbox.put({ key: "a", session: "S", text: "one" });
  outbox.put({ key: "b", session: "S", text: "two", join: true });
  await settled();
  expect(kept().map(({ key }) => key)).toEqual(["a", "b"]);
  online = true;
  await clock.pass(3_000);
  expect(taken.map((line) => line.slice(0, 1))).toEqual(["a", "b"]);
  expect(kept()).toEqual([]);
  const keys = calls.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual(["a", "a", "b"].slice(-keys.length));
  expect(calls.at(-1)?.body).toEqual({ text: "two", join: true });
});

test("a message that is refused stays, says why, and holds up nobody", async () => {
  const { outbox, taken, kept } = sending((call) =>
    (call.body as { text: string }).text === "bad"
      ? Response.json({ error: { code: "bad_request", message: "A message has some text." } }, { status: 400 })
      : yes("r"),
  );
  outbox.put({ key: "a", session: "S", text: "bad" });
  outbox.put({ key: "b", session: "S", text: "good" });
  await settled();
  expect(taken).toEqual(["b r"]);
  expect(kept()).toEqual([{ key: "a", session: "S", text: "bad", refused: { code: "bad_request", message: "A message has some text." } }]);
});

test("a full outbox says so", () => {
  const { outbox } = sending(() => {
    throw new TypeError("failed to fetch");
  });
  for (let n = 0; n < 100; n++) expect(outbox.put({ key: `${n}`, session: "S", text: "x" })).toBe(true);
  expect(outbox.put({ key: "x", session: "S", text: "x" })).toBe(false);
});

/** An answer that never comes, until the request is given up. */
function never({ signal }: Call): Promise<Response> {
  return new Promise((_, failed) => signal?.addEventListener("abort", () => failed(new DOMException("given up", "AbortError"))));
}

test("a letter that is stuck holds up its own chat only, and is given up and tried again", async () => {
  let stuck = true;
  const { outbox, calls, clock, taken, kept } = sending((call) => (stuck && call.path.includes("/A/") ? never(call) : yes("r")));
  outbox.put({ key: "a1", session: "A", text: "one" });
  outbox.put({ key: "a2", session: "A", text: "two" });
  outbox.put({ key: "b1", session: "B", text: "other" });
  await settled();
  expect(taken).toEqual(["b1 r"]);
  expect(kept().map(({ late }) => late)).toEqual([undefined, undefined]);
  await clock.pass(500);
  expect(kept().map(({ late }) => late), "only then it is late").toEqual(["slow", undefined]);
  stuck = false;
  await clock.pass(30_000);
  expect(calls.filter(({ signal }) => signal?.aborted).length).toBe(1);
  expect(kept()[0]?.late).toBe("unreachable");
  await clock.pass(3_000);
  expect(taken).toEqual(["b1 r", "a1 r", "a2 r"]);
});

test("whoever is signed out is told once, and nothing is sent until they ask", async () => {
  let known = false;
  const no = () => Response.json({ error: { code: "unauthorized", message: "Who are you?" } }, { status: 401 });
  const { outbox, calls, clock, taken, signedOut, kept } = sending(() => (known ? yes("r") : no()));
  outbox.put({ key: "a", session: "S", text: "one" });
  await settled();
  await clock.pass(600_000);
  expect(signedOut).toEqual([401]);
  expect(calls.length).toBe(1);
  expect(kept().length).toBe(1);
  known = true;
  await outbox.flush();
  expect(taken).toEqual(["a r"]);
});
