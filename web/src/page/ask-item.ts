// An approval or question as an item: what was asked, and how it was answered.

import type { FileDiff, Item, ToolDescription } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { answeredHeading, askHeading } from "../i18n/ask-text.ts";
import type { Strings } from "../i18n/strings.ts";
import { escapeHiddenCharacters } from "./hidden-characters.ts";
import { toolDetails } from "./tool-details.ts";

export function renderAsk(item: Item, strings: Strings): TemplateResult {
  const isOpen = item.state === "live" || item.state === "draft";
  const heading = isOpen ? askHeading(item.sort, strings) : answeredHeading(item, strings);
  return html`<div class="card small">
    <span class="muted">${heading}</span>
    ${escapedPre(item.text)} ${renderCall(item, isOpen, strings)}
  </div>`;
}

/** The call that the person is asked about, as far as the question does not say it; all of it until it is decided. */
function renderCall(item: Item, isOpen: boolean, strings: Strings): TemplateResult | typeof nothing {
  const { text = "", description } = item;
  const diffs = description?.diffs?.filter((diff) => !hasAllChangedLines(text, diff)) ?? [];
  const details = toolDetails(description && withEscapedTexts({ ...description, diffs }), strings) ?? nothing;
  if (!item.arguments) return details;
  if (!description?.covers_arguments) return html`${escapedPre(item.arguments)} ${details}`;
  return html`${details}
    <details class="raw" ?open=${isOpen}><summary>${strings.rawCall}</summary>${escapedPre(item.arguments)}</details>`;
}

/** True if the text shows each added and removed line of a change, as a unified diff does. */
function hasAllChangedLines(text: string, { lines = [] }: FileDiff): boolean {
  const shown = new Set(text.split("\n"));
  const signs = { added: "+", removed: "-" } as const;
  return lines.every(({ change, text = "" }) => !(change === "added" || change === "removed") || shown.has(signs[change] + text));
}

/** The description with hidden characters as escapes: they could make a change look like another. */
function withEscapedTexts(description: ToolDescription): ToolDescription {
  return JSON.parse(JSON.stringify(description), (_name, value: unknown) => (typeof value === "string" ? escapeHiddenCharacters(value) : value)) as ToolDescription;
}

function escapedPre(text = ""): TemplateResult {
  return html`<pre tabindex="0" dir="ltr">${escapeHiddenCharacters(text)}</pre>`;
}
