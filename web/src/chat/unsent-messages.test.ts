import { Page, type Item, type OutboxMessage } from "@millpond/client";
import { expect, test } from "vitest";
import { UnsentMessages } from "./unsent-messages.ts";

const message = (key: string, text: string): OutboxMessage => ({ key, session: "s", text, delay: "slow" });
const pageWith = (...texts: string[]) => {
  const page = new Page();
  texts.forEach((text, key) => page.items.set(key, { kind: "user", text } as Item));
  return page;
};

test("a message disappears when the page or the queue shows it, before its request has ended", () => {
  const unsent = new UnsentMessages();
  const outbox = [message("k1", "hello"), message("k2", "again")];
  expect(unsent.visible(outbox, pageWith("hello"), [])).toEqual(outbox);
  expect(unsent.visible(outbox, pageWith("hello"), [])).toEqual(outbox);
  expect(unsent.visible(outbox, pageWith("hello", "hello"), [])).toEqual([outbox[1]]);
  expect(unsent.visible(outbox, pageWith("hello", "hello"), [{ id: "q", text: "again", accepted_ms: 1 }])).toEqual([]);
});

test("an accepted message that was shown stays until the page or the queue shows it", () => {
  let now = 0;
  const unsent = new UnsentMessages(() => now);
  const [slow, fast] = [message("k1", "hello"), { ...message("k2", "again"), delay: undefined } as unknown as OutboxMessage];
  expect(unsent.visible([slow, fast], pageWith(), [])).toEqual([slow]);
  unsent.accept(slow, "r1");
  unsent.accept(fast, "r2");
  const kept = { ...slow, isAccepted: true };
  expect(unsent.visible([], pageWith(), [])).toEqual([kept]);
  expect(unsent.visible([], pageWith(), [{ id: "r1", text: "hello", accepted_ms: 1 }])).toEqual([]);
  expect(unsent.visible([], pageWith(), [])).toEqual([kept]);
  const page = pageWith();
  page.items.set(0, { kind: "user", run: "r1", text: "hello" } as Item);
  expect(unsent.visible([], page, [])).toEqual([]);
  expect(unsent.visible([], pageWith(), []), "it arrived").toEqual([]);
  unsent.visible([slow], pageWith(), []);
  unsent.accept(slow, "r3");
  now = 10_001;
  expect(unsent.visible([], pageWith(), []), "removed elsewhere").toEqual([]);
});

test("a message that joins a run is not kept: it has no run of its own", () => {
  const unsent = new UnsentMessages(() => 0);
  const joining = { ...message("k1", "hello"), join: true };
  unsent.visible([joining], pageWith(), []);
  unsent.accept(joining, "r1");
  expect(unsent.visible([], pageWith(), [])).toEqual([]);
});

test("a rejected message is shown until it is removed", () => {
  const unsent = new UnsentMessages();
  const rejected = { ...message("k1", "hello"), refused: { code: "bad_request", message: "no" } };
  unsent.visible([rejected], pageWith(), []);
  expect(unsent.visible([rejected], pageWith("hello"), [])).toEqual([rejected]);
});
