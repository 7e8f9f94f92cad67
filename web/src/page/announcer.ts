// Screen reader announcements: whole sentences as they are completed, and status changes.

import type { Change, Page } from "@millpond/client";

/** End of a sentence. Text without one is announced when its item is done. */
const SENTENCE_END = /[.!?…。！？](?=["'”’)\]]*\s)|\n/g;
const FLUSH_INTERVAL_MS = 1000;

/** Writes announcements into an `aria-live` region. */
export class Announcer {
  /** Announced length of each item's text. */
  private readonly announced = new Map<number, { id: string; length: number }>();
  private pending: string[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly region: HTMLElement) {}

  /** Marks everything on the page as already announced. */
  reset(page: Page): void {
    this.announced.clear();
    for (const [key, { id, text }] of page.items) this.announced.set(key, { id, length: text?.length ?? 0 });
  }

  announceChange(change: Change, page: Page): void {
    if (change.type === "items") change.keys.forEach((key) => this.announceItem(key, page));
    else if (change.type === "appended" || change.type === "item") this.announceItem(change.key, page);
  }

  private announceItem(key: number, page: Page): void {
    const item = page.items.get(key);
    if (item?.kind !== "text" || !item.text) return;
    const announced = this.announced.get(key);
    // A different item under the same key starts from 0.
    const from = announced?.id === item.id ? Math.min(announced.length, item.text.length) : 0;
    const to = item.state === "live" ? lastSentenceEnd(item.text, from) : item.text.length;
    if (to <= from) return;
    this.announce(item.text.slice(from, to));
    this.announced.set(key, { id: item.id, length: to });
  }

  announce(text: string): void {
    if (!text.trim()) return;
    this.pending.push(text.trim());
    this.timer ??= setTimeout(() => this.flush(), FLUSH_INTERVAL_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private flush(): void {
    this.timer = undefined;
    const line = document.createElement("p");
    line.textContent = this.pending.join(" ");
    this.pending = [];
    // Replaces the previous announcement, so that the region does not grow.
    this.region.replaceChildren(line);
  }
}

/** End of the last complete sentence after `from`; `from` if there is none. */
function lastSentenceEnd(text: string, from: number): number {
  let end = from;
  for (const found of text.slice(from).matchAll(SENTENCE_END)) end = from + found.index + found[0].length;
  return end;
}
