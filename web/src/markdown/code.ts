// Code blocks: rendering, and detection of unclosed fences.

import type { MarkdownIt, RendererRule, StateBlock, Token } from "markdown-it";
import { stringsOf } from "./parse-env.ts";

/** markdown-it plugin. */
export function codeBlockPlugin(md: MarkdownIt): void {
  const rule = codeRenderRule(md);
  md.renderer.rules["fence"] = rule;
  md.renderer.rules["code_block"] = rule;
  recordFenceClosing(md);
}

/** True if the fence has no closing line yet. */
export function isOpenFence(token: Token): boolean {
  return token.type === "fence" && token.meta?.["closed"] !== true;
}

/** True if `line` closes a fence opened with `markup`. */
export function closesFence(line: string, markup: string): boolean {
  const run = line.trimEnd().replace(/^ {0,3}/, "");
  return run.length >= markup.length && run === markup[0]?.repeat(run.length);
}

function codeRenderRule(md: MarkdownIt): RendererRule {
  const escape = md.utils.escapeHtml;
  return (tokens, index, _options, env) => {
    const token = tokens[index] as Token;
    const copy = stringsOf(env)?.copy;
    const button = copy === undefined ? "" : `<button type="button">${escape(copy)}</button>`;
    return (
      `<figure class="md-code"><figcaption><span>${escape(languageOf(token, md))}</span>${button}</figcaption>` +
      `<pre tabindex="0" dir="ltr"><code>${escape(token.content)}</code></pre></figure>`
    );
  };
}

/** Language: the first word of the info string (`rust,ignore` and `js {1,3}` are rust and js). */
function languageOf(token: Token, md: MarkdownIt): string {
  return md.utils.unescapeAll(token.info).trim().split(/[\s,{]/, 1)[0] ?? "";
}

/** Wraps the fence rule to record in `meta.closed` if the fence was closed. */
function recordFenceClosing(md: MarkdownIt): void {
  const original = md.block.ruler.__rules__.find(({ name }) => name === "fence");
  if (original === undefined) throw new Error("markdown-it has no fence rule");
  const { fn, alt } = original;
  const recording = (state: StateBlock, start: number, end: number, silent: boolean): boolean => {
    if (!fn(state, start, end, silent)) return false;
    const token = silent ? undefined : state.tokens.at(-1);
    if (token?.map) token.meta = { closed: isFenceClosed(state, token, token.map) };
    return true;
  };
  md.block.ruler.at("fence", recording, { alt });
}

function isFenceClosed(state: StateBlock, token: Token, [start, end]: [number, number]): boolean {
  const last = end - 1;
  if (last <= start || (state.sCount[last] ?? 0) - state.blkIndent >= 4) return false;
  const from = (state.bMarks[last] ?? 0) + (state.tShift[last] ?? 0);
  return closesFence(state.src.slice(from, state.eMarks[last]), token.markup);
}
