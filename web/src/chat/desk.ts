// What a chat cannot do by itself: where it stands decides how it is sent, kept and told. Whoever only
// reads has none.

import type { Item } from "@millpond/client";
import type { Sent } from "./composer.ts";
import type { Draft } from "./draft.ts";

export interface Desk {
  /** Says whether it is kept, and will be sent. */
  send(session: string, sent: Sent): Promise<boolean>;
  drop(key: string): void;
  /** Always the same of a session. */
  draft(session: string): Draft;
  tell(words: string): void;
  /** Goes on from before this message, in a session of its own, with another. Says whether that is kept. */
  branch(session: string, from: Item, sent: Sent): Promise<boolean>;
}
