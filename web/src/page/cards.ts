// Cards of actions, steps and thinking.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { ranForText, type Strings } from "../i18n/strings.ts";
import { renderImages } from "./images.ts";
import type { ItemContext } from "./item-context.ts";
import { parseJsonObject } from "./json.ts";
import { toolRow } from "./tool-row.ts";

const STATE_ICONS: Record<Item["state"], string> = {
  live: "◌",
  draft: "◌",
  done: "",
  pending: "◌",
  called: "→",
  failed: "✕",
  denied: "⊘",
  incomplete: "…",
  withdrawn: "",
};

/** Sign of an item's state with its name; what went well has a name for screen readers only. */
export function stateIcon(item: Item, strings: Strings): TemplateResult {
  const word = strings.itemStates[item.state];
  if (item.state === "done") return html`<span class="visually-hidden">${word}</span>`;
  return html`<span class="state-icon state-icon-${item.state}"><span aria-hidden="true">${STATE_ICONS[item.state]}</span> ${word}</span>`;
}

/** A described action is a row like any call; otherwise a card with its parameters. */
export function actionCard(item: Item, context: ItemContext): TemplateResult {
  if (item.description) return toolRow(item, context);
  const { strings } = context;
  const fields = Object.entries(parseJsonObject(item.arguments) ?? {});
  return html`<div class="card action">
    <div><span class="name">${item.name ?? strings.unnamedAction}</span> ${stateIcon(item, strings)}</div>
    ${fields.length
      ? html`<dl>${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${valueText(value)}</dd></div>`)}</dl>`
      : nothing}
    ${item.label ? html`<p class="muted">${item.label}</p>` : nothing} ${renderImages(item, context)}
  </div>`;
}

export function stepsCard(item: Item, context: ItemContext): TemplateResult {
  // The row is kept empty until its round has ended, so that the text below does not move.
  if (item.state === "live") return html`<div class="steps reserved"></div>`;
  return html`<details class="steps">
      <summary><span>${ranForText(item.label, context.strings)}</span></summary>
      ${stepList(item, context)}
    </details>
    ${renderImages(item, context)}`;
}

/** The steps nested in an item. */
export function stepList(item: Item, context: ItemContext): TemplateResult | typeof nothing {
  const steps = (item.steps ?? []).filter(({ state }) => state !== "withdrawn");
  return steps.length ? html`<div class="steps-body">${steps.map((step) => stepCard(step, context))}</div>` : nothing;
}

function stepCard(step: Item, context: ItemContext): TemplateResult {
  if (step.kind === "reasoning") return html`<div class="thinking-text">${step.text ?? ""}</div>`;
  if (step.kind === "action") return actionCard(step, context);
  return toolRow(step, context);
}

export function thinkingCard(item: Item, strings: Strings): TemplateResult {
  return html`<details class="thinking">
    <summary>${strings.thinking} ${item.state === "live" ? stateIcon(item, strings) : nothing}</summary>
    <div class="thinking-text">${item.text ?? ""}</div>
  </details>`;
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
