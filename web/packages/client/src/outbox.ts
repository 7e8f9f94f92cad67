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
  join?: boolean;
  /** Why the gateway will not have it. */
  refused?: string;
}

/** Where letters are kept over reloads. */
export interface Drawer {
  read(): Letter[];
  write(letters: Letter[]): void;
}

export interface OutboxEnds {
  changed(letters: readonly Letter[]): void;
  taken(letter: Letter, run: string): void;
}

const LETTERS_MAX = 100;
const RETRY_MS = 3_000;

export class Outbox {
  private sending = false;
  private timer: unknown;

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
    void this.flush();
    return true;
  }

  drop(key: string): void {
    this.write(this.letters().filter((letter) => letter.key !== key));
  }

  /** Sends what can be sent, in order; one that is refused does not hold up the others. */
  async flush(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    this.clock.forget(this.timer);
    try {
      for (let next = this.next(); next; next = this.next()) await this.sendOne(next);
    } catch {
      this.timer = this.clock.later(() => void this.flush(), RETRY_MS);
    } finally {
      this.sending = false;
    }
  }

  private next(): Letter | undefined {
    return this.letters().find((letter) => letter.refused === undefined);
  }

  private async sendOne(letter: Letter): Promise<void> {
    const { key, session, text, join } = letter;
    try {
      const { run } = await this.gateway.sendMessage(session, { text, ...(join && { join }) }, key);
      this.drop(key);
      this.ends.taken(letter, run);
    } catch (error) {
      if (!(error instanceof Refused) || isPassing(error.status)) throw error;
      this.refuse(key, error.message);
    }
  }

  private refuse(key: string, refused: string): void {
    this.write(this.letters().map((letter) => (letter.key === key ? { ...letter, refused } : letter)));
  }

  private write(letters: Letter[]): void {
    this.drawer.write(letters);
    this.ends.changed(letters);
  }
}

function isPassing(status: number): boolean {
  return status === 401 || status === 408 || status === 429 || 500 <= status;
}
