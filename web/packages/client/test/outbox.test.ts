import { expect, test } from "vitest";
import { Outbox, type Letter } from "../src/index.ts";
import { HandClock, scripted, settled, type Call } from "./support.ts";

function sending(answer: (call: Call, place: number) => Response) {
  const clock = new HandClock();
  const { gateway, calls } = scripted(answer);
  let kept: Letter[] = [];
  const taken: string[] = [];
  const drawer = { read: () => kept, write: (letters: Letter[]) => void (kept = letters) };
  const ends = { changed: () => {}, taken: (letter: Letter, run: string) => taken.push(`${letter.key} ${run}`) };
  const outbox = new Outbox(gateway, drawer, ends, clock);
  return { outbox, calls, clock, taken, kept: () => kept };
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
  expect(kept()).toEqual([{ key: "a", session: "S", text: "bad", refused: "A message has some text." }]);
});

test("a full outbox says so", () => {
  const { outbox } = sending(() => {
    throw new TypeError("failed to fetch");
  });
  for (let n = 0; n < 100; n++) expect(outbox.put({ key: `${n}`, session: "S", text: "x" })).toBe(true);
  expect(outbox.put({ key: "x", session: "S", text: "x" })).toBe(false);
});
