// Reuses a session that was created for a message whose sending failed, so that retries do not create
// more sessions.

import { GatewayError, type Session } from "@millpond/client";

/** Sessions created for messages that are not sent yet. */
export class SessionReuse {
  private readonly unused = new Map<string, Session>();

  /**
   * Creates a session and sends into it; a retry with the same `key` takes the same session. Returns it,
   * or undefined if the message could not be stored.
   */
  async sendIntoNewSession(key: string, create: () => Promise<Session>, send: (session: Session) => Promise<boolean>): Promise<Session | undefined> {
    const session = this.unused.get(key) ?? (await create());
    this.unused.set(key, session);
    try {
      if (!(await send(session))) return undefined;
    } catch (error) {
      // The session was deleted: the next try needs a new one.
      if (error instanceof GatewayError && error.status === 404) this.unused.delete(key);
      throw error;
    }
    this.unused.delete(key);
    return session;
  }
}
