// Texts of failures: the engine's English label of an ending, translated, and its detail.

import type { Strings } from "./strings.ts";

/** A failure in two parts; `reason` is in the words of the source. */
export interface FailureParts {
  heading: string;
  reason: string | undefined;
}

/** Splits and translates `Refused: …`; a text that is no label of an ending is the heading. */
export function failureParts(text: string, strings: Strings): FailureParts {
  const labels = translations(strings);
  const end = text.indexOf(": ");
  const heading = labels.get(end < 0 ? text : text.slice(0, end));
  if (heading === undefined) return { heading: text, reason: undefined };
  return { heading, reason: end < 0 ? undefined : text.slice(end + 2) };
}

/** By the engine's English label. */
function translations({ outcomes, failureReasons }: Strings): ReadonlyMap<string, string | undefined> {
  const labels = {
    Failed: outcomes.failed,
    Refused: failureReasons["refused"],
    "Limit reached": failureReasons["limit"],
    "Empty response": failureReasons["empty"],
    "Unrecognised response": failureReasons["unrecognised"],
    "Cannot write the log": failureReasons["storage"],
    "Cut off before its end": outcomes.truncated,
    Stalled: outcomes.stalled,
    Interrupted: outcomes.interrupted,
  };
  return new Map(Object.entries(labels));
}
