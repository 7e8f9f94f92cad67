// Renders a whole text for the HTML export: same link policy, no buttons, images as links.

import { normaliseText } from "./newlines.ts";
import type { ParseEnv } from "./parse-env.ts";
import { parseBlocks, parseInline, renderTokens } from "./parser.ts";

export function renderToHtml(text: string): string {
  const env: ParseEnv = { references: Object.create(null), growing: false, strings: null };
  const tokens = parseBlocks(normaliseText(text), env);
  parseInline(tokens, env);
  return renderTokens(tokens, env);
}
