// An open code fence: text is appended directly to the text node of its code element.
// Invariant: the cost of a push depends only on its text; a line that may close the fence is held back.

import { closesFence } from "./code.ts";

/** The unclosed fence at the end of a text. */
export class OpenFence {
  readonly #code: Element;
  readonly #markup: string;
  #textNode: Text | null;
  /** The start of a line that may still close the fence. */
  #heldLine = "";
  #isMidLine = false;

  /** `body` is the text after the opening line. */
  constructor(code: Element, markup: string, body: string) {
    this.#code = code;
    this.#markup = markup;
    this.#textNode = code.firstChild as Text | null;
    const wholeLines = body.slice(0, body.lastIndexOf("\n") + 1);
    if (this.#textNode === null) this.#appendCode(wholeLines);
    else if (this.#textNode.data !== wholeLines) this.#textNode.data = wholeLines;
    this.push(body.slice(wholeLines.length));
  }

  get characters(): number {
    return this.#textNode?.length ?? 0;
  }

  /** Appends text; returns the text after the fence once it is closed, else null. */
  push(text: string): string | null {
    const pending = this.#heldLine + text;
    let shown = "";
    let at = 0;
    for (let end = pending.indexOf("\n"); end >= 0; end = pending.indexOf("\n", at)) {
      if (!this.#isMidLine && closesFence(pending.slice(at, end), this.#markup)) {
        this.#appendCode(shown);
        return pending.slice(end + 1);
      }
      shown += pending.slice(at, end + 1);
      this.#isMidLine = false;
      at = end + 1;
    }
    this.#holdOrShow(shown, pending.slice(at));
    return null;
  }

  finish(): void {
    // The parser drops a last line of white space.
    const isText = this.#heldLine.trim() !== "" && !closesFence(this.#heldLine, this.#markup);
    if (isText) this.#appendCode(this.#heldLine);
    this.#heldLine = "";
  }

  #holdOrShow(shown: string, rest: string): void {
    const mayClose = !this.#isMidLine && mayCloseFence(rest, this.#markup);
    this.#heldLine = mayClose ? rest : "";
    this.#isMidLine ||= !mayClose && rest !== "";
    this.#appendCode(mayClose ? shown : shown + rest);
  }

  #appendCode(text: string): void {
    if (text === "") return;
    if (this.#textNode !== null) this.#textNode.appendData(text);
    else this.#code.append((this.#textNode = this.#code.ownerDocument.createTextNode(text)));
  }
}

function mayCloseFence(line: string, markup: string): boolean {
  const run = line.replace(/^ {0,3}/, "").trimEnd();
  return line.trim() === "" || run === (markup[0] ?? "").repeat(run.length);
}
