// Desktop notifications: a run has ended or needs an answer.

import type { Session } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";

/** Request to the service worker, which shows it only if no window of the app is visible. */
export interface NotificationContent {
  title: string;
  body: string;
  session: string;
}

/** Last known state of a session. */
interface SeenSession {
  run: string | null;
  asks: number;
  head: number;
}

/** Compares each session update with the last one and shows notifications. */
export class Notifier {
  private readonly seen = new Map<string, SeenSession>();

  constructor(
    private readonly isEnabled: () => boolean,
    private readonly strings: () => Strings,
    private readonly show: (content: NotificationContent) => void = postNotification,
  ) {}

  /** Takes the current state of a session. The first update of a session never notifies; changes missed while disconnected do. */
  notifyOfChange({ id, title, run, asks = 0, head, deleted_ms }: Session): void {
    const before = this.seen.get(id);
    // Updates may arrive out of order.
    if (before && head < before.head) return;
    this.seen.set(id, { run, asks, head });
    if (!before || deleted_ms !== undefined || !this.isEnabled()) return;
    const { untitled, askNotification, runEndedNotification } = this.strings();
    // A short run may begin and end between two updates: only the log has grown.
    const hasEnded = before.run === null ? run === null && before.head < head : before.run !== run;
    if (before.asks < asks) this.show({ title: title || untitled, body: askNotification, session: id });
    else if (hasEnded) this.show({ title: title || untitled, body: runEndedNotification, session: id });
  }
}

/** Sends it to the service worker: pages on phones may not show notifications themselves. */
function postNotification(content: NotificationContent): void {
  void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ notice: content }));
}

/** Asks the browser for permission; returns true if granted. */
export async function requestNotificationPermission(): Promise<boolean> {
  if (!("Notification" in globalThis) || !("serviceWorker" in navigator)) return false;
  return (await Notification.requestPermission()) === "granted";
}

/** Calls `open` with the session of a clicked notification. */
export function onNotificationClick(open: (session: string) => void): void {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ open?: string }>) => data.open && open(data.open));
}
