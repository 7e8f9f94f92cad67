// Desktop notifications: a run has ended or needs an answer.

import type { Session, Snapshot } from "@millpond/client";
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

/** What a page says of the runs of a session. */
export interface RunsOnPage {
  run: string | null;
  page: Pick<Snapshot, "ended" | "items">;
}

/** Compares each session update with the last one and shows notifications. */
export class Notifier {
  private readonly seen = new Map<string, SeenSession>();

  constructor(
    private readonly isEnabled: () => boolean,
    private readonly strings: () => Strings,
    private readonly fetchPage: (session: string) => Promise<RunsOnPage>,
    private readonly show: (content: NotificationContent) => void = postNotification,
  ) {}

  /** Takes the current state of a session. The first update of a session never notifies; changes missed while disconnected do. */
  notifyOfChange({ id, title, run, asks = 0, head, deleted_ms }: Session): void {
    const before = this.seen.get(id);
    // Updates may arrive out of order.
    if (before && head < before.head) return;
    this.seen.set(id, { run, asks, head });
    if (!before || deleted_ms !== undefined || !this.isEnabled()) return;
    const { untitled, askNotification } = this.strings();
    // A short run may begin and end between two updates: only the log has grown.
    const hasEnded = before.run === null ? run === null && before.head < head : before.run !== run;
    if (before.asks < asks) this.show({ title: title || untitled, body: askNotification, session: id });
    else if (hasEnded) void this.notifyOfEnd(id, title, before.run);
  }

  /** A heartbeat with nothing to report leaves nothing on a page, not even its ending: it does not notify either. */
  private async notifyOfEnd(session: string, title: string, run: string | null): Promise<void> {
    const found = await this.fetchPage(session).catch(() => undefined);
    if (found && isSilent(found, run)) return;
    const { untitled, runEndedNotification } = this.strings();
    this.show({ title: title || untitled, body: runEndedNotification, session });
  }
}

/** True if the page does not know the run; without its id, if it shows no ending of the last one. */
function isSilent({ run: active, page }: RunsOnPage, ended: string | null): boolean {
  const isLastKnown = page.ended !== undefined && (ended === null || page.ended.run === ended);
  if (isLastKnown || (ended === null && active !== null)) return false;
  return !Object.values(page.items ?? {}).some(({ run }) => run === ended);
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
