// A code fence that is still open: its text goes straight into the code's text node.
// Invariant: a push costs as much as its text; a line that may turn out to close the fence is not shown.

import { closesFence } from "./code.ts";

export class OpenFence {
  readonly #code: Element;
  readonly #markup: string;
  #node: Text | null;
  /** A line, or its beginning, that may still close the fence. */
  #held = "";
  #isMidLine = false;

  /** `body` is what has come after the opening line. */
  constructor(code: Element, markup: string, body: string) {
    this.#code = code;
    this.#markup = markup;
    this.#node = code.firstChild as Text | null;
    const whole = body.slice(0, body.lastIndexOf("\n") + 1);
    if (this.#node === null) this.#show(whole);
    else if (this.#node.data !== whole) this.#node.data = whole;
    this.push(body.slice(whole.length));
  }

  get characters(): number {
    return this.#node?.length ?? 0;
  }

  /** Takes text; gives back what follows the fence once it is closed, else null. */
  push(text: string): string | null {
    const pending = this.#held + text;
    let shown = "";
    let at = 0;
    for (let end = pending.indexOf("\n"); end >= 0; end = pending.indexOf("\n", at)) {
      if (!this.#isMidLine && closesFence(pending.slice(at, end), this.#markup)) {
        this.#show(shown);
        return pending.slice(end + 1);
      }
      shown += pending.slice(at, end + 1);
      this.#isMidLine = false;
      at = end + 1;
    }
    this.#keepOrShow(shown, pending.slice(at));
    return null;
  }

  finish(): void {
    // The parser drops a last line that is only white space.
    const isText = this.#held.trim() !== "" && !closesFence(this.#held, this.#markup);
    if (isText) this.#show(this.#held);
    this.#held = "";
  }

  #keepOrShow(shown: string, rest: string): void {
    const mayClose = !this.#isMidLine && mayCloseFence(rest, this.#markup);
    this.#held = mayClose ? rest : "";
    this.#isMidLine ||= !mayClose && rest !== "";
    this.#show(mayClose ? shown : shown + rest);
  }

  #show(text: string): void {
    if (text === "") return;
    if (this.#node !== null) this.#node.appendData(text);
    else this.#code.append((this.#node = this.#code.ownerDocument.createTextNode(text)));
  }
}

function mayCloseFence(line: string, markup: string): boolean {
  const run = line.replace(/^ {0,3}/, "").trimEnd();
  return line.trim() === "" || run === (markup[0] ?? "").repeat(run.length);
}
