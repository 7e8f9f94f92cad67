// Texts of asks: the question, the options offered and the answer given.

import type { Ask, Item } from "@millpond/client";
import type { Strings } from "./strings.ts";

/** English label of the built-in agent's "always" option; it names the tool. */
const ALWAYS_LABEL = /^Always allow (.+) in this session$/s;

/** The question of an open ask: `Allow write_file?` if an option names the tool, else by kind. */
export function askQuestion({ kind, options }: Pick<Ask, "kind" | "options">, strings: Strings): string {
  const tool = options.map(({ label }) => ALWAYS_LABEL.exec(label)?.[1]).find((name) => name !== undefined);
  return tool === undefined ? askHeading(kind, strings) : strings.allowTool(tool);
}

/** Heading of an ask by its kind. */
export function askHeading(kind: string | undefined, { askHeadings }: Strings): string {
  return askHeadings[kind ?? "other"] ?? askHeadings["other"] ?? "";
}

/** Heading of an ask that is no longer open: what was decided. */
export function answeredHeading({ sort, result, label }: Item, strings: Strings): string {
  const answer = result ?? label;
  const subject = strings.askSubjects[sort ?? "other"] ?? strings.askSubjects["other"] ?? "";
  return `${subject}: ${answer ? answerText(answer, strings) : strings.notAnswered}`;
}

/** Translates an option label or answer of the built-in agent; other texts are returned unchanged. */
export function answerText(answer: string, strings: Strings): string {
  const [, tool] = ALWAYS_LABEL.exec(answer) ?? [];
  if (tool !== undefined) return strings.alwaysAllowTool(tool);
  const [, why] = /^deny: (.+)$/s.exec(answer) ?? [];
  if (why !== undefined) return `${strings.answers["deny"] ?? "deny"}: ${why}`;
  return strings.answers[answer] ?? answer;
}
