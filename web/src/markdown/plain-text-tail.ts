// Fast path: plain text at the end of an open paragraph is appended to its last text node without parsing.
// Invariant: the result equals that of parsing again; text that could be syntax is refused.

import type { Token } from "markdown-it";

const PLAIN = /^[\p{L}\p{M}\p{N} ,.;?'"%-]+$/u;
/** Words joined by a dot may be a host name. */
const LOOKS_LIKE_HOST = /\.[^ .]/;
const TEXT_CONTAINERS = "p, h1, h2, h3, h4, h5, h6, ul, ol, li, blockquote, label";

/** The last text node of a block that ends in plain text. */
export class PlainTextTail {
  readonly #textNode: Text;
  /** Trailing spaces, shown once more text follows. */
  #pendingSpaces: string;

  private constructor(textNode: Text, pendingSpaces: string) {
    this.#textNode = textNode;
    this.#pendingSpaces = pendingSpaces;
  }

  /** The tail of `block`; null unless the last inline token of `source` is plain text and ends the block. */
  static find(block: Element | null, lastInline: Token | null, source: string): PlainTextTail | null {
    const spaces = / *$/.exec(source)?.[0] ?? "";
    const last = source.at(-spaces.length - 1) ?? "";
    if (block === null || lastInline?.children?.at(-1)?.type !== "text" || !PLAIN.test(last)) return null;
    const node = lastTextNode(block);
    return node?.data.endsWith(last) ? new PlainTextTail(node, spaces) : null;
  }

  /** Appends the text; returns false if it must be parsed. */
  push(text: string): boolean {
    const pending = this.#pendingSpaces + text;
    if (!PLAIN.test(text) || LOOKS_LIKE_HOST.test(this.#textNode.data.slice(-1) + pending)) return false;
    const shown = pending.trimEnd();
    this.#pendingSpaces = pending.slice(shown.length);
    if (shown !== "") this.#textNode.appendData(shown);
    return true;
  }
}

function lastTextNode(block: Element): Text | null {
  let node: ChildNode | null = block;
  while (node instanceof Element && node.matches(TEXT_CONTAINERS)) node = node.lastChild;
  return node instanceof Text ? node : null;
}
