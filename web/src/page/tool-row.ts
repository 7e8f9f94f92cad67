// One row for a tool call and its result: icon, title, target, facts, state, duration. Below it, when it is opened:
// what it did, its output, and one step further the raw call. Open from the start if it changed files or tasks.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { formatDuration, type Strings } from "../i18n/strings.ts";
import { stateIcon, stepList } from "./cards.ts";
import { toolIcon } from "./icons.ts";
import { renderImages } from "./images.ts";
import type { ItemContext } from "./item-context.ts";
import { prettyJson } from "./json.ts";
import { toolDetails } from "./tool-details.ts";
import { changedLines, toolFacts, toolOutput, toolTitle } from "./tool-text.ts";

export function toolRow(item: Item, context: ItemContext): TemplateResult {
  const { strings } = context;
  const heading = rowHeading(item, strings);
  const body = toolBody(item, context);
  if (body === undefined) return html`<div class="tool"><div class="row">${heading}</div></div>${renderImages(item, context)}`;
  const isOpen = Boolean(item.description?.diffs?.length || item.description?.todos?.length);
  return html`<details class="tool" ?open=${isOpen}>
      <summary class="row">${heading}</summary>
      <div class="tool-body">${body}</div>
    </details>
    ${renderImages(item, context)}`;
}

function rowHeading(item: Item, strings: Strings): TemplateResult {
  const target = item.description?.target;
  const changed = item.description && changedLines(item.description);
  return html`${toolIcon(item)}<span class="name">${toolTitle(item, strings)}</span>
    ${target ? html` <code class="target">${target}</code>` : nothing}
    <span class="facts">${changed?.added ? changedCount("added", `+${changed.added}`, strings.linesAdded(changed.added)) : nothing}${changed?.removed
        ? changedCount("removed", `-${changed.removed}`, strings.linesRemoved(changed.removed))
        : nothing}${toolFacts(item, strings).map((fact) => html` <span class="note">${fact}</span>`)} ${stateIcon(item, strings)}${item.ran_for_ms === undefined
        ? nothing
        : html` <span class="time">${formatDuration(item.ran_for_ms)}</span>`}</span>`;
}

function changedCount(kind: "added" | "removed", mark: string, words: string): TemplateResult {
  return html` <span class=${kind}><span aria-hidden="true">${mark}</span><span class="visually-hidden">${words}</span></span>`;
}

/** What is below the row; undefined if that is nothing. */
function toolBody(item: Item, context: ItemContext): TemplateResult | undefined {
  const { strings } = context;
  const details = toolDetails(item.description, strings);
  const steps = stepList(item, context);
  const output = toolOutput(item);
  // The description of a call that went well says what its output does.
  const isOutputRaw = details !== undefined && item.state === "done";
  if (details === undefined && steps === nothing && !output && !item.arguments) return undefined;
  const isDescribed = item.description !== undefined && (details !== undefined || Boolean(output) || steps !== nothing);
  const argumentsText = item.arguments ? labelledPre(strings.arguments, item.arguments) : nothing;
  const outputText = output ? labelledPre(strings.output, output) : nothing;
  if (!isDescribed) return html`${argumentsText} ${outputText} ${steps}`;
  const hasRaw = Boolean(item.arguments) || (isOutputRaw && output);
  return html`${details ?? nothing} ${isOutputRaw ? nothing : outputText} ${steps}
    ${hasRaw
      ? html`<details class="raw"><summary>${strings.rawCall}</summary>
          <p class="muted">${item.name ?? strings.unnamedTool}</p>${argumentsText} ${isOutputRaw ? outputText : nothing}</details>`
      : nothing}`;
}

function labelledPre(label: string, text: string): TemplateResult {
  return html`<div class="labelled"><span class="muted">${label}</span><pre tabindex="0" dir="ltr">${prettyJson(text)}</pre></div>`;
}
