// Messages that were written and are not yet known to have been taken.
//
// Invariant: a message is in the outbox before it is sent and leaves it only when the gateway has
// answered. It carries its key from the beginning, so that sending it twice is one message.

import { Refused, type Gateway } from "./gateway.ts";
import { realClock, type Clock } from "./line.ts";

export interface Letter {
  key: string;
  session: string;
  text: string;
  /** Digests of pictures that have been uploaded. */
  attachments?: string[];
  join?: boolean;
  /** What a person may be told of one that is not away at once. */
  late?: "slow" | "unreachable";
  /** Why the gateway will not have it. */
  refused?: { code: string; message: string };
}

/** Where letters are kept over reloads. */
export interface Drawer {
  read(): Letter[];
  write(letters: Letter[]): void;
}

export interface OutboxEnds {
  changed(letters: readonly Letter[]): void;
  taken(letter: Letter, run: string): void;
  /** Nothing is sent any more until `flush`: whoever writes has to sign in first. */
  signedOut?(why: Refused): void;
}

const LETTERS_MAX = 100;
const RETRY_MS = 3_000;
/** Sending takes a moment; what takes longer than this is told. */
const SLOW_MS = 500;
/** An answer that takes longer does not come. */
const ANSWER_MS_MAX = 30_000;

export class Outbox {
  /** Sessions whose letters are being sent: each in its order, none held up by another. */
  private readonly busy = new Set<string>();
  private readonly timers = new Map<string, unknown>();

  constructor(
    private readonly gateway: Gateway,
    private readonly drawer: Drawer,
    private readonly ends: OutboxEnds,
    private readonly clock: Clock = realClock,
  ) {}

  letters(): Letter[] {
    return this.drawer.read();
  }

  /** Says whether there was room. */
  put(letter: Letter): boolean {
    const letters = this.letters();
    if (LETTERS_MAX <= letters.length) return false;
    this.write([...letters, letter]);
    // A drawer that keeps nothing has no room either.
    if (!this.letters().some(({ key }) => key === letter.key)) return false;
    void this.flushOf(letter.session);
    return true;
  }

  drop(key: string): void {
    this.write(this.letters().filter((letter) => letter.key !== key));
  }

  /** Sends what can be sent. */
  async flush(): Promise<void> {
    const sessions = new Set(this.letters().map(({ session }) => session));
    await Promise.all([...sessions].map((session) => this.flushOf(session)));
  }

  /** In order; one that is refused does not hold up those after it. */
  private async flushOf(session: string): Promise<void> {
    if (this.busy.has(session)) return;
    this.busy.add(session);
    this.clock.forget(this.timers.get(session));
    try {
      for (let next = this.next(session); next; next = this.next(session)) await this.sendOne(next);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) this.ends.signedOut?.(error);
      else this.timers.set(session, this.clock.later(() => void this.flushOf(session), RETRY_MS));
    } finally {
      this.busy.delete(session);
    }
  }

  private next(session: string): Letter | undefined {
    return this.letters().find((letter) => letter.session === session && letter.refused === undefined);
  }

  private async sendOne(letter: Letter): Promise<void> {
    const { key, session, text, attachments, join } = letter;
    const given = new AbortController();
    const slow = this.clock.later(() => this.change(key, { late: letter.late ?? "slow" }), SLOW_MS);
    const limit = this.clock.later(() => given.abort(), ANSWER_MS_MAX);
    try {
      const { run } = await this.gateway.sendMessage(session, { text, ...(attachments && { attachments }), ...(join && { join }) }, key, given.signal);
      this.drop(key);
      this.ends.taken(letter, run);
    } catch (error) {
      if (!(error instanceof Refused) || isPassing(error.status)) {
        this.change(key, { late: "unreachable" });
        throw error;
      }
      this.change(key, { refused: { code: error.code, message: error.message } });
    } finally {
      this.clock.forget(slow);
      this.clock.forget(limit);
    }
  }

  private change(key: string, changed: Partial<Letter>): void {
    this.write(this.letters().map((letter) => (letter.key === key ? { ...letter, ...changed } : letter)));
  }

  private write(letters: Letter[]): void {
    this.drawer.write(letters);
    this.ends.changed(letters);
  }
}

function isPassing(status: number): boolean {
  return status === 401 || status === 408 || status === 429 || 500 <= status;
}
