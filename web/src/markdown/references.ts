// Keeps the link reference definitions of a stream, and notices a definition that came after its use.
// Invariant: the first definition of a label wins, as if the text had been read at once.

import type { Env, Token } from "markdown-it";

type References = NonNullable<Env["references"]>;

/** The longest label that can be defined, in code units. */
const LABEL_CHARACTERS_MAX = 2 * 999;

export class Definitions {
  readonly #known: References = Object.create(null) as References;
  readonly #missed = new Set<string>();

  /** For reading a tail whose definitions are not final. */
  draft(): References {
    return Object.create(this.#known) as References;
  }

  /** Takes over the definitions that `tokens` hold, as the draft understood them. */
  commit(tokens: Token[], draft: References): void {
    for (const { type, meta } of tokens) {
      if (type !== "reference_definition") continue;
      const label = meta?.["label"] as string;
      const definition = draft[label];
      if (definition !== undefined) this.#known[label] ??= definition;
    }
  }

  /** For rendering finished text: remembers what could not be found. */
  watched(): References {
    return new Proxy(this.#known, {
      get: (known, label: string) => {
        const definition = known[label];
        if (definition === undefined && label.length <= LABEL_CHARACTERS_MAX) this.#missed.add(label);
        return definition;
      },
    });
  }

  /** Whether finished text used a label that was defined only later. */
  cameLate(): boolean {
    for (const label of this.#missed) if (label in this.#known) return true;
    return false;
  }
}
