// Interface of a chat to its host (the app or an embedding page): sending, drafts, notifications.
// A read-only chat has no host.

import type { Item } from "@millpond/client";
import type { ComposedMessage } from "./composer.ts";
import type { Draft } from "./draft.ts";

export interface ChatHost {
  /** Queues the message for sending; returns false if it could not be stored. */
  send(session: string, message: ComposedMessage): Promise<boolean>;
  removeFromOutbox(key: string): void;
  /** The draft of a session; always the same object. */
  draftFor(session: string): Draft;
  /** Shows a short message to the user. */
  notify(text: string): void;
  /** Branches the session before `original` and sends `message` there; returns false if it could not be stored. */
  sendAsBranch(session: string, original: Item, message: ComposedMessage): Promise<boolean>;
}
