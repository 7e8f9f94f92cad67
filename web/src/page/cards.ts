// Cards of tools, actions, steps and thinking.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { ranForText, type Strings } from "../i18n/strings.ts";
import { renderImages } from "./images.ts";
import type { ItemContext } from "./item-context.ts";

const STATE_ICONS: Record<Item["state"], string> = {
  live: "◌",
  done: "✓",
  called: "→",
  failed: "✕",
  denied: "⊘",
  incomplete: "…",
  withdrawn: "",
};

/** Icon of an item's state, with its name for screen readers. */
export function stateIcon(item: Item, strings: Strings): TemplateResult {
  return html`<span class="state-icon state-icon-${item.state}"
    ><span aria-hidden="true">${STATE_ICONS[item.state]}</span><span class="visually-hidden"> ${strings.itemStates[item.state]}</span></span
  >`;
}

export function toolCard(item: Item, context: ItemContext): TemplateResult {
  const { strings } = context;
  const heading = html`${stateIcon(item, strings)} <span class="name">${item.name ?? strings.unnamedTool}</span> ${firstStringArgument(item)}
    ${item.label ? html`<span class="muted">${item.label}</span>` : nothing}`;
  const output = item.kind === "tool" && item.text ? item.text : item.result;
  if (!item.arguments && !output) return html`<div class="card small">${heading}</div>${renderImages(item, context)}`;
  return html`<details class="card">
      <summary>${heading}</summary>
      ${item.arguments ? labelledPre(strings.arguments, prettyJson(item.arguments)) : nothing}
      ${output ? labelledPre(strings.output, prettyJson(output)) : nothing}
    </details>
    ${renderImages(item, context)}`;
}

export function actionCard(item: Item, context: ItemContext): TemplateResult {
  const { strings } = context;
  const fields = Object.entries(parseJsonObject(item.arguments) ?? {});
  return html`<div class="card action">
    <div>${stateIcon(item, strings)} <span class="name">${item.name ?? strings.unnamedAction}</span></div>
    ${fields.length
      ? html`<dl>${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${valueText(value)}</dd></div>`)}</dl>`
      : nothing}
    ${item.label ? html`<p class="muted">${item.label}</p>` : nothing} ${renderImages(item, context)}
  </div>`;
}

export function stepsCard(item: Item, context: ItemContext): TemplateResult {
  return html`<details class="steps">
    <summary><span>${ranForText(item.label, context.strings)}</span></summary>
    <div class="steps-body">${(item.steps ?? []).map((step) => stepCard(step, context))}</div>
  </details>`;
}

function stepCard(step: Item, context: ItemContext): TemplateResult {
  if (step.kind === "reasoning") return html`<div class="thinking-text">${step.text ?? ""}</div>`;
  if (step.kind === "action") return actionCard(step, context);
  return toolCard(step, context);
}

export function thinkingCard(item: Item, strings: Strings): TemplateResult {
  return html`<details class="thinking">
    <summary>${strings.thinking} ${item.state === "live" ? stateIcon(item, strings) : nothing}</summary>
    <div class="thinking-text">${item.text ?? ""}</div>
  </details>`;
}

/** First line of the first string argument, shown next to the tool name. */
function firstStringArgument(item: Item): TemplateResult | typeof nothing {
  const fields = parseJsonObject(item.arguments);
  const first = fields && Object.values(fields).find((value) => typeof value === "string");
  return first ? html`<code class="first-argument">${(first as string).split("\n")[0]}</code>` : nothing;
}

function labelledPre(label: string, text: string): TemplateResult {
  return html`<div class="labelled"><span class="muted">${label}</span><pre tabindex="0" dir="ltr">${text}</pre></div>`;
}

function prettyJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

function parseJsonObject(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
