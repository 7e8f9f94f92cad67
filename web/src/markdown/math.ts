// Formulas: inline `$…$` and `\(…\)`, display `$$…$$` and `\[…\]`. Amounts of money stay text.
// Invariant: nothing after the first blank line affects whether a line belongs to a display formula, so finished blocks
// stay finished. A formula that is not closed yet is its own block with `info` set to `open`.

import type { MarkdownIt, StateBlock, StateInline, Token } from "markdown-it";
import { MATH_CHARACTERS_MAX, MATH_LINES_MAX } from "./limits.ts";
import { isGrowing } from "./parse-env.ts";

interface Delimiters {
  opens: string;
  closes: string;
}

const DISPLAY: Delimiters[] = [
  { opens: "$$", closes: "$$" },
  { opens: "\\[", closes: "\\]" },
];
const INLINE: Delimiters[] = [...DISPLAY, { opens: "\\(", closes: "\\)" }];

/** markdown-it plugin. */
export function formulaPlugin(md: MarkdownIt): void {
  md.inline.ruler.before("escape", "math_inline", inlineFormulaRule);
  md.block.ruler.after("fence", "math_block", displayFormulaRule, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  });
  const escape = md.utils.escapeHtml;
  md.renderer.rules["math_inline"] = (tokens, index) => {
    const { content, info } = tokens[index] as Token;
    return `<span class="md-math${info === "display" ? " md-display" : ""}"><code>${escape(content)}</code></span>`;
  };
  md.renderer.rules["math_block"] = (tokens, index) => {
    const token = tokens[index] as Token;
    return `<div class="md-math md-display${isOpenFormula(token) ? " md-open" : ""}"><code>${escape(token.content)}</code></div>`;
  };
}

/** True for a display formula that is not closed yet. */
export function isOpenFormula(token: Token): boolean {
  return token.type === "math_block" && token.info === "open";
}

function inlineFormulaRule(state: StateInline, silent: boolean): boolean {
  const mark = state.src[state.pos];
  if (mark !== "$" && mark !== "\\") return false;
  const rest = state.src.slice(state.pos, Math.min(state.posMax, state.pos + MATH_CHARACTERS_MAX));
  const fence = INLINE.find(({ opens }) => rest.startsWith(opens));
  const length = fence !== undefined ? delimitedFormulaLength(rest, fence) : dollarFormulaLength(rest, state.src[state.pos - 1] ?? " ");
  if (length === 0) return false;
  const width = fence?.opens.length ?? 1;
  if (!silent) {
    const token = state.push("math_inline", "", 0);
    token.content = rest.slice(width, length - width);
    token.info = fence !== undefined && DISPLAY.includes(fence) ? "display" : "inline";
  }
  state.pos += length;
  return true;
}

function delimitedFormulaLength(rest: string, { opens, closes }: Delimiters): number {
  const end = rest.indexOf(closes, opens.length);
  const hasContent = end >= 0 && /[\p{L}\p{N}]/u.test(rest.slice(opens.length, end));
  return hasContent ? end + closes.length : 0;
}

function dollarFormulaLength(rest: string, before: string): number {
  if (!/^\$[^\s$]/.test(rest) || /[\p{L}\p{N}$]/u.test(before)) return 0;
  const end = indexOfUnescapedDollar(rest);
  if (end < 0 || /\s/.test(rest[end - 1] ?? " ") || /[\p{L}\p{N}]/u.test(rest[end + 1] ?? " ")) return 0;
  return looksLikeMoney(rest.slice(1, end)) ? 0 : end + 1;
}

function indexOfUnescapedDollar(rest: string): number {
  for (let at = 1; at < rest.length; at++) {
    if (rest[at] === "\\") at++;
    else if (rest[at] === "$") return at;
  }
  return -1;
}

/** True for text such as "5 and 10": an amount followed by words. */
function looksLikeMoney(content: string): boolean {
  return /^[\d.,]+\s?\p{L}{2}|^[\d.,]+[^\\^_=]*\s\p{L}{2}/u.test(content);
}

function displayFormulaRule(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if ((state.sCount[start] ?? 0) - state.blkIndent >= 4) return false;
  const first = lineText(state, start);
  const fence = DISPLAY.find(({ opens }) => first.startsWith(opens));
  if (fence === undefined) return false;
  const closing = closingLine(state, start, end, fence);
  if (closing === null) return false;
  if (!silent) pushDisplayFormula(state, start, closing, fence);
  return true;
}

/** The closing line of the formula; the line count if it may still come; null if there is none. */
function closingLine(state: StateBlock, start: number, end: number, fence: Delimiters): number | null {
  const limit = Math.min(end, start + MATH_LINES_MAX);
  for (let line = start; line < limit; line++) {
    if (line > start && (state.isEmpty(line) || (state.sCount[line] ?? 0) < state.blkIndent)) return null;
    const text = lineText(state, line).slice(line === start ? fence.opens.length : 0);
    if (text.endsWith(fence.closes) && !(line === start && text === fence.closes)) return line;
    // Text after the closing delimiter makes it inline.
    if (text.includes(fence.closes)) return null;
  }
  const lineCount = state.bMarks.length - 1;
  return limit === lineCount && isGrowing(state.env) ? lineCount : null;
}

function pushDisplayFormula(state: StateBlock, start: number, closing: number, fence: Delimiters): void {
  const isOpen = closing === state.bMarks.length - 1;
  const last = isOpen ? closing : closing + 1;
  const source = state.getLines(start, last, state.blkIndent, false).trim();
  const token = state.push("math_block", "", 0);
  token.content = source.slice(fence.opens.length, isOpen ? undefined : -fence.closes.length).trim();
  token.info = isOpen ? "open" : "";
  token.map = [start, last];
  state.line = last;
}

function lineText(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd();
}
