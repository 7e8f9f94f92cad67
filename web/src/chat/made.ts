// Chats that were made for a message that did not get into them: the next try takes the same, so that
// however often it fails, one is made.

import { Refused, type Session } from "@millpond/client";

export class Made {
  private readonly unused = new Map<string, Session>();

  /** The chat that the message is in now; nothing if it is not kept. */
  async fill(name: string, make: () => Promise<Session>, send: (session: Session) => Promise<boolean>): Promise<Session | undefined> {
    const session = this.unused.get(name) ?? (await make());
    this.unused.set(name, session);
    try {
      if (!(await send(session))) return undefined;
    } catch (error) {
      // Deleted meanwhile: there is nothing to come back to.
      if (error instanceof Refused && error.status === 404) this.unused.delete(name);
      throw error;
    }
    this.unused.delete(name);
    return session;
  }
}
