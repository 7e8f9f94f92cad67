// A line to the gateway that is kept: opened, watched, opened again.
//
// Half-open connections are the normal case on phones: a line on which nothing came for longer than
// the gateway is ever silent is dead, whatever the browser says.

import { EventParser, type ServerEvent } from "./events.ts";
import { Refused, type Gateway } from "./gateway.ts";

export type LineState = "connecting" | "open" | "waiting" | "refused" | "closed";

export interface LineEnds {
  /** The path and headers of the next attempt. */
  request(): { path: string; headers: Record<string, string> };
  event(event: ServerEvent): void;
  comment?(text: string): void;
  /** Why it was refused, for good or, while it is waiting, for now. */
  state(state: LineState, why?: Refused): void;
}

/** The gateway says something at least every 15 seconds. */
const SILENCE_MS_MAX = 35_000;
const RETRY_MS_FIRST = 250;
const RETRY_MS_MAX = 10_000;

export interface Clock {
  now(): number;
  later(work: () => void, ms: number): unknown;
  forget(timer: unknown): void;
  /** Between 0 and 1. */
  chance(): number;
}

export const realClock: Clock = {
  now: () => Date.now(),
  later: (work, ms) => setTimeout(work, ms),
  forget: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  chance: () => Math.random(),
};

export class Line {
  private attempt: AbortController | undefined;
  private failures = 0;
  private heardAt = 0;
  private timer: unknown;
  /** Whether it is kept open; one that was refused is opened again only by somebody who asks. */
  private kept: "no" | "yes" | "refused" = "no";

  constructor(
    private readonly gateway: Gateway,
    private readonly ends: LineEnds,
    private readonly clock: Clock = realClock,
  ) {}

  /** One that is open, or about to be, stays as it is. */
  open(): void {
    if (this.kept === "yes") return;
    void this.run();
  }

  close(): void {
    this.kept = "no";
    this.hangUp();
    this.ends.state("closed");
  }

  /** Opens the line again at once, unless something came on it just now. */
  refresh(silentForMs = 0): void {
    if (this.kept === "no" || this.clock.now() - this.heardAt < silentForMs) return;
    this.failures = 0;
    this.hangUp();
    void this.run();
  }

  /** Opens the line again after a pause: what came on it was of no use. */
  again(): void {
    if (this.attempt) this.pause(this.attempt);
  }

  private hangUp(): void {
    this.clock.forget(this.timer);
    this.attempt?.abort();
    this.attempt = undefined;
  }

  private async run(): Promise<void> {
    this.kept = "yes";
    const attempt = new AbortController();
    this.attempt = attempt;
    this.ends.state("connecting");
    this.heard();
    try {
      await this.follow(attempt);
      this.pause(attempt);
    } catch (error) {
      if (this.attempt !== attempt) return;
      if (error instanceof Refused && isFinal(error.status)) {
        this.hangUp();
        this.kept = "refused";
        this.ends.state("refused", error);
      } else this.pause(attempt, error instanceof Refused ? error : undefined);
    }
  }

  private async follow(attempt: AbortController): Promise<void> {
    const { path, headers } = this.ends.request();
    const body = await this.gateway.open(path, headers, attempt.signal);
    if (this.attempt !== attempt) return body.cancel();
    this.ends.state("open");
    const parser = new EventParser({
      event: (event) => this.attempt === attempt && this.ends.event(event),
      comment: (text) => this.attempt === attempt && this.ends.comment?.(text),
    });
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (this.attempt !== attempt) return reader.cancel();
      this.heard();
      parser.push(value);
      this.failures = 0;
    }
  }

  private heard(): void {
    this.heardAt = this.clock.now();
    this.clock.forget(this.timer);
    this.timer = this.clock.later(() => this.refresh(), SILENCE_MS_MAX);
  }

  private pause(attempt: AbortController, why?: Refused): void {
    if (this.kept === "no" || this.attempt !== attempt) return;
    this.hangUp();
    const pause = Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** this.failures);
    this.failures += 1;
    this.ends.state("waiting", why);
    this.timer = this.clock.later(() => void this.run(), pause * (0.5 + this.clock.chance() / 2));
  }
}

/** Asking again gets the same answer. */
function isFinal(status: number): boolean {
  return 400 <= status && status < 500 && status !== 408 && status !== 429;
}
