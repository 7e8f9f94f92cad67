// What can be answered to an ask, in the reader's language: as it is offered, and as it was given.

import type { Words } from "./words.ts";

/** Of what our own agent offers and understands; others are shown as they are. */
export function answerWords(answer: string, words: Words): string {
  const [, tool] = /^Always allow (.+) in this session$/s.exec(answer) ?? [];
  if (tool !== undefined) return words.alwaysAllow(tool);
  const [, why] = /^deny: (.+)$/s.exec(answer) ?? [];
  if (why !== undefined) return `${words.askOption["deny"] ?? "deny"}: ${why}`;
  return words.askOption[answer] ?? answer;
}
