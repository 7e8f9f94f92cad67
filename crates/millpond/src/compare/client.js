"use strict";
// Applies patches to a picture, as the engine does; decides nothing and knows no document.
// Items are never changed in place, so that pictures can share them.

/** @returns a page on which nothing has happened; `items` is sparse, by key */
function emptyPicture() {
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
  state: "withdrawn", text: "", arguments: undefined, result: undefined, label: undefined,
  steps: [], images: [], citations: [],
};

/** A patch that is nothing but a text is more of the last item's. */
function applyPatch(picture, patch) {
  if (typeof patch === "string") {
    applyToItem(picture, picture.items.length - 1, { t: patch });
  } else if ("put" in patch) {
    picture.items[patch.i] = patch.put;
  } else if ("next" in patch) {
    next(picture, patch);
  } else if ("withdrawn" in patch) {
    for (const key of patch.withdrawn) change(picture, key, WITHDRAWN);
  } else if ("settled" in patch) {
    picture.settled = { count: patch.settled[0], bytes: patch.settled[1] };
  } else if ("overlay" in patch) {
    picture.overlay = patch.overlay;
  } else if ("status" in patch) {
    picture.ended = null;
    picture.status = patch.status;
    picture.label = patch.label;
  } else if ("ask" in patch) {
    picture.asks = [...picture.asks, patch.ask];
  } else if ("resolved" in patch) {
    const { run, id } = patch.resolved;
    picture.asks = picture.asks.filter((ask) => ask.run !== run || ask.id !== id);
  } else if ("ended" in patch) {
    picture.overlay = null;
    picture.status = { doing: "idle" };
    picture.label = patch.label ?? "";
    picture.ended = patch.ended;
  } else {
    applyToItem(picture, patch.i, patch);
  }
}

/** The last item is done; another like it begins. */
function next(picture, patch) {
  const last = picture.items.length - 1;
  const before = picture.items[last];
  if (before === undefined) return;
  change(picture, last, { state: "done" });
  const id = before.id.replace(/\d*$/, (number) => Number(number) + 1);
  const { kind, run } = before;
  const at = patch.at_ms === undefined ? {} : { at_ms: patch.at_ms };
  picture.items.push({ kind, run, id, ...at, state: "live", text: patch.next });
}

function applyToItem(picture, key, patch) {
  const item = picture.items[key];
  if (item === undefined) return;
  const text = item.text ?? "";
  if ("keep" in patch) {
    change(picture, key, { text: firstBytes(text, patch.keep) + patch.t });
  } else if ("t" in patch) {
    change(picture, key, { text: text + patch.t });
  } else if ("state" in patch) {
    change(picture, key, { state: patch.state });
  } else if ("image" in patch) {
    change(picture, key, { images: [...(item.images ?? []), patch.image] });
  } else if ("citation" in patch) {
    change(picture, key, { citations: [...(item.citations ?? []), patch.citation] });
  } else if (patch.remove) {
    remove(picture.items, key);
  }
}

function change(picture, key, fields) {
  if (picture.items[key] !== undefined) {
    picture.items[key] = { ...picture.items[key], ...fields };
  }
}

/** The last item is always the one at the end of the list. */
function remove(items, key) {
  delete items[key];
  while (items.length > 0 && items[items.length - 1] === undefined) items.length -= 1;
}

/** So many bytes of a text; a character that this would cut goes. */
function firstBytes(text, count) {
  const bytes = new TextEncoder().encode(text);
  let kept = Math.min(count, bytes.length);
  while (kept < bytes.length && (bytes[kept] & 0xc0) === 0x80) kept -= 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, kept));
}

/** The pictures of one view, at any event; `frames` has a list of patches for each event. */
class Timeline {
  constructor(frames, keepEvery = 500) {
    this.frames = frames;
    this.keepEvery = keepEvery;
    // kept[n] is the picture before event n * keepEvery.
    this.kept = [emptyPicture()];
    this.picture = emptyPicture();
    this.next = 0;
  }

  /** The picture after an event. It stays true until the next call. */
  at(seq) {
    let from = Math.floor(Math.max(seq + 1, 0) / this.keepEvery);
    while (this.kept[from] === undefined) from -= 1;
    const isOnTheWay = from * this.keepEvery <= this.next && this.next <= seq + 1;
    if (!isOnTheWay) {
      this.picture = copyOf(this.kept[from]);
      this.next = from * this.keepEvery;
    }
    while (this.next <= seq && this.next < this.frames.length) {
      const place = this.next / this.keepEvery;
      if (Number.isInteger(place)) this.kept[place] ??= copyOf(this.picture);
      for (const patch of this.frames[this.next]) applyPatch(this.picture, patch);
      this.next += 1;
    }
    return this.picture;
  }
}

function copyOf(picture) {
  return { ...picture, items: picture.items.slice() };
}
