// The elements shown so far: which are finished, and where the unfinished tail begins.
// Blocks stand in parts of a fixed number, so that the browser lays out and paints only the part that changes.
// Invariant: a finished element is never handed to `reconcile` again, except after `rewind`.

import { BLOCKS_PER_PART } from "./limits.ts";
import { reconcile, type Keeps } from "./morph.ts";

/** An open list or table, the first unfinished block, of which some parts are finished. */
interface Inner {
  rows: Element;
  after: Element;
}

export class Page {
  readonly #host: Element;
  readonly #keeps: Keeps;
  /** Blocks that are finished. */
  #finished = 0;
  #inner: Inner | null = null;

  constructor(host: Element, keeps: Keeps) {
    this.#host = host;
    this.#keeps = keeps;
  }

  /** Shows the tail. With rows open, the first root continues them; its first `borrowed` rows are not shown. */
  show(roots: Element[], borrowed: number): void {
    if (this.#inner === null) return this.#place(roots, this.#finished);
    const { rows, after } = this.#inner;
    const fresh = [...(rowsOf(roots[0] ?? null)?.children ?? [])].slice(borrowed);
    reconcile(rows, after, fresh, this.#keeps);
    this.#place(roots.slice(1), this.#finished + 1);
  }

  /** Finishes the next `count` blocks and gives back what became final. */
  finishBlocks(count: number): Element[] {
    if (count === 0) return [];
    const first = this.#inner === null ? [this.#block(this.#finished)] : siblingsFrom(this.#inner.after.nextElementSibling);
    const others = Array.from({ length: count - 1 }, (_, index) => this.#block(this.#finished + 1 + index));
    this.#inner = null;
    this.#finished += count;
    return [...first, ...others].filter((element) => element !== null);
  }

  /** Finishes the next `count` items or rows of the first unfinished block. */
  finishRows(count: number): Element[] {
    const rows = this.#inner?.rows ?? rowsOf(this.#block(this.#finished));
    if (rows === null) return [];
    const first = this.#inner === null ? rows.firstElementChild : this.#inner.after.nextElementSibling;
    const finished = siblingsFrom(first).slice(0, count);
    const after = finished.at(-1);
    if (after !== undefined) this.#inner = { rows, after };
    return finished;
  }

  /** The last block, whatever its state. */
  last(): Element | null {
    return this.#host.lastElementChild?.lastElementChild ?? null;
  }

  /** Makes the open list or table unfinished again. */
  rewindRows(): void {
    this.#inner = null;
  }

  rewind(): void {
    this.#inner = null;
    this.#finished = 0;
  }

  /** Makes the blocks from number `start` on equal to `roots`. */
  #place(roots: Element[], start: number): void {
    let at = start;
    for (let rest = roots; rest.length > 0; ) {
      const room = BLOCKS_PER_PART - (at % BLOCKS_PER_PART);
      const part = this.#part(at) ?? this.#addPart();
      reconcile(part, this.#blockBefore(part, at), rest.slice(0, room), this.#keeps);
      at += Math.min(room, rest.length);
      rest = rest.slice(room);
    }
    this.#removeFrom(at);
  }

  #removeFrom(start: number): void {
    for (const block of this.#blocksFrom(start)) block.remove();
    while (this.#host.lastElementChild?.childElementCount === 0) this.#host.lastElementChild.remove();
  }

  #addPart(): Element {
    const part = this.#host.ownerDocument.createElement("div");
    part.className = "md-part";
    this.#host.append(part);
    return part;
  }

  #part(block: number): Element | null {
    return this.#host.children[Math.floor(block / BLOCKS_PER_PART)] ?? null;
  }

  #block(block: number): Element | null {
    return this.#part(block)?.children[block % BLOCKS_PER_PART] ?? null;
  }

  #blockBefore(part: Element, block: number): Element | null {
    return part.children[(block % BLOCKS_PER_PART) - 1] ?? null;
  }

  #blocksFrom(start: number): Element[] {
    const parts = siblingsFrom(this.#part(start));
    return parts.flatMap((part, index) => [...part.children].slice(index === 0 ? start % BLOCKS_PER_PART : 0));
  }
}

function rowsOf(root: Element | null): Element | null {
  return root?.classList.contains("md-table") ? root.querySelector("tbody") : root;
}

function siblingsFrom(first: Element | null): Element[] {
  const siblings: Element[] = [];
  for (let element = first; element !== null; element = element.nextElementSibling) siblings.push(element);
  return siblings;
}
