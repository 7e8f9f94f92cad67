// One item of a page as elements. What is shown was decided by the view; this only says how it looks.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import type { Words } from "../words/words.ts";
import type { Around } from "./around.ts";
import { action, steps, thought, tool } from "./cards.ts";
import { writtenOut } from "./hidden-characters.ts";
import { pictures, sources } from "./pictures.ts";
import { request } from "./request.ts";
import "./text.ts";
import { answerWords } from "../words/answers.ts";

export function itemTemplate(item: Item, around: Around): TemplateResult | typeof nothing {
  const { words } = around;
  if (item.state === "withdrawn") return nothing;
  switch (item.kind) {
    case "user":
      return user(item, around);
    case "text":
      return text(item, around);
    case "reasoning":
      return thought(item, words);
    case "tool":
    case "entry":
      return tool(item, around);
    case "steps":
      return steps(item, around);
    case "action":
      return action(item, around);
    case "ask":
      return asked(item, words);
    case "request":
      return html`<p class="aside">${request(item, words)}</p>`;
    case "checkpoint":
      return html`<p class="aside">${words.checkpoint} <code>${(item.text ?? item.id).slice(0, 12)}</code></p>`;
    case "withdrawal":
      return html`<p class="aside">${words.withdrawnNote}</p>`;
    case "notice":
      return notice(item, around);
    case "error":
      return html`<p class="problem"><span aria-hidden="true">✕</span> ${item.text ?? ""}</p>`;
  }
}

function notice(item: Item, around: Around): TemplateResult {
  if (item.sort === "attachment") return html`${pictures(item, around)} ${sources(item, around)}`;
  return html`<p class="aside">${item.sort === "usage" ? request(item, around.words) : (item.text ?? "")}</p>`;
}

function user(item: Item, around: Around): TemplateResult {
  const { words } = around;
  return html`<h2 class="unseen">${words.you}</h2>
    <div class="said" dir="auto">${item.text ?? ""}</div>
    ${pictures(item, around)}
    <div class="on-item">
      <button type="button" class="quiet" @click=${() => around.copy(item.text ?? "")}>${words.copyMessage}</button>
      ${around.edit
        ? html`<button type="button" class="quiet" @click=${() => around.edit?.(item)}>${words.editMessage}</button>`
        : nothing}
    </div>`;
}

/** The text itself is put by the page: it grows without this being made anew. */
function text(item: Item, around: Around): TemplateResult {
  return html`<h2 class="unseen">${around.words.agent}</h2>
    <mp-text class="markdown" .surroundings=${around.markdown}></mp-text>
    ${pictures(item, around)} ${sources(item, around)}
    ${item.state === "incomplete" ? html`<p class="aside broken">${around.words.brokeOff}</p>` : nothing}`;
}

function asked(item: Item, words: Words): TemplateResult {
  const answer = item.result ?? item.label;
  return html`<div class="card small">
    <span class="soft">${words.waitingForYou}</span>
    <pre tabindex="0" dir="ltr">${writtenOut(item.text ?? "")}</pre>
    ${answer ? html`<p>${words.answer}: ${answerWords(answer, words)}</p>` : nothing}
  </div>`;
}
