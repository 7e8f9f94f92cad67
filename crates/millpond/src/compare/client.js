"use strict";
// Applies patches to a page, as the engine does. Decides nothing and does not touch the DOM.
// Items are never changed in place, so that copies of a page can share them.

/** @returns an empty page; `items` is sparse, indexed by key */
function emptyPage() {
  return {
    items: [],
    settled: { count: 0, bytes: 0 },
    overlay: null,
    status: { doing: "idle" },
    label: "",
    asks: [],
    ended: null,
  };
}

const WITHDRAWN = {
  state: "withdrawn", text: "", arguments: undefined, description: undefined, result: undefined,
  label: undefined,
  steps: [], images: [], citations: [],
};

/** Applies one patch. A plain string appends to the text of the last item. */
function applyPatch(page, patch) {
  if (typeof patch === "string") {
    applyToItem(page, page.items.length - 1, { t: patch });
  } else if ("put" in patch) {
    page.items[patch.i] = patch.put;
  } else if ("next" in patch) {
    startNextItem(page, patch);
  } else if ("withdrawn" in patch) {
    for (const key of patch.withdrawn) updateItem(page, key, WITHDRAWN);
  } else if ("settled" in patch) {
    page.settled = { count: patch.settled[0], bytes: patch.settled[1] };
  } else if ("overlay" in patch) {
    page.overlay = patch.overlay;
  } else if ("status" in patch) {
    page.ended = null;
    page.status = patch.status;
    page.label = patch.label;
  } else if ("ask" in patch) {
    page.asks = [...page.asks, patch.ask];
  } else if ("resolved" in patch) {
    const { run, id } = patch.resolved;
    page.asks = page.asks.filter((ask) => ask.run !== run || ask.id !== id);
  } else if ("ended" in patch) {
    page.overlay = null;
    page.status = { doing: "idle" };
    page.label = patch.label ?? "";
    page.ended = patch.ended;
  } else {
    applyToItem(page, patch.i, patch);
  }
}

/** Ends the last item and starts another of the same kind. */
function startNextItem(page, patch) {
  const last = page.items.length - 1;
  const before = page.items[last];
  if (before === undefined) return;
  updateItem(page, last, { state: "done" });
  const id = before.id.replace(/\d*$/, (number) => Number(number) + 1);
  const { kind, run } = before;
  const at = patch.at_ms === undefined ? {} : { at_ms: patch.at_ms };
  page.items.push({ kind, run, id, ...at, state: "live", text: patch.next });
}

function applyToItem(page, key, patch) {
  const item = page.items[key];
  if (item === undefined) return;
  const text = item.text ?? "";
  if ("keep" in patch) {
    updateItem(page, key, { text: firstBytes(text, patch.keep) + patch.t });
  } else if ("t" in patch) {
    updateItem(page, key, { text: text + patch.t });
  } else if ("result" in patch) {
    page.items[key] = withResult(item, patch.call, patch.result);
  } else if ("description" in patch) {
    updateItem(page, key, { description: patch.description });
  } else if ("state" in patch) {
    updateItem(page, key, { state: patch.state });
  } else if ("image" in patch) {
    updateItem(page, key, { images: [...(item.images ?? []), patch.image] });
  } else if ("citation" in patch) {
    updateItem(page, key, { citations: [...(item.citations ?? []), patch.citation] });
  } else if (patch.remove) {
    removeItem(page.items, key);
  }
}

/** A copy of the item with the result of a call, which is the item or one of its steps. */
function withResult(item, call, entry) {
  if (item.kind !== "steps" && item.id === call) return mergeResult(item, entry);
  const steps = item.steps ?? [];
  const place = steps.findIndex((step) => hasCall(step, call));
  if (place < 0) return item;
  return { ...item, steps: steps.with(place, withResult(steps[place], call, entry)) };
}

function hasCall(item, call) {
  if (item.kind !== "steps" && item.id === call) return true;
  return (item.steps ?? []).some((step) => hasCall(step, call));
}

/** Merges the result of a call, and those of the calls nested in it; new nested steps are added. */
function mergeResult(call, entry) {
  if (entry.state === "withdrawn") return { ...call, ...WITHDRAWN };
  const merged = { ...call, state: entry.state };
  const output = entry.kind === "entry" ? entry.text || undefined : entry.result;
  if (output !== undefined) merged.result = output;
  if (entry.arguments !== undefined) merged.arguments = (call.arguments ?? "") + entry.arguments;
  if (entry.description !== undefined) merged.description = entry.description;
  if (entry.label !== undefined) merged.label = entry.label;
  if (entry.ran_for_ms !== undefined) merged.ran_for_ms = (call.ran_for_ms ?? 0) + entry.ran_for_ms;
  if (entry.images) merged.images = [...(call.images ?? []), ...entry.images];
  if (entry.citations) merged.citations = [...(call.citations ?? []), ...entry.citations];
  if (entry.steps) merged.steps = [...(call.steps ?? [])];
  for (const step of entry.steps ?? []) {
    const place = merged.steps.findIndex((known) => known.id === step.id);
    if (place < 0) merged.steps.push(step);
    else merged.steps[place] = mergeResult(merged.steps[place], step);
  }
  return merged;
}

function updateItem(page, key, fields) {
  if (page.items[key] !== undefined) {
    page.items[key] = { ...page.items[key], ...fields };
  }
}

/** Removes an item; the list always ends with an item. */
function removeItem(items, key) {
  delete items[key];
  while (items.length > 0 && items[items.length - 1] === undefined) items.length -= 1;
}

/** The first `count` bytes of a text, without a partial character at the end. */
function firstBytes(text, count) {
  const bytes = new TextEncoder().encode(text);
  let kept = Math.min(count, bytes.length);
  while (kept < bytes.length && (bytes[kept] & 0xc0) === 0x80) kept -= 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, kept));
}

/** The page of one view after any event; `frames` has a list of patches per event. */
class Timeline {
  constructor(frames, keepEvery = 500) {
    this.frames = frames;
    this.keepEvery = keepEvery;
    // kept[n] is the page before event n * keepEvery.
    this.kept = [emptyPage()];
    this.page = emptyPage();
    this.next = 0;
  }

  /** The page after event `seq`, valid until the next call. */
  at(seq) {
    let from = Math.floor(Math.max(seq + 1, 0) / this.keepEvery);
    while (this.kept[from] === undefined) from -= 1;
    const isOnTheWay = from * this.keepEvery <= this.next && this.next <= seq + 1;
    if (!isOnTheWay) {
      this.page = copyPage(this.kept[from]);
      this.next = from * this.keepEvery;
    }
    while (this.next <= seq && this.next < this.frames.length) {
      const place = this.next / this.keepEvery;
      if (Number.isInteger(place)) this.kept[place] ??= copyPage(this.page);
      for (const patch of this.frames[this.next]) applyPatch(this.page, patch);
      this.next += 1;
    }
    return this.page;
  }
}

function copyPage(page) {
  return { ...page, items: page.items.slice() };
}
