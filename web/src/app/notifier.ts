// Tells a person who is elsewhere that a run has ended or waits for them.

import type { Session } from "@millpond/client";
import type { Words } from "../words/words.ts";

export class Notifier {
  private readonly known = new Map<string, { run: string | null; asks: number }>();

  constructor(
    private readonly wanted: () => boolean,
    private readonly words: () => Words,
    private readonly open: (session: string) => void,
  ) {}

  /** Sessions as they are: only what happens from now on is news. */
  begin(sessions: readonly Session[]): void {
    for (const { id, run, asks = 0 } of sessions) this.known.set(id, { run, asks });
  }

  hear({ id, title, run, asks = 0 }: Session): void {
    const before = this.known.get(id);
    this.known.set(id, { run, asks });
    if (!before) return;
    if (before.asks < asks) this.tell(id, title, this.words().notifyAsks);
    else if (before.run && !run) this.tell(id, title, this.words().notifyEnded);
  }

  private tell(session: string, title: string, body: string): void {
    if (!this.wanted() || document.visibilityState === "visible" || Notification.permission !== "granted") return;
    const notification = new Notification(title || this.words().untitled, { body, tag: session });
    notification.onclick = () => {
      focus();
      this.open(session);
      notification.close();
    };
  }
}

/** Asks the browser; says whether it lets us. */
export async function mayNotify(): Promise<boolean> {
  if (!("Notification" in globalThis)) return false;
  return (await Notification.requestPermission()) === "granted";
}
