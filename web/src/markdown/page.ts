// The elements shown so far: which are finished, and where the unfinished tail begins.
// Invariant: a finished element is never handed to `reconcile` again, except after `rewind`.

import { reconcile, type Keeps } from "./morph.ts";

/** An open list or table of which some parts are finished. */
interface Inner {
  root: Element;
  parts: Element;
  after: Element;
}

export class Page {
  readonly #host: Element;
  readonly #keeps: Keeps;
  #after: Element | null = null;
  #inner: Inner | null = null;

  constructor(host: Element, keeps: Keeps) {
    this.#host = host;
    this.#keeps = keeps;
  }

  /** Shows the tail. With parts open, the first root continues them; its first `borrowed` parts are not shown. */
  show(roots: Element[], borrowed: number): void {
    if (this.#inner === null) return reconcile(this.#host, this.#after, roots, this.#keeps);
    const { root, parts, after } = this.#inner;
    const fresh = [...(partsElement(roots[0])?.children ?? [])].slice(borrowed);
    reconcile(parts, after, fresh, this.#keeps);
    reconcile(this.#host, root, roots.slice(1), this.#keeps);
  }

  /** Finishes the next `count` blocks and gives back what became final. */
  finishBlocks(count: number): Element[] {
    const isInnerNext = count > 0 && this.#inner !== null;
    const finished = isInnerNext ? this.#closeInner() : [];
    for (let block = isInnerNext ? 1 : 0; block < count; block++) {
      this.#after = this.#next();
      if (this.#after !== null) finished.push(this.#after);
    }
    return finished;
  }

  /** Finishes the first `count` parts of the block at the tail's beginning. */
  finishParts(count: number): Element[] {
    const root = this.#inner?.root ?? this.#next();
    const parts = this.#inner?.parts ?? partsElement(root);
    if (root === null || parts === null || parts === undefined) return [];
    const first = this.#inner?.after.nextElementSibling ?? parts.firstElementChild;
    const finished = siblingsFrom(first).slice(0, count);
    const after = finished.at(-1);
    if (after !== undefined) this.#inner = { root, parts, after };
    return finished;
  }

  /** What is not finished. */
  tail(): Element[] {
    if (this.#inner === null) return siblingsFrom(this.#next());
    const { root, after } = this.#inner;
    return [...siblingsFrom(after.nextElementSibling), ...siblingsFrom(root.nextElementSibling)];
  }

  /** The last element, whatever its state. */
  last(): Element | null {
    return this.#host.lastElementChild;
  }

  /** Makes the open list or table unfinished again. */
  rewindInner(): void {
    this.#inner = null;
  }

  rewind(): void {
    this.#inner = null;
    this.#after = null;
  }

  #closeInner(): Element[] {
    if (this.#inner === null) return [];
    const { root, after } = this.#inner;
    this.#inner = null;
    this.#after = root;
    return siblingsFrom(after.nextElementSibling);
  }

  #next(): Element | null {
    return this.#after === null ? this.#host.firstElementChild : this.#after.nextElementSibling;
  }
}

function partsElement(root: Element | null | undefined): Element | null | undefined {
  return root?.classList.contains("md-table") ? root.querySelector("tbody") : root;
}

function siblingsFrom(first: Element | null): Element[] {
  const siblings: Element[] = [];
  for (let element = first; element !== null; element = element.nextElementSibling) siblings.push(element);
  return siblings;
}
