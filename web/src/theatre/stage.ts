// A run as it was, event by event, in all views: where it stands, and what stands there then.

import { Page, VIEWS, type Change, type Patch, type View } from "@millpond/client";

export interface Moment {
  seq: number;
  at_ms: number | null;
  run: string;
  event: string;
  views: Partial<Record<View, Patch[]>>;
}

export type Pages = Record<View, Page>;

/** Whoever shows a page is told what changed in it, or that all did. */
export type Shown = (view: View, page: Page, change: Change) => void;

export class Stage {
  readonly moments: Moment[] = [];
  /** How many moments have been applied. */
  place = 0;
  private pages: Pages = blank();

  constructor(private readonly shown: Shown) {}

  add(moment: Moment): void {
    this.moments.push(moment);
  }

  /** Goes there: on by what is between, back from the beginning. */
  goTo(place: number): void {
    const wanted = Math.max(0, Math.min(place, this.moments.length));
    if (wanted < this.place) this.rewind(wanted);
    while (this.place < wanted) this.step();
  }

  private step(): void {
    const moment = this.moments[this.place];
    if (!moment) return;
    this.place += 1;
    for (const view of VIEWS) {
      for (const patch of moment.views[view] ?? []) this.shown(view, this.pages[view], this.pages[view].apply(copy(patch)));
    }
  }

  private rewind(wanted: number): void {
    this.pages = blank();
    for (const moment of this.moments.slice(0, wanted)) {
      for (const view of VIEWS) for (const patch of moment.views[view] ?? []) this.pages[view].apply(copy(patch));
    }
    this.place = wanted;
    for (const view of VIEWS) this.shown(view, this.pages[view], { what: "everything" });
  }
}

function blank(): Pages {
  return Object.fromEntries(VIEWS.map((view) => [view, new Page()])) as Pages;
}

/** A page changes the items that are put on it; what was told stays as it was. */
function copy(patch: Patch): Patch {
  return typeof patch === "string" || !patch.put ? patch : structuredClone(patch);
}

/** A pause longer than this is shortened, and so is one that is not known. */
const PAUSE_MS_MAX = 2_000;
const PAUSE_MS_UNKNOWN = 40;

/** How long after one moment the next comes, at the speed it had. */
export function pauseBefore(moment: Moment, before: Moment | undefined): number {
  if (moment.at_ms === null || before?.at_ms == null) return PAUSE_MS_UNKNOWN;
  return Math.max(0, Math.min(PAUSE_MS_MAX, moment.at_ms - before.at_ms));
}
