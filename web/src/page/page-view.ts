// A page on the screen: items in groups, of which those near the eye are made first.
//
// Invariant: the elements follow the page and nothing else; one frame of the screen shows one state
// of it. A change costs what it changes: an append touches one text.

import type { Change, Item, Page } from "@millpond/client";
import { render } from "lit";
import type { Around } from "./around.ts";
import { itemTemplate } from "./item.ts";
import type { TextElement } from "./text.ts";

/** Keys in one group. */
const GROUP = 64;
/** How far outside the window groups are made at once. */
const AHEAD_PX = 2000;

type Dirt = { anew: true } | { anew: false; delta: string };

export class PageView {
  private page: Page | undefined;
  private readonly groups = new Map<number, Group>();
  private readonly dirty = new Map<number, Dirt>();
  private frame = 0;
  /** Calls off what was to be done in idle time. */
  private idle: (() => void) | undefined;

  constructor(
    private readonly host: HTMLElement,
    private readonly around: Around,
    private readonly drawn: () => void,
    private readonly scroller: Element,
  ) {
    scroller.addEventListener("scroll", this.see, { passive: true });
  }

  /** Shows this page instead of the one before. */
  show(page: Page): void {
    this.page = page;
    this.dirty.clear();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.arrange();
    const last = Math.floor((page.last ?? 0) / GROUP);
    for (const group of this.groups.values()) {
      if (group.made || last - 1 <= group.number) this.make(group);
    }
    this.estimate();
    this.fillInIdleTime();
    this.drawn();
  }

  /** Groups that nobody has seen are taken to be as high as the last full one, so that little moves. */
  private estimate(): void {
    const full = [...this.groups.values()].filter(({ made, number }) => made && number * GROUP + GROUP <= (this.page?.last ?? 0));
    const height = full.at(-1)?.element.scrollHeight;
    if (height) this.host.style.setProperty("--group-height", `${height}px`);
  }

  change(change: Change): void {
    if (change.what === "appended") {
      const dirt = this.dirty.get(change.key);
      if (!dirt) this.dirty.set(change.key, { anew: false, delta: change.delta });
      else if (!dirt.anew) dirt.delta += change.delta;
    } else if (change.what === "items") for (const key of change.keys) this.dirty.set(key, { anew: true });
    else if (change.what === "item" || change.what === "removed") this.dirty.set(change.key, { anew: true });
    else return;
    // A frame may never come while the page is hidden; what is shown then does not matter.
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.idle?.();
    this.scroller.removeEventListener("scroll", this.see);
    this.host.replaceChildren();
  }

  private draw(): void {
    this.frame = 0;
    for (const [key, dirt] of this.dirty) this.drawItem(key, dirt);
    this.dirty.clear();
    this.drawn();
  }

  private drawItem(key: number, dirt: Dirt): void {
    const group = this.group(Math.floor(key / GROUP));
    const item = this.page?.items.get(key);
    if (!group.made) return this.make(group);
    if (!item) return group.remove(key);
    if (dirt.anew || !group.append(key, dirt.delta)) group.put(key, item, this.around);
  }

  /** Makes a place for each group there is. */
  private arrange(): void {
    const wanted = new Set((this.page?.keys ?? []).map((key) => Math.floor(key / GROUP)));
    for (const [number, group] of this.groups) {
      if (wanted.has(number)) continue;
      group.element.remove();
      this.groups.delete(number);
    }
    for (const number of wanted) this.group(number);
  }

  private group(number: number): Group {
    const known = this.groups.get(number);
    if (known) return known;
    const group = new Group(number);
    const after = [...this.groups.values()].filter((other) => number < other.number);
    const next = after.sort((one, other) => one.number - other.number)[0];
    this.host.insertBefore(group.element, next?.element ?? null);
    this.groups.set(number, group);
    return group;
  }

  private make(group: Group): void {
    const page = this.page;
    if (!page) return;
    const from = firstAtLeast(page.keys, group.number * GROUP);
    for (let place = from; place < page.keys.length; place++) {
      const key = page.keys[place] ?? 0;
      if ((group.number + 1) * GROUP <= key) break;
      const item = page.items.get(key);
      if (item) group.put(key, item, this.around);
    }
    group.keepOnly(page);
    for (const key of this.dirty.keys()) if (Math.floor(key / GROUP) === group.number) this.dirty.delete(key);
    group.made = true;
    group.element.classList.remove("unmade");
  }

  /** Makes what comes into sight before the frame is painted: an observer would tell one later. */
  private readonly see = (): void => {
    const unmade = [...this.groups.values()].filter(({ made }) => !made);
    if (!unmade.length) return;
    const { top, bottom } = this.scroller.getBoundingClientRect();
    const near = unmade.filter(({ element }) => {
      const box = element.getBoundingClientRect();
      return top - AHEAD_PX < box.bottom && box.top < bottom + AHEAD_PX;
    });
    for (const group of near) this.make(group);
  };

  /** The rest is made when nothing else is to be done, from the end. */
  private fillInIdleTime(): void {
    this.idle?.();
    this.idle = inIdleTime((timeLeft) => {
      this.idle = undefined;
      const unmade = [...this.groups.values()].filter(({ made }) => !made).sort((a, b) => b.number - a.number);
      for (const group of unmade) {
        if (timeLeft() < 8) break;
        this.make(group);
      }
      if (unmade.some(({ made }) => !made)) this.fillInIdleTime();
    });
  }
}

/** Safari has no idle time of its own: there it is taken a little later, a slice at a time. */
function inIdleTime(work: (timeLeft: () => number) => void): () => void {
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

class Group {
  readonly element = document.createElement("div");
  private readonly items = new Map<number, HTMLElement>();
  made = false;

  constructor(readonly number: number) {
    this.element.className = "group unmade";
  }

  /** Those that are no longer on the page go; the others keep their elements. */
  keepOnly(page: Page): void {
    for (const key of [...this.items.keys()]) if (!page.items.has(key)) this.remove(key);
  }

  put(key: number, item: Item, around: Around): void {
    const element = this.items.get(key) ?? this.place(key);
    element.className = `item of-${item.kind} is-${item.state}`;
    element.dataset["run"] = item.run;
    render(itemTemplate(item, around), element);
    if (item.kind === "text") textOf(element)?.show(item.text ?? "", item.state === "live");
  }

  /** Says whether that was enough. */
  append(key: number, delta: string): boolean {
    const element = this.items.get(key);
    const text = element && textOf(element);
    text?.grow(delta);
    return text !== null && text !== undefined;
  }

  remove(key: number): void {
    this.items.get(key)?.remove();
    this.items.delete(key);
  }

  private place(key: number): HTMLElement {
    const element = document.createElement("article");
    element.dataset["key"] = String(key);
    const after = [...this.items.keys()].filter((other) => key < other);
    const next = after.length ? this.items.get(Math.min(...after)) : undefined;
    this.element.insertBefore(element, next ?? null);
    this.items.set(key, element);
    return element;
  }
}

function textOf(element: Element): TextElement | null {
  return element.querySelector<TextElement>(":scope > mp-text");
}

function firstAtLeast(keys: readonly number[], wanted: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
