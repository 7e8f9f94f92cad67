// The elements of a text: which blocks are finished, and where the unfinished tail begins.
// Blocks are grouped in parts of fixed size, so that the browser lays out only the part that changes.
// Invariant: a finished element is never passed to `reconcileChildren` again, except after `reopenAll`.

import { BLOCKS_PER_PART } from "./limits.ts";
import { reconcileChildren, type ShouldKeep } from "./morph.ts";

/** Rows of the first unfinished block, a list or table; those up to `after` are finished. */
interface OpenRows {
  rows: Element;
  after: Element;
}

/** The blocks of one text in the DOM. */
export class BlockDom {
  readonly #host: Element;
  readonly #shouldKeep: ShouldKeep;
  /** Number of finished blocks. */
  #finishedCount = 0;
  #openRows: OpenRows | null = null;

  constructor(host: Element, shouldKeep: ShouldKeep) {
    this.#host = host;
    this.#shouldKeep = shouldKeep;
  }

  /** Shows the unfinished blocks. If rows are open, the first root continues them; its first `borrowed` rows are skipped. */
  showTail(roots: Element[], borrowed: number): void {
    if (this.#openRows === null) return this.#placeBlocks(roots, this.#finishedCount);
    const { rows, after } = this.#openRows;
    const fresh = [...(rowContainer(roots[0] ?? null)?.children ?? [])].slice(borrowed);
    reconcileChildren(rows, after, fresh, this.#shouldKeep);
    this.#placeBlocks(roots.slice(1), this.#finishedCount + 1);
  }

  /** Finishes the next `count` blocks; returns the elements that became final. */
  finishBlocks(count: number): Element[] {
    if (count === 0) return [];
    const first = this.#openRows === null ? [this.#blockAt(this.#finishedCount)] : siblingsFrom(this.#openRows.after.nextElementSibling);
    const others = Array.from({ length: count - 1 }, (_, index) => this.#blockAt(this.#finishedCount + 1 + index));
    this.#openRows = null;
    this.#finishedCount += count;
    return [...first, ...others].filter((element) => element !== null);
  }

  /** Finishes the next `count` rows of the first unfinished block; returns them. */
  finishRows(count: number): Element[] {
    const rows = this.#openRows?.rows ?? rowContainer(this.#blockAt(this.#finishedCount));
    if (rows === null) return [];
    const first = this.#openRows === null ? rows.firstElementChild : this.#openRows.after.nextElementSibling;
    const finished = siblingsFrom(first).slice(0, count);
    const after = finished.at(-1);
    if (after !== undefined) this.#openRows = { rows, after };
    return finished;
  }

  /** The last block, finished or not. */
  lastBlock(): Element | null {
    return this.#host.lastElementChild?.lastElementChild ?? null;
  }

  /** Makes all rows of the open list or table unfinished again. */
  reopenRows(): void {
    this.#openRows = null;
  }

  /** Makes all blocks unfinished again. */
  reopenAll(): void {
    this.#openRows = null;
    this.#finishedCount = 0;
  }

  /** Makes the blocks from index `start` on equal to `roots`. */
  #placeBlocks(roots: Element[], start: number): void {
    let at = start;
    for (let rest = roots; rest.length > 0; ) {
      const room = BLOCKS_PER_PART - (at % BLOCKS_PER_PART);
      const part = this.#partOfBlock(at) ?? this.#addPart();
      reconcileChildren(part, this.#blockBefore(part, at), rest.slice(0, room), this.#shouldKeep);
      at += Math.min(room, rest.length);
      rest = rest.slice(room);
    }
    this.#removeBlocksFrom(at);
  }

  #removeBlocksFrom(start: number): void {
    for (const block of this.#blocksFrom(start)) block.remove();
    while (this.#host.lastElementChild?.childElementCount === 0) this.#host.lastElementChild.remove();
  }

  #addPart(): Element {
    const part = this.#host.ownerDocument.createElement("div");
    part.className = "md-part";
    this.#host.append(part);
    return part;
  }

  #partOfBlock(block: number): Element | null {
    return this.#host.children[Math.floor(block / BLOCKS_PER_PART)] ?? null;
  }

  #blockAt(block: number): Element | null {
    return this.#partOfBlock(block)?.children[block % BLOCKS_PER_PART] ?? null;
  }

  #blockBefore(part: Element, block: number): Element | null {
    return part.children[(block % BLOCKS_PER_PART) - 1] ?? null;
  }

  #blocksFrom(start: number): Element[] {
    const parts = siblingsFrom(this.#partOfBlock(start));
    return parts.flatMap((part, index) => [...part.children].slice(index === 0 ? start % BLOCKS_PER_PART : 0));
  }
}

function rowContainer(root: Element | null): Element | null {
  return root?.classList.contains("md-table") ? root.querySelector("tbody") : root;
}

function siblingsFrom(first: Element | null): Element[] {
  const siblings: Element[] = [];
  for (let element = first; element !== null; element = element.nextElementSibling) siblings.push(element);
  return siblings;
}
