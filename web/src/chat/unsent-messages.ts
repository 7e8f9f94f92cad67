// Messages that the chat shows until the page or the queue does: those of the outbox, and those that left it a moment ago.
//
// Invariant: a message is not shown here once the page or the queue shows it. The response to a slow
// request can come after the message's item, or before it.

import type { OutboxMessage, Page, QueuedMessage } from "@millpond/client";

/** How long an accepted message is shown here at most: another reader may have removed it from the queue. */
const ACCEPTED_MS_MAX = 10_000;

/** A message that the chat shows below the page. */
export interface UnsentMessage extends OutboxMessage {
  /** The gateway has it: it can no longer be removed here. */
  isAccepted?: true;
}

/** An accepted message, which the page shows as run `run`. */
interface AcceptedMessage {
  message: OutboxMessage;
  run: string;
  acceptedMs: number;
}

/** Hides outbox messages that have arrived elsewhere, and keeps accepted ones until they have. */
export class UnsentMessages {
  /** By key: how often the message's text was shown elsewhere when it entered the outbox. */
  private readonly shownBefore = new Map<string, number>();
  /** Keys of the messages that were shown last. */
  private shownKeys = new Set<string>();
  private accepted: AcceptedMessage[] = [];

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Keeps a message that the gateway has accepted, if it was shown. One that joins a run has no run of its own. */
  accept(message: OutboxMessage, run: string): void {
    if (this.shownKeys.has(message.key) && !message.join) this.keepUntilShown(message, run);
  }

  /** Keeps a message whose run has begun until the page shows it. */
  keepUntilShown(message: OutboxMessage, run: string): void {
    if (!this.accepted.some((kept) => kept.run === run)) this.accepted.push({ message, run, acceptedMs: this.nowMs() });
  }

  /** Returns the messages to show, in order. */
  visible(outbox: readonly OutboxMessage[], page: Page | undefined, queued: readonly QueuedMessage[]): UnsentMessage[] {
    const keys = new Set(outbox.map(({ key }) => key));
    for (const key of this.shownBefore.keys()) if (!keys.has(key)) this.shownBefore.delete(key);
    const unsent = outbox.filter((message) => {
      const shown = countShown(message.text, page, queued);
      const before = this.shownBefore.get(message.key);
      if (before === undefined) this.shownBefore.set(message.key, shown);
      // A message that is sent at once is not shown.
      return message.refused !== undefined || (message.delay !== undefined && (before === undefined || shown <= before));
    });
    this.shownKeys = new Set(unsent.map(({ key }) => key));
    return [...this.acceptedElsewhere(page, queued), ...unsent];
  }

  /** Accepted messages that neither the page nor the queue shows. */
  private acceptedElsewhere(page: Page | undefined, queued: readonly QueuedMessage[]): UnsentMessage[] {
    if (!this.accepted.length) return [];
    const runs = new Set([...(page?.items.values() ?? [])].map(({ run }) => run));
    const oldest = this.nowMs() - ACCEPTED_MS_MAX;
    this.accepted = this.accepted.filter(({ run, acceptedMs }) => oldest < acceptedMs && !runs.has(run));
    const waiting = this.accepted.filter(({ run }) => !queued.some(({ id }) => id === run));
    return waiting.map(({ message }) => ({ ...message, isAccepted: true }));
  }
}

function countShown(text: string, page: Page | undefined, queued: readonly QueuedMessage[]): number {
  let count = queued.filter((message) => message.text === text).length;
  for (const item of page?.items.values() ?? []) if (item.kind === "user" && item.text === text) count += 1;
  return count;
}
