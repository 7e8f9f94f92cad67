// Answers of this person that are on their way.
//
// Invariant: an ask is busy from when it was answered here until the log says that it is settled, or
// the gateway that it did not take the answer. What others have answered is told, not shown as ours.

import { Refused, type Ask, type Gateway } from "@millpond/client";
import { reasonOf } from "../words/reason.ts";
import type { Words } from "../words/words.ts";
import { nameOf } from "./asks.ts";
import type { Desk } from "./desk.ts";
import { answerWords } from "../words/answers.ts";

export interface Asked {
  gateway: Gateway;
  words: Words;
  desk: Desk | undefined;
  requestUpdate(): void;
}

export class Answers {
  private readonly sent = new Set<string>();

  constructor(private readonly host: Asked) {}

  /** Another set whenever it is asked for: whoever shows it sees that it may have changed. */
  get busy(): ReadonlySet<string> {
    return new Set(this.sent);
  }

  async give(ask: Ask, answer: string): Promise<void> {
    const { gateway } = this.host;
    this.sent.add(nameOf(ask));
    this.host.requestUpdate();
    try {
      await gateway.answer(ask.run, ask.id, answer);
    } catch (error) {
      this.sent.delete(nameOf(ask));
      this.host.requestUpdate();
      this.tellWhy(error);
    }
  }

  /** An answer may end the run before another comes. */
  private tellWhy(error: unknown): void {
    const { desk, words } = this.host;
    const isLate = error instanceof Refused && (error.code === "answered_already" || error.code === "nobody_waits");
    desk?.tell(isLate ? words.answeredBefore : words.failed(reasonOf(error, words)));
  }

  settled(ask: { run: string; id: string; by: string; answer: string }): void {
    const { desk, words } = this.host;
    const isOurs = this.sent.delete(nameOf(ask));
    if (!isOurs && ask.by === "person") desk?.tell(words.answeredElsewhere(answerWords(ask.answer, words)));
  }

  /** The page was taken anew, with the asks that are open on it. */
  forget(): void {
    this.sent.clear();
  }
}
