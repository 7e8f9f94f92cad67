// What a screen reader says of a run: whole sentences as they end, not tokens, and what the run does.

import type { Change, Page } from "@millpond/client";

/** So long a text without a sentence's end is said anyway when its item is done. */
const END = /[.!?…。！？](?=["'”’)\]]*\s)|\n/g;
const EVERY_MS = 1000;

export class Announcer {
  /** How much of which item has been said. */
  private readonly said = new Map<number, { id: string; length: number }>();
  private pending: string[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly live: HTMLElement) {}

  /** What is on the page already is not said. */
  begin(page: Page): void {
    this.said.clear();
    for (const [key, { id, text }] of page.items) this.said.set(key, { id, length: text?.length ?? 0 });
  }

  hear(change: Change, page: Page): void {
    if (change.what === "items") change.keys.forEach((key) => this.hearItem(key, page));
    else if (change.what === "appended" || change.what === "item") this.hearItem(change.key, page);
  }

  private hearItem(key: number, page: Page): void {
    const item = page.items.get(key);
    if (item?.kind !== "text" || !item.text) return;
    const said = this.said.get(key);
    // Another item in the place of one before begins anew.
    const from = said?.id === item.id ? Math.min(said.length, item.text.length) : 0;
    const to = item.state === "live" ? lastEnd(item.text, from) : item.text.length;
    if (to <= from) return;
    this.say(item.text.slice(from, to));
    this.said.set(key, { id: item.id, length: to });
  }

  say(text: string): void {
    if (!text.trim()) return;
    this.pending.push(text.trim());
    this.timer ??= setTimeout(() => this.speak(), EVERY_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private speak(): void {
    this.timer = undefined;
    const line = document.createElement("p");
    line.textContent = this.pending.join(" ");
    this.pending = [];
    // The line before is gone from the region, so that it does not grow with the run.
    this.live.replaceChildren(line);
  }
}

/** Where the last sentence ends that begins at or after `from`; `from` if none does. */
function lastEnd(text: string, from: number): number {
  let end = from;
  for (const found of text.slice(from).matchAll(END)) end = from + found.index + found[0].length;
  return end;
}
