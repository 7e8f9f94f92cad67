// Tells a person who is elsewhere that a run has ended or waits for them.

import type { Session } from "@millpond/client";
import type { Words } from "../words/words.ts";

/** What the service worker is asked to show; it does not while one of our windows is seen. */
export interface Notice {
  title: string;
  body: string;
  session: string;
}

interface Heard {
  run: string | null;
  asks: number;
  head: number;
}

export class Notifier {
  private readonly known = new Map<string, Heard>();

  constructor(
    private readonly wanted: () => boolean,
    private readonly words: () => Words,
    private readonly show: (notice: Notice) => void = showNotice,
  ) {}

  /** A session as it is now. What happened while nobody listened is news, too; one not heard of before is not. */
  hear({ id, title, run, asks = 0, head, deleted_ms }: Session): void {
    const before = this.known.get(id);
    // An answer may be overtaken by what came after it.
    if (before && head < before.head) return;
    this.known.set(id, { run, asks, head });
    if (!before || deleted_ms !== undefined || !this.wanted()) return;
    const { untitled, notifyAsks, notifyEnded } = this.words();
    // Of one that was short only what it left in the log is heard.
    const isOver = before.run === null ? run === null && before.head < head : before.run !== run;
    if (before.asks < asks) this.show({ title: title || untitled, body: notifyAsks, session: id });
    else if (isOver) this.show({ title: title || untitled, body: notifyEnded, session: id });
  }
}

/** Pages of phones may not show any by themselves. */
function showNotice(notice: Notice): void {
  void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ notice }));
}

/** Asks the browser; says whether it lets us. */
export async function mayNotify(): Promise<boolean> {
  if (!("Notification" in globalThis) || !("serviceWorker" in navigator)) return false;
  return (await Notification.requestPermission()) === "granted";
}

/** Calls back with the session of a notice that was pressed. */
export function onNoticePressed(open: (session: string) => void): void {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ open?: string }>) => data.open && open(data.open));
}
