// One line for the news of all tabs: without TLS a browser has six to a gateway, for all of them.
// The tab that holds the lock has the line and passes on what it hears; when it goes, another does.
//
// Invariant: at most one tab leads. One that leads and says nothing is asleep, and loses the lead.

import { News, realClock, type Clock, type Gateway, type NewsEnds, type Session } from "@millpond/client";

type Told = { what: "session"; session: Session } | { what: "relist" } | { what: "beat" };

const NAME = "millpond.news";
/** The gateway says something at least every 15 seconds. */
const SILENCE_MS_MAX = 35_000;

export class SharedNews {
  private readonly news: News;
  private readonly canShare = "locks" in navigator && "BroadcastChannel" in globalThis;
  private channel: BroadcastChannel | undefined;
  /** Ends the wait for the lead, or the lead. */
  private leave: (() => void) | undefined;
  private isLeading = false;
  private heardAt = 0;
  private timer: unknown;

  constructor(
    gateway: Gateway,
    private readonly ends: NewsEnds,
    private readonly clock: Clock = realClock,
  ) {
    this.news = new News(
      gateway,
      {
        session: (session) => this.tellAll({ what: "session", session }),
        relist: () => this.tellAll({ what: "relist" }),
        beat: () => this.tellAll({ what: "beat" }),
        state: (state, why) => {
          ends.state?.(state, why);
          // The others find out for themselves.
          if (state === "refused") this.close();
        },
      },
      clock,
    );
  }

  /** Whether this tab is the one that hears first. */
  get leads(): boolean {
    return this.isLeading;
  }

  open(): void {
    if (this.channel || this.isLeading) return;
    if (!this.canShare) return this.lead();
    this.channel = new BroadcastChannel(NAME);
    this.channel.onmessage = ({ data }: MessageEvent<Told>) => this.hear(data);
    this.ask({});
    // Another that has the line says only what is new.
    void navigator.locks.query().then(() => this.isLeading || this.ends.relist());
  }

  close(): void {
    this.channel?.close();
    this.channel = undefined;
    this.leave?.();
    this.step();
  }

  refresh(silentForMs = 0): void {
    if (this.isLeading) this.news.refresh(silentForMs);
    else if (this.channel && SILENCE_MS_MAX <= this.clock.now() - this.heardAt) this.ask({ steal: true });
  }

  /** Waits to lead, and leads until it is left or taken over. */
  private ask(how: LockOptions): void {
    this.leave?.();
    const given = new AbortController();
    const over = new Promise<void>((done) => (this.leave = () => (given.abort(), done())));
    const options = how.steal ? how : { signal: given.signal };
    const held = navigator.locks.request(NAME, options, () => {
      if (given.signal.aborted) return undefined;
      this.lead();
      return over;
    });
    held.catch(() => {
      if (given.signal.aborted) return;
      this.step();
      this.ask({});
    });
    this.listen();
  }

  private lead(): void {
    this.clock.forget(this.timer);
    this.isLeading = true;
    this.news.open();
  }

  /** Out of the lead. */
  private step(): void {
    this.clock.forget(this.timer);
    if (this.isLeading) this.news.close();
    this.isLeading = false;
  }

  private listen(): void {
    this.heardAt = this.clock.now();
    this.clock.forget(this.timer);
    this.timer = this.clock.later(() => this.refresh(), SILENCE_MS_MAX);
  }

  private tellAll(told: Told): void {
    this.channel?.postMessage(told);
    this.pass(told);
  }

  private hear(told: Told): void {
    if (this.isLeading) return;
    this.listen();
    this.pass(told);
  }

  private pass(told: Told): void {
    if (told.what === "session") this.ends.session(told.session);
    else if (told.what === "relist") this.ends.relist();
  }
}
