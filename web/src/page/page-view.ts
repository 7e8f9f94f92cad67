// Renders a page: items in groups, those near the viewport first.
//
// Invariant: the DOM depends only on the page, and each animation frame shows one state of it. The cost of
// a change depends only on its size: an append touches one text.

import type { Change, Item, Page } from "@millpond/client";
import { render } from "lit";
import { renderItem } from "./item.ts";
import type { ItemContext } from "./item-context.ts";
import type { MarkdownTextElement } from "./markdown-text.ts";

/** Number of item keys in one group. */
const KEYS_PER_GROUP = 64;
/** Groups this far outside the viewport are rendered ahead. */
const AHEAD_PX = 2000;

/** What the next frame renders of an item: all of it, or only appended text. */
type PendingRender = { full: true } | { full: false; delta: string };

/** Renders one page into an element. */
export class PageView {
  private page: Page | undefined;
  private readonly groups = new Map<number, ItemGroup>();
  private readonly pending = new Map<number, PendingRender>();
  private frame = 0;
  /** Cancels the scheduled idle work. */
  private cancelIdle: (() => void) | undefined;

  constructor(
    private readonly host: HTMLElement,
    private readonly context: ItemContext,
    private readonly onDrawn: () => void,
    private readonly scroller: Element,
  ) {
    scroller.addEventListener("scroll", this.renderVisibleGroups, { passive: true });
  }

  /** Replaces the shown page. */
  show(page: Page): void {
    this.page = page;
    this.pending.clear();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.syncGroups();
    const last = Math.floor((page.lastKey ?? 0) / KEYS_PER_GROUP);
    for (const group of this.groups.values()) {
      if (group.isRendered || last - 1 <= group.number) this.renderGroup(group);
    }
    this.estimateGroupHeight();
    this.renderRestWhenIdle();
    this.onDrawn();
  }

  /** Assumes that unrendered groups are as high as the last full one, so that little moves when they are rendered. */
  private estimateGroupHeight(): void {
    const full = [...this.groups.values()].filter(({ isRendered, number }) => isRendered && number * KEYS_PER_GROUP + KEYS_PER_GROUP <= (this.page?.lastKey ?? 0));
    const height = full.at(-1)?.element.scrollHeight;
    if (height) this.host.style.setProperty("--group-height", `${height}px`);
  }

  applyChange(change: Change): void {
    if (change.type === "appended") {
      const pending = this.pending.get(change.key);
      if (!pending) this.pending.set(change.key, { full: false, delta: change.delta });
      else if (!pending.full) pending.delta += change.delta;
    } else if (change.type === "items") for (const key of change.keys) this.pending.set(key, { full: true });
    else if (change.type === "item" || change.type === "removed") this.pending.set(change.key, { full: true });
    else return;
    // A hidden tab gets no frame, and needs none.
    this.frame ||= requestAnimationFrame(() => this.drawPending());
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.cancelIdle?.();
    this.scroller.removeEventListener("scroll", this.renderVisibleGroups);
    this.host.replaceChildren();
  }

  private drawPending(): void {
    this.frame = 0;
    for (const [key, pending] of this.pending) this.drawItem(key, pending);
    this.pending.clear();
    this.onDrawn();
  }

  private drawItem(key: number, pending: PendingRender): void {
    const group = this.getOrCreateGroup(Math.floor(key / KEYS_PER_GROUP));
    const item = this.page?.items.get(key);
    if (!group.isRendered) return this.renderGroup(group);
    if (!item) return group.remove(key);
    if (pending.full || !group.appendText(key, pending.delta)) group.renderItem(key, item, this.context);
  }

  /** Creates missing groups and removes obsolete ones. */
  private syncGroups(): void {
    const numbers = new Set((this.page?.keys ?? []).map((key) => Math.floor(key / KEYS_PER_GROUP)));
    for (const [number, group] of this.groups) {
      if (numbers.has(number)) continue;
      group.element.remove();
      this.groups.delete(number);
    }
    for (const number of numbers) this.getOrCreateGroup(number);
  }

  private getOrCreateGroup(number: number): ItemGroup {
    const known = this.groups.get(number);
    if (known) return known;
    const group = new ItemGroup(number);
    const after = [...this.groups.values()].filter((other) => number < other.number);
    const next = after.sort((one, other) => one.number - other.number)[0];
    this.host.insertBefore(group.element, next?.element ?? null);
    this.groups.set(number, group);
    return group;
  }

  private renderGroup(group: ItemGroup): void {
    const page = this.page;
    if (!page) return;
    const start = lowerBound(page.keys, group.number * KEYS_PER_GROUP);
    for (let index = start; index < page.keys.length; index++) {
      const key = page.keys[index] ?? 0;
      if ((group.number + 1) * KEYS_PER_GROUP <= key) break;
      const item = page.items.get(key);
      if (item) group.renderItem(key, item, this.context);
    }
    group.removeMissing(page);
    for (const key of this.pending.keys()) if (Math.floor(key / KEYS_PER_GROUP) === group.number) this.pending.delete(key);
    group.isRendered = true;
    group.element.classList.remove("unrendered");
  }

  /** Renders groups near the viewport before the frame is painted; an IntersectionObserver would be one frame late. */
  private readonly renderVisibleGroups = (): void => {
    const unrendered = [...this.groups.values()].filter(({ isRendered }) => !isRendered);
    if (!unrendered.length) return;
    const { top, bottom } = this.scroller.getBoundingClientRect();
    const near = unrendered.filter(({ element }) => {
      const box = element.getBoundingClientRect();
      return top - AHEAD_PX < box.bottom && box.top < bottom + AHEAD_PX;
    });
    for (const group of near) this.renderGroup(group);
  };

  /** Renders the remaining groups in idle time, from the end. */
  private renderRestWhenIdle(): void {
    this.cancelIdle?.();
    this.cancelIdle = requestIdle((timeLeft) => {
      this.cancelIdle = undefined;
      const unrendered = [...this.groups.values()].filter(({ isRendered }) => !isRendered).sort((a, b) => b.number - a.number);
      for (const group of unrendered) {
        if (timeLeft() < 8) break;
        this.renderGroup(group);
      }
      if (unrendered.some(({ isRendered }) => !isRendered)) this.renderRestWhenIdle();
    });
  }
}

/** `requestIdleCallback`; in Safari, which has none, a timer with a time budget. Returns a cancel function. */
function requestIdle(work: (timeLeft: () => number) => void): () => void {
  if ("requestIdleCallback" in globalThis) {
    const id = requestIdleCallback((deadline) => work(() => deadline.timeRemaining()));
    return () => cancelIdleCallback(id);
  }
  const timer = setTimeout(() => {
    const until = performance.now() + 20;
    work(() => until - performance.now());
  }, 50);
  return () => clearTimeout(timer);
}

/** A range of items in one container element. */
class ItemGroup {
  readonly element = document.createElement("div");
  private readonly items = new Map<number, HTMLElement>();
  isRendered = false;

  constructor(readonly number: number) {
    this.element.className = "group unrendered";
  }

  /** Removes items that are no longer on the page. */
  removeMissing(page: Page): void {
    for (const key of [...this.items.keys()]) if (!page.items.has(key)) this.remove(key);
  }

  renderItem(key: number, item: Item, context: ItemContext): void {
    const element = this.items.get(key) ?? this.insertElement(key);
    element.className = `item kind-${item.kind} state-${item.state}`;
    element.dataset["run"] = item.run;
    render(renderItem(item, context), element);
    if (item.kind === "text") markdownTextIn(element)?.show(item.text ?? "", item.state === "live" ? "live" : "final");
  }

  /** Appends to the item's text; returns false if the item has no text element and must be rendered. */
  appendText(key: number, delta: string): boolean {
    const element = this.items.get(key);
    const text = element && markdownTextIn(element);
    text?.appendText(delta);
    return text !== null && text !== undefined;
  }

  remove(key: number): void {
    this.items.get(key)?.remove();
    this.items.delete(key);
  }

  private insertElement(key: number): HTMLElement {
    const element = document.createElement("article");
    element.dataset["key"] = String(key);
    const after = [...this.items.keys()].filter((other) => key < other);
    const next = after.length ? this.items.get(Math.min(...after)) : undefined;
    this.element.insertBefore(element, next ?? null);
    this.items.set(key, element);
    return element;
  }
}

function markdownTextIn(element: Element): MarkdownTextElement | null {
  return element.querySelector<MarkdownTextElement>(":scope > mp-text");
}

/** Index of the first key that is at least `minimum`. */
function lowerBound(keys: readonly number[], minimum: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? 0) < minimum) low = middle + 1;
    else high = middle;
  }
  return low;
}
