// The one markdown parser: GFM with `html: false`, run in three steps, so that the block structure of a text can be
// read, judged and mended before its words are.
// Invariant: every block except a link definition renders to exactly one element, with no whitespace around it.

import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";
import { codeBlocks } from "./code.ts";
import { formulas } from "./math.ts";
import { linksAndImages } from "./policy.ts";
import type { Setting } from "./setting.ts";
import { taskLists } from "./tasks.ts";

const md = makeParser();

export function parseBlocks(source: string, setting: Setting): Token[] {
  const tokens: Token[] = [];
  md.block.parse(source, md, setting, tokens);
  return tokens;
}

/** Parses the words of block tokens in place. */
export function parseWords(tokens: Token[], setting: Setting): void {
  const state = new md.core.State("", md, setting);
  state.tokens = tokens;
  md.core.process(state);
}

export function renderTokens(tokens: Token[], setting: Setting): string {
  return md.renderer.render(tokens, md.options, setting);
}

function makeParser(): Parser {
  const parser = new MarkdownIt({ html: false, linkify: true });
  // Done by the caller: the text is clean and its blocks are read already.
  parser.core.ruler.disable(["normalize", "block", "strip_references"]);
  parser.use(codeBlocks).use(formulas).use(taskLists).use(linksAndImages).use(elements);
  return parser;
}

/** Plain elements: no line feeds between blocks, no style attributes, a direction of their own. */
function elements(parser: Parser): void {
  const { renderer } = parser;
  renderer.renderToken = (tokens, index) => {
    const token = tokens[index] as Token;
    if (token.hidden) return "";
    return token.nesting < 0 ? `</${token.tag}>` : `<${token.tag}${direction(token)}${renderer.renderAttrs(token)}>`;
  };
  renderer.rules["table_open"] = () => `<div class="md-table" tabindex="0"><table dir="auto">`;
  renderer.rules["table_close"] = () => "</table></div>";
  renderer.rules["th_open"] = renderer.rules["td_open"] = (tokens, index) => cell(tokens[index] as Token);
  renderer.rules["hardbreak"] = () => "<br>";
}

/** Only the outermost element decides: inside another `dir="auto"` its words would no longer count. */
function direction(token: Token): string {
  const decides = token.tag === "li" || (token.level === 0 && /^(?:p|h\d|blockquote)$/.test(token.tag));
  return decides && token.nesting === 1 ? ' dir="auto"' : "";
}

function cell(token: Token): string {
  const align = /text-align:(\w+)/.exec(String(token.attrGet("style") ?? ""))?.[1];
  return align === undefined ? `<${token.tag}>` : `<${token.tag} align="${align}">`;
}
