// Server-sent event connection that reconnects by itself, with exponential backoff.
//
// Half-open connections are normal on phones: a connection that is silent for longer than the
// gateway ever is counts as dead, whatever the browser reports.

import { SseParser, type SseEvent } from "./sse-parser.ts";
import { GatewayError, type GatewayClient } from "./gateway-client.ts";

/** `retrying`: a new attempt is scheduled. `refused`: a permanent error; only `open` or `reconnect` tries again. */
export type ConnectionState = "connecting" | "open" | "retrying" | "refused" | "closed";

/** Callbacks of a connection. */
export interface ConnectionHandlers {
  /** Path and headers of the next attempt. */
  nextRequest(): { path: string; headers: Record<string, string> };
  onEvent(event: SseEvent): void;
  onComment?(text: string): void;
  /** `why` is set for `refused`, and for `retrying` after an error response. */
  onState(state: ConnectionState, why?: GatewayError): void;
}

/** Silence after which a connection counts as dead. The gateway sends something at least every 15 seconds. */
const SILENCE_MS_MAX = 35_000;
const RETRY_MS_FIRST = 250;
const RETRY_MS_MAX = 10_000;

/** Time, timers and randomness, replaceable in tests. */
export interface Clock {
  now(): number;
  setTimer(work: () => void, ms: number): unknown;
  clearTimer(timer: unknown): void;
  /** A number between 0 and 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (work, ms) => setTimeout(work, ms),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
};

/** One reconnecting event stream. */
export class StreamConnection {
  private currentAttempt: AbortController | undefined;
  private failures = 0;
  private lastActivityAt = 0;
  private timer: unknown;
  /** `open` reconnects by itself; `refused` waits for an explicit `open` or `reconnect`. */
  private mode: "closed" | "open" | "refused" = "closed";

  constructor(
    private readonly gateway: GatewayClient,
    private readonly handlers: ConnectionHandlers,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Connects; no effect if already open or about to be. */
  open(): void {
    if (this.mode === "open") return;
    void this.connect();
  }

  close(): void {
    this.mode = "closed";
    this.abortAttempt();
    this.handlers.onState("closed");
  }

  /** Reconnects at once, unless data arrived within the last `silentForMs`. */
  reconnect(silentForMs = 0): void {
    if (this.mode === "closed" || this.clock.now() - this.lastActivityAt < silentForMs) return;
    this.failures = 0;
    this.abortAttempt();
    void this.connect();
  }

  /** Reconnects after the backoff delay: the data received was unusable. */
  reconnectLater(): void {
    if (this.currentAttempt) this.scheduleRetry(this.currentAttempt);
  }

  private abortAttempt(): void {
    this.clock.clearTimer(this.timer);
    this.currentAttempt?.abort();
    this.currentAttempt = undefined;
  }

  private async connect(): Promise<void> {
    this.mode = "open";
    const attempt = new AbortController();
    this.currentAttempt = attempt;
    this.handlers.onState("connecting");
    this.noteActivity();
    try {
      await this.readStream(attempt);
      this.scheduleRetry(attempt);
    } catch (error) {
      if (this.currentAttempt !== attempt) return;
      if (error instanceof GatewayError && isPermanentError(error.status)) {
        this.abortAttempt();
        this.mode = "refused";
        this.handlers.onState("refused", error);
      } else this.scheduleRetry(attempt, error instanceof GatewayError ? error : undefined);
    }
  }

  private async readStream(attempt: AbortController): Promise<void> {
    const { path, headers } = this.handlers.nextRequest();
    const body = await this.gateway.openStream(path, headers, attempt.signal);
    if (this.currentAttempt !== attempt) return body.cancel();
    this.handlers.onState("open");
    const parser = new SseParser({
      event: (event) => this.currentAttempt === attempt && this.handlers.onEvent(event),
      comment: (text) => this.currentAttempt === attempt && this.handlers.onComment?.(text),
    });
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (this.currentAttempt !== attempt) return reader.cancel();
      this.noteActivity();
      parser.push(value);
      this.failures = 0;
    }
  }

  private noteActivity(): void {
    this.lastActivityAt = this.clock.now();
    this.clock.clearTimer(this.timer);
    this.timer = this.clock.setTimer(() => this.reconnect(), SILENCE_MS_MAX);
  }

  private scheduleRetry(attempt: AbortController, why?: GatewayError): void {
    if (this.mode === "closed" || this.currentAttempt !== attempt) return;
    this.abortAttempt();
    const delay = Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** this.failures);
    this.failures += 1;
    this.handlers.onState("retrying", why);
    this.timer = this.clock.setTimer(() => void this.connect(), delay * (0.5 + this.clock.random() / 2));
  }
}

/** True for statuses where a retry gets the same response. */
function isPermanentError(status: number): boolean {
  return 400 <= status && status < 500 && status !== 408 && status !== 429;
}
