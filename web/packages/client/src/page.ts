// A page and the patches applied to it. Makes no decisions: the view has decided what is shown.
//
// Invariant: after the same patches this page equals the engine's. The `.patches` files in `fixtures/`
// check both.

import type { Ask, EndedRun, Item, Overlay, Patch, PatchPayload, ResolvedAsk, Settled, Snapshot, Status } from "./protocol.ts";
import { withResult, withdrawnCopy } from "./call-result.ts";
import { utf16LengthOfUtf8Prefix } from "./utf8.ts";

/** The effect of a patch, so that only the changed part is rendered again. */
export type Change =
  | { type: "appended"; key: number; delta: string }
  | { type: "item"; key: number }
  | { type: "items"; keys: number[] }
  | { type: "removed"; key: number }
  | { type: "page"; part: "status" | "overlay" | "settled" | "asks" }
  | { type: "resolved"; resolved: ResolvedAsk }
  | { type: "ended"; ended: EndedRun }
  | { type: "replaced" }
  | { type: "none" };

const NO_CHANGE: Change = { type: "none" };

/** A patch that does not apply; the page is out of date. */
export class PatchError extends Error {}

/** What one view shows of one session. */
export class Page {
  readonly items = new Map<number, Item>();
  /** Item keys in display order. */
  readonly keys: number[] = [];
  settled: Settled = { count: 0, bytes: 0 };
  overlay: Overlay | undefined;
  status: Status = { doing: "idle" };
  label = "";
  asks: Ask[] = [];
  ended: EndedRun | undefined;

  static fromSnapshot(snapshot: Snapshot): Page {
    const page = new Page();
    for (const [key, item] of Object.entries(snapshot.items)) page.putItem(Number(key), item);
    page.settled = snapshot.settled ?? page.settled;
    page.overlay = snapshot.overlay;
    page.status = snapshot.status ?? page.status;
    page.label = snapshot.label ?? "";
    page.asks = snapshot.asks ?? [];
    page.ended = snapshot.ended;
    return page;
  }

  get lastKey(): number | undefined {
    return this.keys[this.keys.length - 1];
  }

  apply(patch: Patch): Change {
    if (typeof patch === "string") return this.appendText(this.requireLastKey(), patch);
    return this.applyToItems(patch) ?? this.applyToPage(patch) ?? NO_CHANGE;
  }

  private applyToItems(patch: PatchPayload): Change | undefined {
    if (patch.next !== undefined) return this.startNextItem(patch.next, patch.at_ms);
    if (patch.withdrawn) return this.withdrawItems(patch.withdrawn);
    const key = patch.i;
    if (key === undefined) return undefined;
    if (patch.put) return this.putItem(key, patch.put);
    if (patch.remove) return this.removeItem(key);
    if (patch.keep !== undefined) return this.rewriteText(key, patch.keep, patch.t ?? "");
    if (patch.t !== undefined) return this.appendText(key, patch.t);
    if (patch.result && patch.call !== undefined) return this.addResult(key, patch.call, patch.result);
    const item = this.items.get(key);
    if (!item) return NO_CHANGE;
    if (patch.state) item.state = patch.state;
    else if (patch.image) (item.images ??= []).push(patch.image);
    else if (patch.citation) (item.citations ??= []).push(patch.citation);
    else if (patch.description) item.description = patch.description;
    else return NO_CHANGE;
    return { type: "item", key };
  }

  private applyToPage(patch: PatchPayload): Change | undefined {
    if (patch.settled) {
      this.settled = { count: patch.settled[0], bytes: patch.settled[1] };
      return { type: "page", part: "settled" };
    }
    if (patch.overlay !== undefined) {
      this.overlay = patch.overlay ?? undefined;
      return { type: "page", part: "overlay" };
    }
    if (patch.status) {
      this.ended = undefined;
      this.status = patch.status;
      this.label = patch.label ?? "";
      return { type: "page", part: "status" };
    }
    if (patch.ask) {
      this.asks = [...this.asks, patch.ask];
      return { type: "page", part: "asks" };
    }
    if (patch.resolved) return this.resolveAsk(patch.resolved);
    if (patch.ended) return this.endRun(patch.ended, patch.label ?? "");
    return undefined;
  }

  private requireLastKey(): number {
    if (this.lastKey === undefined) throw new PatchError("no item to append to");
    return this.lastKey;
  }

  private putItem(key: number, item: Item): Change {
    if (!this.items.has(key)) this.keys.splice(this.insertionIndex(key), 0, key);
    this.items.set(key, item);
    return { type: "item", key };
  }

  /** Index of `key` in sorted order; nearly always the end. */
  private insertionIndex(key: number): number {
    let index = this.keys.length;
    while (0 < index && key < (this.keys[index - 1] ?? 0)) index -= 1;
    return index;
  }

  private startNextItem(text: string, at_ms: number | undefined): Change {
    const last = this.requireLastKey();
    const before = this.items.get(last);
    if (!before) throw new PatchError("no item to continue from");
    before.state = "done";
    const { kind, run } = before;
    const item: Item = { kind, run, id: nextId(before.id), state: "live", text };
    if (at_ms !== undefined) item.at_ms = at_ms;
    this.putItem(last + 1, item);
    return { type: "items", keys: [last, last + 1] };
  }

  private appendText(key: number, delta: string): Change {
    const item = this.items.get(key);
    if (!item) return NO_CHANGE;
    item.text = (item.text ?? "") + delta;
    return { type: "appended", key, delta };
  }

  private rewriteText(key: number, keptBytes: number, text: string): Change {
    const item = this.items.get(key);
    if (!item) return NO_CHANGE;
    const old = item.text ?? "";
    item.text = old.slice(0, utf16LengthOfUtf8Prefix(old, keptBytes)) + text;
    return { type: "item", key };
  }

  private addResult(key: number, call: string, entry: Item): Change {
    const item = this.items.get(key);
    if (!item) return NO_CHANGE;
    this.items.set(key, withResult(item, call, entry));
    return { type: "item", key };
  }

  private removeItem(key: number): Change {
    if (!this.items.delete(key)) return NO_CHANGE;
    this.keys.splice(this.keys.indexOf(key), 1);
    return { type: "removed", key };
  }

  private withdrawItems(keys: number[]): Change {
    for (const key of keys) {
      const item = this.items.get(key);
      if (item) this.items.set(key, withdrawnCopy(item));
    }
    return { type: "items", keys };
  }

  private resolveAsk(resolved: ResolvedAsk): Change {
    this.asks = this.asks.filter((ask) => ask.run !== resolved.run || ask.id !== resolved.id);
    return { type: "resolved", resolved };
  }

  private endRun(ended: EndedRun, label: string): Change {
    this.overlay = undefined;
    this.status = { doing: "idle" };
    this.label = label;
    this.ended = ended;
    return { type: "ended", ended };
  }
}

/** The id with its trailing number incremented. */
function nextId(id: string): string {
  const [digits = ""] = /[0-9]*$/.exec(id) ?? [];
  return id.slice(0, id.length - digits.length) + String(Number(digits || "0") + 1);
}
