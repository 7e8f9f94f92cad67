// Renders a whole text for the HTML export: the policy of the page, but nothing to press and images as links.

import { clean } from "./intake.ts";
import { parseBlocks, parseWords, renderTokens } from "./parser.ts";
import type { Setting } from "./setting.ts";

export function renderToHtml(text: string): string {
  const setting: Setting = { references: Object.create(null), growing: false, words: null };
  const tokens = parseBlocks(clean(text), setting);
  parseWords(tokens, setting);
  return renderTokens(tokens, setting);
}
