import { Page, type Item, type QueuedMessage } from "@millpond/client";
import { expect, test } from "vitest";
import { waitingMessages } from "./waiting-messages.ts";

test("a queued message disappears when the page shows its run, even if the queue still has it", () => {
  const queued: QueuedMessage[] = ["a", "b"].map((id) => ({ id, text: id, accepted_ms: 1 }));
  const page = new Page();
  expect(waitingMessages(queued, page)).toEqual(queued);
  page.items.set(0, { kind: "user", run: "a", text: "a" } as Item);
  expect(waitingMessages(queued, page)).toEqual([queued[1]]);
});
