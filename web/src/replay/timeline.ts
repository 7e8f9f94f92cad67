// Events of a session with their patches in all views, and the pages at one position.

import { Page, VIEWS, type Change, type Patch, type View } from "@millpond/client";

/** One record of the log with the patches it makes in each view. */
export interface ReplayEvent {
  seq: number;
  at_ms: number | null;
  run: string;
  event: string;
  views: Partial<Record<View, Patch[]>>;
}

export type Pages = Record<View, Page>;

/** Called for every change of a page; `replaced` after a seek backwards. */
export type OnPageChange = (view: View, page: Page, change: Change) => void;

/** Replays events into one page per view. */
export class Timeline {
  readonly events: ReplayEvent[] = [];
  /** Number of applied events. */
  position = 0;
  private pages: Pages = emptyPages();

  constructor(private readonly onPageChange: OnPageChange) {}

  addEvent(event: ReplayEvent): void {
    this.events.push(event);
  }

  /** Moves to a position: forwards by applying events, backwards by rebuilding from the start. */
  seek(position: number): void {
    const target = Math.max(0, Math.min(position, this.events.length));
    if (target < this.position) this.rebuild(target);
    while (this.position < target) this.applyNext();
  }

  private applyNext(): void {
    const event = this.events[this.position];
    if (!event) return;
    this.position += 1;
    for (const view of VIEWS) {
      for (const patch of event.views[view] ?? []) this.onPageChange(view, this.pages[view], this.pages[view].apply(clonePatch(patch)));
    }
  }

  private rebuild(position: number): void {
    this.pages = emptyPages();
    for (const event of this.events.slice(0, position)) {
      for (const view of VIEWS) for (const patch of event.views[view] ?? []) this.pages[view].apply(clonePatch(patch));
    }
    this.position = position;
    for (const view of VIEWS) this.onPageChange(view, this.pages[view], { type: "replaced" });
  }
}

function emptyPages(): Pages {
  return Object.fromEntries(VIEWS.map((view) => [view, new Page()])) as Pages;
}

/** Copy of a patch: a page modifies the items that are put on it. */
function clonePatch(patch: Patch): Patch {
  return typeof patch === "string" || !patch.put ? patch : structuredClone(patch);
}

/** Longer delays are shortened. */
const DELAY_MS_MAX = 2_000;
/** Delay between events without times. */
const DELAY_MS_UNKNOWN = 40;

/** Delay between two events at original speed. */
export function delayBefore(event: ReplayEvent, previous: ReplayEvent | undefined): number {
  if (event.at_ms === null || previous?.at_ms == null) return DELAY_MS_UNKNOWN;
  return Math.max(0, Math.min(DELAY_MS_MAX, event.at_ms - previous.at_ms));
}
