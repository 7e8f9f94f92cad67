// What somebody sees who is not let in, and what they can do about it.

import { html, nothing, type TemplateResult } from "lit";
import type { Words } from "../words/words.ts";
import type { Place } from "./place.ts";

export function doorstep(place: Place, words: Words): TemplateResult {
  const isGuest = place.what === "shared";
  const used = new URLSearchParams(location.search).get("link") === "used";
  return html`<main class="doorstep">
    <h1>${words.product}</h1>
    <h2>${isGuest ? words.revoked : words.signedOut}</h2>
    ${used ? html`<p class="problem">${words.linkUsed}</p>` : nothing}
    ${isGuest ? nothing : html`<p>${words.signedOutHow}</p><pre><code>millpond login</code></pre>`}
  </main>`;
}
