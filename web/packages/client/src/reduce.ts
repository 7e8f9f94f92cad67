// Applies patches to a page. Decides nothing: what a person sees was decided by the view.
//
// Invariant: after the same patches this page and the engine's are equal; the `.patches` files in
// `fixtures/` hold both to that.

import type { Ask, Ended, Item, Overlay, Patch, PatchFields, Resolved, Settled, Snapshot, Status } from "./page.ts";
import { unitsOfBytes } from "./bytes.ts";

/** What a patch did to a page, so that only that needs to be shown anew. */
export type Change =
  | { what: "appended"; key: number; delta: string }
  | { what: "item"; key: number }
  | { what: "items"; keys: number[] }
  | { what: "removed"; key: number }
  | { what: "around"; part: "status" | "overlay" | "settled" | "asks" }
  | { what: "resolved"; resolved: Resolved }
  | { what: "ended"; ended: Ended }
  | { what: "everything" }
  | { what: "nothing" };

const NOTHING: Change = { what: "nothing" };

/** A patch that does not fit its page: the page is no longer to be trusted. */
export class NoPatch extends Error {}

export class Page {
  readonly items = new Map<number, Item>();
  /** In the order in which items are shown. */
  readonly keys: number[] = [];
  settled: Settled = { count: 0, bytes: 0 };
  overlay: Overlay | undefined;
  status: Status = { doing: "idle" };
  label = "";
  asks: Ask[] = [];
  ended: Ended | undefined;

  static of(snapshot: Snapshot): Page {
    const page = new Page();
    for (const [key, item] of Object.entries(snapshot.items)) page.put(Number(key), item);
    page.settled = snapshot.settled ?? page.settled;
    page.overlay = snapshot.overlay;
    page.status = snapshot.status ?? page.status;
    page.label = snapshot.label ?? "";
    page.asks = snapshot.asks ?? [];
    page.ended = snapshot.ended;
    return page;
  }

  get last(): number | undefined {
    return this.keys[this.keys.length - 1];
  }

  apply(patch: Patch): Change {
    if (typeof patch === "string") return this.append(this.needLast(), patch);
    return this.onItem(patch) ?? this.onPage(patch) ?? NOTHING;
  }

  private onItem(patch: PatchFields): Change | undefined {
    if (patch.next !== undefined) return this.next(patch.next, patch.at_ms);
    if (patch.withdrawn) return this.withdraw(patch.withdrawn);
    const key = patch.i;
    if (key === undefined) return undefined;
    if (patch.put) return this.put(key, patch.put);
    if (patch.remove) return this.remove(key);
    if (patch.keep !== undefined) return this.rewrite(key, patch.keep, patch.t ?? "");
    if (patch.t !== undefined) return this.append(key, patch.t);
    const item = this.items.get(key);
    if (!item) return NOTHING;
    if (patch.state) item.state = patch.state;
    else if (patch.image) (item.images ??= []).push(patch.image);
    else if (patch.citation) (item.citations ??= []).push(patch.citation);
    else return NOTHING;
    return { what: "item", key };
  }

  private onPage(patch: PatchFields): Change | undefined {
    if (patch.settled) {
      this.settled = { count: patch.settled[0], bytes: patch.settled[1] };
      return { what: "around", part: "settled" };
    }
    if (patch.overlay !== undefined) {
      this.overlay = patch.overlay ?? undefined;
      return { what: "around", part: "overlay" };
    }
    if (patch.status) {
      this.ended = undefined;
      this.status = patch.status;
      this.label = patch.label ?? "";
      return { what: "around", part: "status" };
    }
    if (patch.ask) {
      this.asks = [...this.asks, patch.ask];
      return { what: "around", part: "asks" };
    }
    if (patch.resolved) return this.resolve(patch.resolved);
    if (patch.ended) return this.end(patch.ended, patch.label ?? "");
    return undefined;
  }

  private needLast(): number {
    if (this.last === undefined) throw new NoPatch("there is no item to append to");
    return this.last;
  }

  private put(key: number, item: Item): Change {
    if (!this.items.has(key)) this.keys.splice(this.place(key), 0, key);
    this.items.set(key, item);
    return { what: "item", key };
  }

  /** How many keys are below this one; nearly always all are. */
  private place(key: number): number {
    let place = this.keys.length;
    while (0 < place && key < (this.keys[place - 1] ?? 0)) place -= 1;
    return place;
  }

  private next(text: string, at_ms: number | undefined): Change {
    const last = this.needLast();
    const before = this.items.get(last);
    if (!before) throw new NoPatch("there is no item to go on from");
    before.state = "done";
    const { kind, run } = before;
    const item: Item = { kind, run, id: nextId(before.id), state: "live", text };
    if (at_ms !== undefined) item.at_ms = at_ms;
    this.put(last + 1, item);
    return { what: "items", keys: [last, last + 1] };
  }

  private append(key: number, delta: string): Change {
    const item = this.items.get(key);
    if (!item) return NOTHING;
    item.text = (item.text ?? "") + delta;
    return { what: "appended", key, delta };
  }

  private rewrite(key: number, keptBytes: number, text: string): Change {
    const item = this.items.get(key);
    if (!item) return NOTHING;
    const old = item.text ?? "";
    item.text = old.slice(0, unitsOfBytes(old, keptBytes)) + text;
    return { what: "item", key };
  }

  private remove(key: number): Change {
    if (!this.items.delete(key)) return NOTHING;
    this.keys.splice(this.keys.indexOf(key), 1);
    return { what: "removed", key };
  }

  private withdraw(keys: number[]): Change {
    for (const key of keys) {
      const item = this.items.get(key);
      if (item) this.items.set(key, withdrawn(item));
    }
    return { what: "items", keys };
  }

  private resolve(resolved: Resolved): Change {
    this.asks = this.asks.filter((ask) => ask.run !== resolved.run || ask.id !== resolved.id);
    return { what: "resolved", resolved };
  }

  private end(ended: Ended, label: string): Change {
    this.overlay = undefined;
    this.status = { doing: "idle" };
    this.label = label;
    this.ended = ended;
    return { what: "ended", ended };
  }
}

/** It keeps its place, empty. */
function withdrawn(item: Item): Item {
  const { kind, run, id, round, index, at_ms, ran_for_ms, name, sort, call } = item;
  const kept = { kind, run, id, state: "withdrawn", round, index, at_ms, ran_for_ms, name, sort, call };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) as unknown as Item;
}

/** The number at the end of an id, and one more. */
function nextId(id: string): string {
  const [digits = ""] = /[0-9]*$/.exec(id) ?? [];
  return id.slice(0, id.length - digits.length) + String(Number(digits || "0") + 1);
}
