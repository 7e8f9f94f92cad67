// Closes half-open syntax in the last words of a growing text, so that markers do not flash before they mean something.
// Invariant: touches only words that more text can still continue, and never the finished rendering.

import type { Token } from "markdown-it";
import remend from "remend";
import type { Reading } from "./blocks.ts";
import { HELD_CHARACTERS_MAX, HELD_DOLLAR_CHARACTERS_MAX, MEND_CHARACTERS_MAX } from "./limits.ts";

const OPTIONS = {
  linkMode: "text-only",
  comparisonOperators: false,
  htmlTags: false,
  inlineKatex: false,
  katex: false,
  setextHeadings: false,
  singleTilde: false,
} as const;

const TASK_BEGUN = /^\[[ xX]?\]?$/;
const UNFINISHED = [
  /(?<=^|[\s([{"'])[*_~`]+$/, // an opening marker with nothing in it yet
  /<[A-Za-z][^\s<>]*$/, // an autolink
  /&#?[A-Za-z0-9]{0,31}$/, // an entity
  /(?<!\\)(?:\\\\)*\\$/, // an escape
];

/** Gives back the last words, if they can grow and there was nothing to mend. */
export function mendLastWords(reading: Reading, from: number): Token | null {
  const words = growingWords(reading, from);
  if (words === null || words.content.length > MEND_CHARACTERS_MAX) return null;
  const mended = mend(words.content);
  const isWhole = mended === words.content;
  words.content = mended;
  words.meta = { open: true };
  return isWhole ? words : null;
}

export function mend(content: string): string {
  if (TASK_BEGUN.test(content)) return "";
  let text = content.slice(0, openFormula(content));
  for (const pattern of UNFINISHED) text = text.replace(pattern, "");
  text = withoutOpenLink(text).replace(/\]\[[^[\]]*$/, "]").replace(/(?<!\])!?\[([^[\]]*)\]$/, "$1");
  return remend(text, OPTIONS);
}

/** Of a link or an image whose address is still being written, only the words. */
function withoutOpenLink(text: string): string {
  const middle = text.lastIndexOf("](");
  if (middle < 0 || isClosedAddress(text.slice(middle + 2))) return text;
  let depth = 1;
  let start = middle;
  while (depth > 0 && --start >= 0) depth += text[start] === "]" ? 1 : text[start] === "[" ? -1 : 0;
  if (start < 0) return text;
  const before = text.slice(0, text[start - 1] === "!" ? start - 1 : start);
  return before + text.slice(start + 1, middle);
}

function isClosedAddress(rest: string): boolean {
  const quoted = /^\s*(?:<[^<>\n]*>|[^\s<][^\s]*)?\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\)/.test(rest);
  if (quoted || /^\s*<[^<>\n]*>\s*\)/.test(rest)) return true;
  if (/^\s*<|\s["']/.test(rest)) return false;
  let depth = 1;
  for (let at = 0; at < rest.length && depth > 0; at++) {
    if (rest[at] === "\\") at++;
    else depth += rest[at] === "(" ? 1 : rest[at] === ")" ? -1 : 0;
  }
  return depth === 0;
}

/** Where a formula without its end begins; the length when there is none. */
function openFormula(content: string): number {
  const opener = Math.max(content.lastIndexOf("\\("), content.lastIndexOf("\\["));
  const closer = Math.max(content.lastIndexOf("\\)"), content.lastIndexOf("\\]"));
  if (opener > closer && content.length - opener <= HELD_CHARACTERS_MAX) return opener;
  const dollar = content.lastIndexOf("$");
  const isFormula = dollar >= 0 && isOddDollar(content, dollar) && content.length - dollar <= HELD_DOLLAR_CHARACTERS_MAX;
  return isFormula ? dollar : content.length;
}

function isOddDollar(content: string, at: number): boolean {
  const opens = /(?:^|[\s([{"'])\${1,2}$/.test(content.slice(0, at + 1));
  return opens && /^(?:$|[^\s\d$])/.test(content.slice(at + 1)) && !content.slice(at).includes("`");
}

/** The last words, if the line or paragraph they stand in is still open. */
function growingWords({ tokens, lines }: Reading, from: number): Token | null {
  for (let index = tokens.length - 1; index >= from; index--) {
    const token = tokens[index] as Token;
    if (token.type === "inline" && token.content !== "") return canGrow(tokens, index, lines) ? token : null;
  }
  return null;
}

function canGrow(tokens: Token[], index: number, lines: string[]): boolean {
  const holder = tokens[index - 1] as Token;
  if (holder.type === "paragraph_open") return (holder.map?.[1] ?? 0) >= lines.length - 1;
  const row = holder.type === "td_open" ? tokens.slice(0, index).findLast(({ type }) => type === "tr_open") : holder;
  return row?.map?.[1] === lines.length && lines.at(-1) !== "";
}
