// The Markdown parser: GFM without HTML, in three steps (blocks, inline, rendering), so that the block structure can be
// inspected and completed before inline content is parsed.
// Invariant: every block except a link definition renders to exactly one element, without whitespace around it.

import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";
import { codeBlockPlugin } from "./code.ts";
import { formulaPlugin } from "./math.ts";
import { linkPolicyPlugin } from "./link-policy.ts";
import type { ParseEnv } from "./parse-env.ts";
import { taskListPlugin } from "./tasks.ts";

const md = createParser();

export function parseBlocks(source: string, env: ParseEnv): Token[] {
  const tokens: Token[] = [];
  md.block.parse(source, md, env, tokens);
  return tokens;
}

/** Parses the inline content of block tokens in place. */
export function parseInline(tokens: Token[], env: ParseEnv): void {
  const state = new md.core.State("", md, env);
  state.tokens = tokens;
  md.core.process(state);
}

export function renderTokens(tokens: Token[], env: ParseEnv): string {
  return md.renderer.render(tokens, md.options, env);
}

function createParser(): Parser {
  const parser = new MarkdownIt({ html: false, linkify: true });
  // Done by the caller: the text is normalised and its blocks are parsed.
  parser.core.ruler.disable(["normalize", "block", "strip_references"]);
  parser.use(codeBlockPlugin).use(formulaPlugin).use(taskListPlugin).use(linkPolicyPlugin).use(elementPlugin);
  return parser;
}

/** markdown-it plugin: no line feeds between blocks, no style attributes, `dir="auto"`. */
function elementPlugin(parser: Parser): void {
  const { renderer } = parser;
  renderer.renderToken = (tokens, index) => {
    const token = tokens[index] as Token;
    if (token.hidden) return "";
    return token.nesting < 0 ? `</${token.tag}>` : `<${token.tag}${directionAttribute(token)}${renderer.renderAttrs(token)}>`;
  };
  renderer.rules["table_open"] = () => `<div class="md-table" tabindex="0"><table dir="auto">`;
  renderer.rules["table_close"] = () => "</table></div>";
  renderer.rules["th_open"] = renderer.rules["td_open"] = (tokens, index) => cellTag(tokens[index] as Token);
  renderer.rules["hardbreak"] = () => "<br>";
}

/** `dir="auto"` on outermost elements and list items only: an element inside another `dir="auto"` does not count for it. */
function directionAttribute(token: Token): string {
  const decides = token.tag === "li" || (token.level === 0 && /^(?:p|h\d|blockquote)$/.test(token.tag));
  return decides && token.nesting === 1 ? ' dir="auto"' : "";
}

function cellTag(token: Token): string {
  const align = /text-align:(\w+)/.exec(String(token.attrGet("style") ?? ""))?.[1];
  return align === undefined ? `<${token.tag}>` : `<${token.tag} align="${align}">`;
}
