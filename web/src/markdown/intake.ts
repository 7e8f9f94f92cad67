// Turns deltas into the text markdown is defined on: line feeds only and no NUL.
// Invariant: how the text was cut into deltas leaves no trace in the result.

export class Intake {
  #heldReturn = false;

  push(delta: string): string {
    const text = this.#heldReturn ? `\r${delta}` : delta;
    // The other half of a line end may still be under way.
    this.#heldReturn = text.endsWith("\r");
    return clean(this.#heldReturn ? text.slice(0, -1) : text);
  }

  finish(): string {
    const rest = this.#heldReturn ? "\n" : "";
    this.#heldReturn = false;
    return rest;
  }
}

export function clean(text: string): string {
  return text.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD");
}
