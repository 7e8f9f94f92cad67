// One session list stream shared by all tabs. Without TLS a browser allows six connections per origin.
// The tab that holds a web lock (the leader) has the connection and broadcasts what it receives.
//
// Invariant: at most one tab leads. A silent leader is suspended; another tab steals its lock.

import { SessionListStream, systemClock, type Clock, type GatewayClient, type SessionListHandlers, type Session } from "@millpond/client";

/** Tabs of different versions share the channel: do not rename these fields. */
type BroadcastMessage = { what: "session"; session: Session } | { what: "relist" } | { what: "beat" };

/** Name of the broadcast channel and of the lock. */
const CHANNEL_NAME = "millpond.news";
/** The gateway sends something at least every 15 seconds. */
const SILENCE_MS_MAX = 35_000;

/** Session list stream of one tab: its own if it leads, else that of the leader. */
export class SharedSessionStream {
  private readonly stream: SessionListStream;
  private readonly canShare = "locks" in navigator && "BroadcastChannel" in globalThis;
  private channel: BroadcastChannel | undefined;
  /** Stops waiting for the lock, or releases it. */
  private releaseLock: (() => void) | undefined;
  private isLeading = false;
  private lastMessageAt = 0;
  private silenceTimer: unknown;

  constructor(
    gateway: GatewayClient,
    private readonly handlers: SessionListHandlers,
    private readonly clock: Clock = systemClock,
  ) {
    this.stream = new SessionListStream(
      gateway,
      {
        onSession: (session) => this.broadcast({ what: "session", session }),
        onRelist: () => this.broadcast({ what: "relist" }),
        onHeartbeat: () => this.broadcast({ what: "beat" }),
        onState: (state, why) => {
          handlers.onState?.(state, why);
          // Each other tab gets the same refusal when it leads.
          if (state === "refused") this.close();
        },
      },
      clock,
    );
  }

  /** True if this tab has the connection. */
  get isLeader(): boolean {
    return this.isLeading;
  }

  open(): void {
    if (this.channel || this.isLeading) return;
    if (!this.canShare) return this.startLeading();
    this.channel = new BroadcastChannel(CHANNEL_NAME);
    this.channel.onmessage = ({ data }: MessageEvent<BroadcastMessage>) => this.receiveBroadcast(data);
    this.requestLock({});
    // A leader in another tab broadcasts only new changes.
    void navigator.locks.query().then(() => this.isLeading || this.handlers.onRelist());
  }

  close(): void {
    this.channel?.close();
    this.channel = undefined;
    this.releaseLock?.();
    this.stopLeading();
  }

  reconnect(silentForMs = 0): void {
    if (this.isLeading) this.stream.reconnect(silentForMs);
    else if (this.channel && SILENCE_MS_MAX <= this.clock.now() - this.lastMessageAt) this.requestLock({ steal: true });
  }

  /** Waits for the lock and leads until it is released or stolen. */
  private requestLock(how: LockOptions): void {
    this.releaseLock?.();
    const released = new AbortController();
    const untilReleased = new Promise<void>((done) => (this.releaseLock = () => (released.abort(), done())));
    const options = how.steal ? how : { signal: released.signal };
    const held = navigator.locks.request(CHANNEL_NAME, options, () => {
      if (released.signal.aborted) return undefined;
      this.startLeading();
      return untilReleased;
    });
    held.catch(() => {
      if (released.signal.aborted) return;
      this.stopLeading();
      this.requestLock({});
    });
    this.restartSilenceTimer();
  }

  private startLeading(): void {
    this.clock.clearTimer(this.silenceTimer);
    this.isLeading = true;
    this.stream.open();
  }

  private stopLeading(): void {
    this.clock.clearTimer(this.silenceTimer);
    if (this.isLeading) this.stream.close();
    this.isLeading = false;
  }

  private restartSilenceTimer(): void {
    this.lastMessageAt = this.clock.now();
    this.clock.clearTimer(this.silenceTimer);
    this.silenceTimer = this.clock.setTimer(() => this.reconnect(), SILENCE_MS_MAX);
  }

  private broadcast(message: BroadcastMessage): void {
    this.channel?.postMessage(message);
    this.deliver(message);
  }

  private receiveBroadcast(message: BroadcastMessage): void {
    if (this.isLeading) return;
    this.restartSilenceTimer();
    this.deliver(message);
  }

  private deliver(message: BroadcastMessage): void {
    if (message.what === "session") this.handlers.onSession(message.session);
    else if (message.what === "relist") this.handlers.onRelist();
  }
}
