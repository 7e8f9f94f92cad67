// Queued messages that the page does not show yet. A queue that was fetched before its first message
// became a run may arrive after the page shows that message.

import type { Page, QueuedMessage } from "@millpond/client";

/** Returns the queued messages without those that the page shows; a message's run has its id. */
export function waitingMessages(queued: readonly QueuedMessage[], page: Page | undefined): readonly QueuedMessage[] {
  if (!queued.length || !page) return queued;
  const runs = new Set([...page.items.values()].map(({ run }) => run));
  return queued.filter(({ id }) => !runs.has(id));
}
