// Link reference definitions of a growing text; detects definitions that come after their use.
// Invariant: the first definition of a label wins, as when the whole text is parsed at once.

import type { Env, Token } from "markdown-it";

type References = NonNullable<Env["references"]>;

/** Length of the longest valid label, in UTF-16 code units. */
const LABEL_CHARACTERS_MAX = 2 * 999;

/** Definitions of finished text. */
export class LinkDefinitions {
  readonly #known: References = Object.create(null) as References;
  readonly #unresolvedLabels = new Set<string>();

  /** References for parsing a tail whose definitions are not final. */
  draftReferences(): References {
    return Object.create(this.#known) as References;
  }

  /** Makes the definitions in `tokens` final; `draft` holds their values. */
  commitDefinitions(tokens: Token[], draft: References): void {
    for (const { type, meta } of tokens) {
      if (type !== "reference_definition") continue;
      const label = meta?.["label"] as string;
      const definition = draft[label];
      if (definition !== undefined) this.#known[label] ??= definition;
    }
  }

  /** References for finished text; records labels that are not defined. */
  trackedReferences(): References {
    return new Proxy(this.#known, {
      get: (known, label: string) => {
        const definition = known[label];
        if (definition === undefined && label.length <= LABEL_CHARACTERS_MAX) this.#unresolvedLabels.add(label);
        return definition;
      },
    });
  }

  /** True if finished text used a label that was defined later. */
  hasLateDefinition(): boolean {
    for (const label of this.#unresolvedLabels) if (label in this.#known) return true;
    return false;
  }
}
