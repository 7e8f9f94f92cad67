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

test("a rejected message is shown until it is removed", () => {
  const unsent = new UnsentMessages();
  const rejected = { ...message("k1", "hello"), refused: { code: "bad_request", message: "no" } };
  unsent.visible([rejected], pageWith(), []);
  expect(unsent.visible([rejected], pageWith("hello"), [])).toEqual([rejected]);
});
