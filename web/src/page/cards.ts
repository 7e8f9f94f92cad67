// Tools, actions, steps and thoughts as they stand on a page.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { ranFor, type Words } from "../words/words.ts";
import type { Around } from "./around.ts";
import { pictures } from "./pictures.ts";

const MARKS: Record<Item["state"], string> = {
  live: "◌",
  done: "✓",
  called: "→",
  failed: "✕",
  denied: "⊘",
  incomplete: "…",
  withdrawn: "",
};

export function mark(item: Item, words: Words): TemplateResult {
  return html`<span class="mark mark-${item.state}"
    ><span aria-hidden="true">${MARKS[item.state]}</span><span class="unseen"> ${words.state[item.state]}</span></span
  >`;
}

export function tool(item: Item, around: Around): TemplateResult {
  const { words } = around;
  const heading = html`${mark(item, words)} <span class="name">${item.name ?? words.tool}</span> ${brief(item)}
    ${item.label ? html`<span class="soft">${item.label}</span>` : nothing}`;
  const output = item.kind === "tool" && item.text ? item.text : item.result;
  if (!item.arguments && !output) return html`<div class="card small">${heading}</div>${pictures(item, around)}`;
  return html`<details class="card">
      <summary>${heading}</summary>
      ${item.arguments ? labelled(words.arguments, pretty(item.arguments)) : nothing}
      ${output ? labelled(words.output, pretty(output)) : nothing}
    </details>
    ${pictures(item, around)}`;
}

export function action(item: Item, around: Around): TemplateResult {
  const { words } = around;
  const fields = Object.entries(parsed(item.arguments) ?? {});
  return html`<div class="card action">
    <div>${mark(item, words)} <span class="name">${item.name ?? words.action}</span></div>
    ${fields.length
      ? html`<dl>${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${plain(value)}</dd></div>`)}</dl>`
      : nothing}
    ${item.label ? html`<p class="soft">${item.label}</p>` : nothing} ${pictures(item, around)}
  </div>`;
}

export function steps(item: Item, around: Around): TemplateResult {
  return html`<details class="steps">
    <summary><span>${ranFor(item.label, around.words)}</span></summary>
    <div class="folded">${(item.steps ?? []).map((step) => inside(step, around))}</div>
  </details>`;
}

function inside(step: Item, around: Around): TemplateResult {
  if (step.kind === "reasoning") return html`<div class="thought">${step.text ?? ""}</div>`;
  if (step.kind === "action") return action(step, around);
  return tool(step, around);
}

export function thought(item: Item, words: Words): TemplateResult {
  return html`<details class="thinking">
    <summary>${words.thinking} ${item.state === "live" ? mark(item, words) : nothing}</summary>
    <div class="thought">${item.text ?? ""}</div>
  </details>`;
}

/** The one argument that says most, on the line of the tool. */
function brief(item: Item): TemplateResult | typeof nothing {
  const fields = parsed(item.arguments);
  const first = fields && Object.values(fields).find((value) => typeof value === "string");
  return first ? html`<code class="brief">${(first as string).split("\n")[0]}</code>` : nothing;
}

function labelled(label: string, text: string): TemplateResult {
  return html`<div class="labelled"><span class="soft">${label}</span><pre tabindex="0" dir="ltr">${text}</pre></div>`;
}

function pretty(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
