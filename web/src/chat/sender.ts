// Sends composed messages: uploads images, creates the session if needed, then enqueues in the outbox.
//
// Invariant: the caller learns whether the message was stored and keeps its draft until then. Retries
// create at most one session.

import { Outbox, type GatewayClient, type Item, type OutboxHandlers, type OutboxMessage, type OutboxStorage, type Session } from "@millpond/client";
import type { ComposedMessage } from "./composer.ts";
import { uploadImagesOf } from "./image-upload.ts";
import { SessionReuse } from "./session-reuse.ts";

export interface SenderHandlers extends OutboxHandlers {
  onOutboxFull(): void;
}

/** Sends messages to existing sessions, new sessions and branches. */
export class MessageSender {
  private readonly outbox: Outbox;
  private readonly sessionReuse = new SessionReuse();

  constructor(
    private readonly gateway: GatewayClient,
    storage: OutboxStorage,
    private readonly handlers: SenderHandlers,
  ) {
    this.outbox = new Outbox(gateway, storage, handlers);
  }

  outboxMessages(): OutboxMessage[] {
    return this.outbox.messages();
  }

  removeFromOutbox(key: string): void {
    this.outbox.remove(key);
  }

  /** Retries all messages in the outbox. */
  flush(): void {
    void this.outbox.flush();
  }

  /** Returns false if the outbox is full. */
  async send(session: string, message: ComposedMessage): Promise<boolean> {
    const isStored = this.outbox.enqueue(await uploadImagesOf(this.gateway, session, message));
    if (!isStored) this.handlers.onOutboxFull();
    return isStored;
  }

  /** Creates a session and sends into it; returns undefined if the message could not be stored. */
  sendAsNewSession(title: string, message: ComposedMessage): Promise<Session | undefined> {
    return this.sessionReuse.sendIntoNewSession("", () => this.gateway.createSession(title), ({ id }) => this.send(id, message));
  }

  /** Branches before `original` and sends there; returns undefined if the message could not be stored. */
  async sendAsBranch(session: string, original: Item, message: ComposedMessage): Promise<Session | undefined> {
    const { branchBeforeMessage } = await import("../actions/branch.ts");
    const create = () => branchBeforeMessage(this.gateway, session, original);
    return this.sessionReuse.sendIntoNewSession(`${session} ${original.run} ${original.id}`, create, ({ id }) => this.send(id, { ...message, join: false }));
  }
}
