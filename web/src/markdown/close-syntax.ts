// Closes open inline syntax at the end of a growing text, so that markers do not flash as text.
// Invariant: changes only inline content that can still grow, never finished content.

import type { Token } from "markdown-it";
import remend from "remend";
import type { BlockIndex } from "./blocks.ts";
import { HELD_CHARACTERS_MAX, HELD_DOLLAR_CHARACTERS_MAX, CLOSE_CHARACTERS_MAX } from "./limits.ts";

const REMEND_OPTIONS = {
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

/** Closes the last inline token. Returns it if it can grow and nothing had to be closed. */
export function closeLastInline(index: BlockIndex, from: number): Token | null {
  const inline = growingInline(index, from);
  if (inline === null || inline.content.length > CLOSE_CHARACTERS_MAX) return null;
  const closed = closeOpenSyntax(inline.content);
  const isUnchanged = closed === inline.content;
  inline.content = closed;
  inline.meta = { open: true };
  return isUnchanged ? inline : null;
}

/** The content with open markers closed or removed. */
export function closeOpenSyntax(content: string): string {
  if (TASK_BEGUN.test(content)) return "";
  let text = content.slice(0, openFormulaStart(content));
  for (const pattern of UNFINISHED) text = text.replace(pattern, "");
  text = unwrapOpenLink(text).replace(/\]\[[^[\]]*$/, "]").replace(/(?<!\])!?\[([^[\]]*)\]$/, "$1");
  return remend(text, REMEND_OPTIONS);
}

/** Replaces a link or image with an incomplete destination by its text. */
function unwrapOpenLink(text: string): string {
  const middle = text.lastIndexOf("](");
  if (middle < 0 || isClosedDestination(text.slice(middle + 2))) return text;
  let depth = 1;
  let start = middle;
  while (depth > 0 && --start >= 0) depth += text[start] === "]" ? 1 : text[start] === "[" ? -1 : 0;
  if (start < 0) return text;
  const before = text.slice(0, text[start - 1] === "!" ? start - 1 : start);
  return before + text.slice(start + 1, middle);
}

function isClosedDestination(rest: string): boolean {
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

/** Start of an unclosed formula; the length of the content if there is none. */
function openFormulaStart(content: string): number {
  const opener = Math.max(content.lastIndexOf("\\("), content.lastIndexOf("\\["));
  const closer = Math.max(content.lastIndexOf("\\)"), content.lastIndexOf("\\]"));
  if (opener > closer && content.length - opener <= HELD_CHARACTERS_MAX) return opener;
  const dollar = content.lastIndexOf("$");
  const isFormula = dollar >= 0 && opensFormula(content, dollar) && content.length - dollar <= HELD_DOLLAR_CHARACTERS_MAX;
  return isFormula ? dollar : content.length;
}

function opensFormula(content: string, at: number): boolean {
  const opens = /(?:^|[\s([{"'])\${1,2}$/.test(content.slice(0, at + 1));
  return opens && /^(?:$|[^\s\d$])/.test(content.slice(at + 1)) && !content.slice(at).includes("`");
}

/** The last inline token, if its line or paragraph can still grow. */
function growingInline({ tokens, lines }: BlockIndex, from: number): Token | null {
  for (let index = tokens.length - 1; index >= from; index--) {
    const token = tokens[index] as Token;
    if (token.type === "inline" && token.content !== "") return canGrow(tokens, index, lines) ? token : null;
  }
  return null;
}

function canGrow(tokens: Token[], index: number, lines: string[]): boolean {
  const parent = tokens[index - 1] as Token;
  if (parent.type === "paragraph_open") return (parent.map?.[1] ?? 0) >= lines.length - 1;
  const row = parent.type === "td_open" ? tokens.slice(0, index).findLast(({ type }) => type === "tr_open") : parent;
  return row?.map?.[1] === lines.length && lines.at(-1) !== "";
}
