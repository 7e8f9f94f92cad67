// The page for users who are not signed in, or whose shared link was revoked.

import { html, nothing, type TemplateResult } from "lit";
import type { Strings } from "../i18n/strings.ts";
import type { Route } from "./route.ts";

export function renderSignedOut(route: Route, strings: Strings): TemplateResult {
  const isGuest = route.kind === "shared";
  // The gateway redirects here if a login link was already used.
  const isLinkUsed = new URLSearchParams(location.search).get("link") === "used";
  return html`<main class="signed-out">
    <h1>${strings.product}</h1>
    <h2>${isGuest ? strings.linkRevoked : strings.signedOut}</h2>
    ${isLinkUsed ? html`<p class="error">${strings.linkUsed}</p>` : nothing}
    ${isGuest ? nothing : html`<p>${strings.signInHint}</p><pre><code>millpond login</code></pre>`}
  </main>`;
}
