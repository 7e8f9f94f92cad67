// A failure as an item: what failed, why, and a way to try again.

import type { Item } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { failureParts } from "../i18n/failure-text.ts";
import type { ItemContext } from "./item-context.ts";

export function renderFailure(item: Item, context: ItemContext): TemplateResult {
  const { strings, onRetry, hasMessage } = context;
  const { heading, reason } = failureParts(item.text ?? "", strings);
  // Other errors did not end their run.
  const canRetry = onRetry && item.sort === "ending" && hasMessage(item.run);
  return html`<div class="failure">
    <p class="failure-heading" dir="auto"><span aria-hidden="true">✕</span> ${heading}</p>
    ${reason ? html`<p class="failure-reason" dir="auto">${reason}</p>` : nothing}
    ${canRetry ? html`<button type="button" @click=${() => onRetry(item.run)}>${strings.retry}</button>` : nothing}
  </div>`;
}
