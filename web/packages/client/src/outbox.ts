// Durable outbox: messages not yet accepted by the gateway.
//
// Invariant: a message is stored before it is sent and removed only after the gateway has responded.
// Its idempotency key is fixed when it is stored, so sending it twice creates one message.

import { GatewayError, type GatewayClient } from "./gateway-client.ts";
import { systemClock, type Clock } from "./stream-connection.ts";

/** A stored message. */
export interface OutboxMessage {
  /** Idempotency key. */
  key: string;
  session: string;
  text: string;
  /** Digests of uploaded images. */
  attachments?: string[];
  join?: boolean;
  /** Set while sending takes longer than usual, or fails. */
  delay?: "slow" | "unreachable";
  /** Why the gateway rejected it; it is not sent again. */
  refused?: { code: string; message: string };
}

/** Storage that survives reloads. */
export interface OutboxStorage {
  read(): OutboxMessage[];
  write(messages: OutboxMessage[]): void;
}

/** Callbacks of the outbox. */
export interface OutboxHandlers {
  onChange(messages: readonly OutboxMessage[]): void;
  onAccepted(message: OutboxMessage, run: string): void;
  /** The user is signed out. Nothing is sent until the next `flush`. */
  onSignedOut?(why: GatewayError): void;
}

const MESSAGES_MAX = 100;
const RETRY_MS = 3_000;
/** Sending for longer than this sets `delay`. */
const SLOW_MS = 500;
/** A request is aborted after this time. */
const RESPONSE_MS_MAX = 30_000;

/** Sends stored messages, in order per session, with retries. */
export class Outbox {
  /** Sessions being flushed. Messages keep their order within a session; sessions do not wait for each other. */
  private readonly sendingSessions = new Set<string>();
  private readonly retryTimers = new Map<string, unknown>();

  constructor(
    private readonly gateway: GatewayClient,
    private readonly storage: OutboxStorage,
    private readonly handlers: OutboxHandlers,
    private readonly clock: Clock = systemClock,
  ) {}

  messages(): OutboxMessage[] {
    return this.storage.read();
  }

  /** Stores a message and starts sending. Returns false if the outbox is full or the storage kept nothing. */
  enqueue(message: OutboxMessage): boolean {
    const messages = this.messages();
    if (MESSAGES_MAX <= messages.length) return false;
    this.save([...messages, message]);
    // The storage may have dropped it (quota).
    if (!this.messages().some(({ key }) => key === message.key)) return false;
    void this.flushSession(message.session);
    return true;
  }

  remove(key: string): void {
    this.save(this.messages().filter((message) => message.key !== key));
  }

  /** Sends all messages that were not rejected. */
  async flush(): Promise<void> {
    const sessions = new Set(this.messages().map(({ session }) => session));
    await Promise.all([...sessions].map((session) => this.flushSession(session)));
  }

  /** Sends one session's messages in order; a rejected one does not block those after it. */
  private async flushSession(session: string): Promise<void> {
    if (this.sendingSessions.has(session)) return;
    this.sendingSessions.add(session);
    this.clock.clearTimer(this.retryTimers.get(session));
    try {
      for (let next = this.nextUnsent(session); next; next = this.nextUnsent(session)) await this.sendMessage(next);
    } catch (error) {
      if (error instanceof GatewayError && error.status === 401) this.handlers.onSignedOut?.(error);
      else this.retryTimers.set(session, this.clock.setTimer(() => void this.flushSession(session), RETRY_MS));
    } finally {
      this.sendingSessions.delete(session);
    }
  }

  private nextUnsent(session: string): OutboxMessage | undefined {
    return this.messages().find((message) => message.session === session && message.refused === undefined);
  }

  private async sendMessage(message: OutboxMessage): Promise<void> {
    const { key, session, text, attachments, join } = message;
    const timeout = new AbortController();
    const slowTimer = this.clock.setTimer(() => this.updateMessage(key, { delay: message.delay ?? "slow" }), SLOW_MS);
    const abortTimer = this.clock.setTimer(() => timeout.abort(), RESPONSE_MS_MAX);
    try {
      const { run } = await this.gateway.sendMessage(session, { text, ...(attachments && { attachments }), ...(join && { join }) }, key, timeout.signal);
      this.remove(key);
      this.handlers.onAccepted(message, run);
    } catch (error) {
      if (!(error instanceof GatewayError) || isRetryable(error.status)) {
        this.updateMessage(key, { delay: "unreachable" });
        throw error;
      }
      this.updateMessage(key, { refused: { code: error.code, message: error.message } });
    } finally {
      this.clock.clearTimer(slowTimer);
      this.clock.clearTimer(abortTimer);
    }
  }

  private updateMessage(key: string, changed: Partial<OutboxMessage>): void {
    this.save(this.messages().map((message) => (message.key === key ? { ...message, ...changed } : message)));
  }

  private save(messages: OutboxMessage[]): void {
    this.storage.write(messages);
    this.handlers.onChange(messages);
  }
}

function isRetryable(status: number): boolean {
  return status === 401 || status === 408 || status === 429 || 500 <= status;
}
