// Answers to asks that this tab has sent and that are not confirmed yet.
//
// Invariant: an ask is pending from the moment it is answered here until the log resolves it or the
// gateway rejects the answer. Answers given elsewhere are reported, not shown as pending.

import { GatewayError, type Ask, type ResolvedAsk, type GatewayClient } from "@millpond/client";
import { answerText } from "../i18n/ask-text.ts";
import { errorText } from "../i18n/error-text.ts";
import type { Strings } from "../i18n/strings.ts";
import { askKey } from "./asks.ts";
import type { ChatHost } from "./chat-host.ts";

/** The element that shows the asks. */
export interface AnswerHost {
  gateway: GatewayClient;
  strings: Strings;
  host: ChatHost | undefined;
  requestUpdate(): void;
}

/** Sends answers and tracks which asks are pending. */
export class PendingAnswers {
  private readonly sentKeys = new Set<string>();

  constructor(private readonly owner: AnswerHost) {}

  /** Keys of pending asks; a new set each time, so that a Lit property detects the change. */
  get pendingKeys(): ReadonlySet<string> {
    return new Set(this.sentKeys);
  }

  async submit(ask: Ask, answer: string): Promise<void> {
    const { gateway } = this.owner;
    this.sentKeys.add(askKey(ask));
    this.owner.requestUpdate();
    try {
      await gateway.answerAsk(ask.run, ask.id, answer);
    } catch (error) {
      this.sentKeys.delete(askKey(ask));
      this.owner.requestUpdate();
      this.reportFailure(error);
    }
  }

  private reportFailure(error: unknown): void {
    const { host, strings } = this.owner;
    // Another answer came first, or ended the run.
    const isTooLate = error instanceof GatewayError && (error.code === "answered_already" || error.code === "nobody_waits");
    host?.notify(isTooLate ? strings.alreadyAnswered : strings.actionFailed(errorText(error, strings)));
  }

  /** Removes a resolved ask; notifies the user if it was answered elsewhere. */
  resolveAsk(resolution: ResolvedAsk): void {
    const { host, strings } = this.owner;
    const isOurs = this.sentKeys.delete(askKey(resolution));
    if (!isOurs && resolution.by === "person") host?.notify(strings.answeredElsewhere(answerText(resolution.answer, strings)));
  }

  /** Forgets all pending answers, after a new snapshot with its own asks. */
  clear(): void {
    this.sentKeys.clear();
  }
}
