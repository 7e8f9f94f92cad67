// One row for a tool call and its result: icon, name, target, state, duration; arguments, output and the steps of
// a sub-agent below it when it is opened.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { formatDuration, type Strings } from "../i18n/strings.ts";
import { stateIcon, stepList } from "./cards.ts";
import { toolIcon } from "./icons.ts";
import { renderImages } from "./images.ts";
import type { ItemContext } from "./item-context.ts";
import { parseJsonObject, prettyJson } from "./json.ts";

/** What a row says about a call. The one place that knows how a call is described. */
interface ToolDescription {
  title: string;
  target: string | undefined;
  /** Labelled texts below the row. */
  details: readonly { label: string; text: string }[];
}

function describeTool(item: Item, strings: Strings): ToolDescription {
  const output = toolOutput(item);
  const details = [];
  if (item.arguments) details.push({ label: strings.arguments, text: prettyJson(item.arguments) });
  if (output) details.push({ label: strings.output, text: prettyJson(output) });
  return { title: item.name ?? strings.unnamedTool, target: firstStringArgument(item), details };
}

/** Output of a tool: the text of an item that grows, else the result. */
export function toolOutput(item: Item): string | undefined {
  return item.text || item.result;
}

export function toolRow(item: Item, context: ItemContext): TemplateResult {
  const { title, target, details } = describeTool(item, context.strings);
  const heading = html`${toolIcon(item.sort)}<span class="name">${title}</span>
    ${target ? html`<code class="target">${target}</code>` : nothing}
    <span class="facts">${item.label ? html`<span class="note">${item.label}</span>` : nothing}${stateIcon(item, context.strings)}${item.ran_for_ms === undefined
        ? nothing
        : html`<span class="time">${formatDuration(item.ran_for_ms)}</span>`}</span>`;
  const steps = stepList(item, context);
  if (!details.length && steps === nothing) return html`<div class="tool"><div class="row">${heading}</div></div>${renderImages(item, context)}`;
  return html`<details class="tool">
      <summary class="row">${heading}</summary>
      <div class="tool-body">${details.map(({ label, text }) => labelledPre(label, text))} ${steps}</div>
    </details>
    ${renderImages(item, context)}`;
}

/** First line of the first string argument. */
function firstStringArgument(item: Item): string | undefined {
  const values = Object.values(parseJsonObject(item.arguments) ?? {});
  return values.find((value) => typeof value === "string")?.split("\n")[0];
}

function labelledPre(label: string, text: string): TemplateResult {
  return html`<div class="labelled"><span class="muted">${label}</span><pre tabindex="0" dir="ltr">${text}</pre></div>`;
}
