// Template of one item. The view has decided what is shown; this decides how it looks.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { renderAsk } from "./ask-item.ts";
import { actionCard, stepsCard, thinkingCard } from "./cards.ts";
import { renderFailure } from "./failure.ts";
import { renderImages, renderSources } from "./images.ts";
import type { ItemContext } from "./item-context.ts";
import "./markdown-text.ts";
import { requestSummary } from "./request-summary.ts";
import { toolRow } from "./tool-row.ts";

export function renderItem(item: Item, context: ItemContext): TemplateResult | typeof nothing {
  if (item.state === "withdrawn") return nothing;
  const content = renderContent(item, context);
  // Its source is still writing it.
  return item.state === "draft" ? html`${content}<p class="aside">[${context.strings.itemStates.draft}]</p>` : content;
}

function renderContent(item: Item, context: ItemContext): TemplateResult | typeof nothing {
  const { strings } = context;
  switch (item.kind) {
    case "user":
      return renderUserMessage(item, context);
    case "text":
      return renderAgentText(item, context);
    case "reasoning":
      return thinkingCard(item, strings);
    case "tool":
    case "entry":
      return toolRow(item, context);
    case "steps":
      return stepsCard(item, context);
    case "action":
      return actionCard(item, context);
    case "ask":
      return renderAsk(item, strings);
    case "request":
      return html`<p class="aside">${strings.request}: ${requestSummary(item, strings)}</p>`;
    case "checkpoint":
      return html`<p class="aside">${strings.checkpointSaved} <code>${(item.text ?? item.id).slice(0, 12)}</code></p>`;
    case "withdrawal":
      return html`<p class="aside">${strings.withdrawnNote}</p>`;
    case "notice":
      return renderNotice(item, context);
    case "error":
      return renderFailure(item, context);
  }
}

function renderNotice(item: Item, context: ItemContext): TemplateResult {
  if (item.sort === "attachment") return html`${renderImages(item, context)} ${renderSources(item, context)}`;
  return html`<p class="aside">${item.sort === "usage" ? requestSummary(item, context.strings) : (item.text ?? "")}</p>`;
}

function renderUserMessage(item: Item, context: ItemContext): TemplateResult {
  const { strings } = context;
  return html`<h2 class="visually-hidden">${strings.you}</h2>
    <div class="message-text" dir="auto">${item.text ?? ""}</div>
    ${renderImages(item, context)}
    <div class="item-actions" ?hidden=${item.state === "draft"}>
      <button type="button" class="link-button" @click=${() => context.copyText(item.text ?? "")}>${strings.copyMessage}</button>
      ${context.onEdit
        ? html`<button type="button" class="link-button" @click=${() => context.onEdit?.(item)}>${strings.editAsBranch}</button>`
        : nothing}
    </div>`;
}

/** The text itself is set by `PageView`, so that appending does not render the template again. */
function renderAgentText(item: Item, context: ItemContext): TemplateResult {
  return html`<h2 class="visually-hidden">${context.strings.agent}</h2>
    <mp-text class="markdown" .options=${context.markdown}></mp-text>
    ${renderImages(item, context)} ${renderSources(item, context)}
    ${item.state === "incomplete" ? html`<p class="aside">${context.strings.interruptedNote}</p>` : nothing}`;
}
