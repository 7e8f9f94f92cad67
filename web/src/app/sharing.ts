// Links with which others can read one session.

import type { Gateway } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import type { Words } from "../words/words.ts";
import type { DialogsElement } from "./dialogs.ts";

export class Sharing {
  private links: { id: string; created_ms: number }[] = [];
  private made: string | undefined;

  constructor(
    private readonly gateway: Gateway,
    private readonly session: string,
    private readonly words: Words,
    private readonly dialogs: DialogsElement,
    private readonly trying: (work: Promise<unknown>) => Promise<boolean>,
  ) {}

  async open(): Promise<void> {
    await this.read();
    this.dialogs.own(this.words.share, () => this.body());
  }

  private async read(): Promise<void> {
    this.links = await this.gateway.shares(this.session);
    this.dialogs.again();
  }

  private async make(): Promise<void> {
    const { token } = await this.gateway.share(this.session);
    // After the hash: no server is told it, and no log keeps it.
    this.made = `${location.origin}/share/${this.session}#${token}`;
    await this.read();
  }

  private async revoke(share: string): Promise<void> {
    await this.gateway.revokeShare(this.session, share);
    this.made = undefined;
    await this.read();
  }

  private body(): TemplateResult {
    const { words } = this;
    return html`<p>${words.shareHow}</p>
      ${this.made ? html`<label>${words.shareLink} <input readonly .value=${this.made} @focus=${(event: Event) => (event.target as HTMLInputElement).select()} /></label>` : nothing}
      <button type="button" class="primary" @click=${() => void this.trying(this.make())}>${words.newLink}</button>
      <ul class="links">
        ${this.links.length ? nothing : html`<li class="soft">${words.noShares}</li>`}
        ${this.links.map(
          ({ id, created_ms }) => html`<li>
            ${words.sharedSince(words.clockOf(created_ms))}
            <button type="button" @click=${() => void this.trying(this.revoke(id))}>${words.revoke}</button>
          </li>`,
        )}
      </ul>`;
  }
}
