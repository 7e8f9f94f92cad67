// Dialog that creates and revokes read-only links to a session.

import type { GatewayClient } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import type { Strings } from "../i18n/strings.ts";
import type { DialogsElement } from "./dialogs.ts";

/** Content of the share dialog of one session. */
export class ShareDialog {
  private links: { id: string; created_ms: number }[] = [];
  private newLinkUrl: string | undefined;

  constructor(
    private readonly gateway: GatewayClient,
    private readonly session: string,
    private readonly strings: Strings,
    private readonly dialogs: DialogsElement,
    private readonly toastErrors: (work: Promise<unknown>) => Promise<boolean>,
  ) {}

  async open(): Promise<void> {
    await this.loadLinks();
    this.dialogs.showCustom(this.strings.shareSession, () => this.renderBody());
  }

  private async loadLinks(): Promise<void> {
    this.links = await this.gateway.listShares(this.session);
    this.dialogs.rerender();
  }

  private async createLink(): Promise<void> {
    const { token } = await this.gateway.createShare(this.session);
    // In the fragment: browsers do not send it, so no server log contains it.
    this.newLinkUrl = `${location.origin}/share/${this.session}#${token}`;
    await this.loadLinks();
  }

  private async revokeLink(share: string): Promise<void> {
    await this.gateway.revokeShare(this.session, share);
    this.newLinkUrl = undefined;
    await this.loadLinks();
  }

  private renderBody(): TemplateResult {
    const { strings } = this;
    return html`<p>${strings.shareHint}</p>
      ${this.newLinkUrl ? html`<label>${strings.shareLink} <input readonly .value=${this.newLinkUrl} @focus=${(event: Event) => (event.target as HTMLInputElement).select()} /></label>` : nothing}
      <button type="button" class="primary" @click=${() => void this.toastErrors(this.createLink())}>${strings.newLink}</button>
      <ul class="links">
        ${this.links.length ? nothing : html`<li class="muted">${strings.noShares}</li>`}
        ${this.links.map(
          ({ id, created_ms }) => html`<li>
            ${strings.sharedOn(strings.formatTime(created_ms))}
            <button type="button" @click=${() => void this.toastErrors(this.revokeLink(id))}>${strings.revoke}</button>
          </li>`,
        )}
      </ul>`;
  }
}
