// Plain words at the end of an open paragraph: they go straight into its last text node, without reading it again.
// Invariant: only what a new reading would show in the same place; anything that could mean something is refused.

import type { Token } from "markdown-it";

const PLAIN = /^[\p{L}\p{M}\p{N} ,.;?'"%-]+$/u;
/** Words with a dot between them may be the address of a site. */
const ADDRESS = /\.[^ .]/;
const HOLDERS = "p, h1, h2, h3, h4, h5, h6, ul, ol, li, blockquote, label";

export class PlainEnd {
  readonly #node: Text;
  /** White space is not shown before a word follows it. */
  #unshown: string;

  private constructor(node: Text, unshown: string) {
    this.#node = node;
    this.#unshown = unshown;
  }

  /** The end of `block`, if the words read last from `source` are plain and end there. */
  static of(block: Element | null, words: Token | null, source: string): PlainEnd | null {
    const unshown = / *$/.exec(source)?.[0] ?? "";
    const last = source.at(-unshown.length - 1) ?? "";
    if (block === null || words?.children?.at(-1)?.type !== "text" || !PLAIN.test(last)) return null;
    const node = lastText(block);
    return node?.data.endsWith(last) ? new PlainEnd(node, unshown) : null;
  }

  /** Shows the text, or says that it must be read. */
  push(text: string): boolean {
    const pending = this.#unshown + text;
    if (!PLAIN.test(text) || ADDRESS.test(this.#node.data.slice(-1) + pending)) return false;
    const shown = pending.trimEnd();
    this.#unshown = pending.slice(shown.length);
    if (shown !== "") this.#node.appendData(shown);
    return true;
  }
}

function lastText(block: Element): Text | null {
  let node: ChildNode | null = block;
  while (node instanceof Element && node.matches(HOLDERS)) node = node.lastChild;
  return node instanceof Text ? node : null;
}
