// What was written, on its way: its pictures first, then the message, and before both, where it needs
// one, the chat that it goes to.
//
// Invariant: whoever wrote it is told whether it is kept, and until it is has it still; however often
// that fails, one chat is made for it.

import { Outbox, type Drawer, type Gateway, type Item, type Letter, type OutboxEnds, type Session } from "@millpond/client";
import type { Sent } from "./composer.ts";
import { Made } from "./made.ts";
import { letterOf } from "./shown.ts";

export interface PostEnds extends OutboxEnds {
  /** There is no room for another message. */
  full(): void;
}

export class Post {
  private readonly outbox: Outbox;
  private readonly made = new Made();

  constructor(
    private readonly gateway: Gateway,
    drawer: Drawer,
    private readonly ends: PostEnds,
  ) {
    this.outbox = new Outbox(gateway, drawer, ends);
  }

  letters(): Letter[] {
    return this.outbox.letters();
  }

  drop(key: string): void {
    this.outbox.drop(key);
  }

  /** Sends what waited until it could be. */
  flush(): void {
    void this.outbox.flush();
  }

  /** Says whether it is kept. */
  async send(session: string, sent: Sent): Promise<boolean> {
    const taken = this.outbox.put(await letterOf(this.gateway, session, sent));
    if (!taken) this.ends.full();
    return taken;
  }

  /** The chat that it begins; nothing if it is not kept. */
  begin(title: string, sent: Sent): Promise<Session | undefined> {
    return this.made.fill("", () => this.gateway.createSession(title), ({ id }) => this.send(id, sent));
  }

  /** The chat that goes on with it from before this message; nothing if it is not kept. */
  async branch(session: string, from: Item, sent: Sent): Promise<Session | undefined> {
    const { branchBefore } = await import("../doing/branch.ts");
    const make = () => branchBefore(this.gateway, session, from);
    return this.made.fill(`${session} ${from.run} ${from.id}`, make, ({ id }) => this.send(id, { ...sent, join: false }));
  }
}
