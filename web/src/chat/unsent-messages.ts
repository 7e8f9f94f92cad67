// Messages of the outbox that the chat shows.
//
// Invariant: a message is not shown here once the page or the queue shows it. The response to a slow
// request can come after the message's item.

import type { OutboxMessage, Page, QueuedMessage } from "@millpond/client";

/** Hides outbox messages that have arrived elsewhere. */
export class UnsentMessages {
  /** By key: how often the message's text was shown elsewhere when it entered the outbox. */
  private readonly shownBefore = new Map<string, number>();

  /** Returns the messages to show, in order. */
  visible(outbox: readonly OutboxMessage[], page: Page | undefined, queued: readonly QueuedMessage[]): OutboxMessage[] {
    const keys = new Set(outbox.map(({ key }) => key));
    for (const key of this.shownBefore.keys()) if (!keys.has(key)) this.shownBefore.delete(key);
    return outbox.filter((message) => {
      const shown = countShown(message.text, page, queued);
      const before = this.shownBefore.get(message.key);
      if (before === undefined) this.shownBefore.set(message.key, shown);
      return message.refused !== undefined || before === undefined || shown <= before;
    });
  }
}

function countShown(text: string, page: Page | undefined, queued: readonly QueuedMessage[]): number {
  let count = queued.filter((message) => message.text === text).length;
  for (const item of page?.items.values() ?? []) if (item.kind === "user" && item.text === text) count += 1;
  return count;
}
