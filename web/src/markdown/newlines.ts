// Normalises text for Markdown: line feeds only, no NUL.
// Invariant: how the text is split into deltas does not affect the result.

/** Incremental version of `normaliseText`. */
export class NewlineNormaliser {
  #heldReturn = false;

  push(delta: string): string {
    const text = this.#heldReturn ? `\r${delta}` : delta;
    // The line feed of a CR LF may be in the next delta.
    this.#heldReturn = text.endsWith("\r");
    return normaliseText(this.#heldReturn ? text.slice(0, -1) : text);
  }

  finish(): string {
    const rest = this.#heldReturn ? "\n" : "";
    this.#heldReturn = false;
    return rest;
  }
}

export function normaliseText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD");
}
