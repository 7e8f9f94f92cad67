// The list of chats.

import type { Session } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { hasLostFocus } from "../focus.ts";
import type { Words } from "../words/words.ts";
import type { Sessions } from "./sessions.ts";

export type SessionWish = "open" | "rename" | "pin" | "archive" | "remove";

export class SidebarElement extends LitElement {
  static override properties = {
    sessions: { attribute: false },
    current: { attribute: false },
    words: { attribute: false },
    stamp: { attribute: false },
    menuOf: { state: true },
  };
  declare sessions: Sessions;
  declare current: string | undefined;
  declare words: Words;
  /** Changes when the list does. */
  declare stamp: number;
  declare private menuOf: string | undefined;
  private searching: ReturnType<typeof setTimeout> | undefined;
  private hadFocus = false;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(): void {
    this.hadFocus = this.matches(":focus-within");
  }

  protected override updated(): void {
    if (this.hadFocus && hasLostFocus(this)) this.querySelector<HTMLElement>(".new")?.focus();
  }

  protected override render(): TemplateResult {
    const { words, sessions } = this;
    const { pinned, others } = sessions.parts();
    const { query, archived } = sessions.listing;
    return html`<div class="side-head">
        <button type="button" class="primary new" @click=${() => this.dispatchEvent(new CustomEvent("new-chat"))}>${words.newChat}</button>
        <input type="search" aria-label=${words.search} placeholder=${words.search} @input=${this.search} />
      </div>
      <nav aria-label=${words.chats}>
        ${pinned.length ? this.section(words.pinned, pinned) : nothing}
        ${others.length ? this.section(archived ? words.archive : words.recent, others) : nothing}
        ${sessions.list.length ? nothing : html`<p class="soft none">${query ? words.nothingFound : words.noChats}</p>`}
        ${sessions.more ? html`<button type="button" class="quiet" @click=${() => void sessions.readMore()}>${words.more}</button>` : nothing}
      </nav>
      <div class="side-foot">
        <button type="button" class="quiet" @click=${() => void sessions.read({ query, archived: !archived })}>
          ${archived ? words.hideArchive : words.showArchive}
        </button>
      </div>`;
  }

  private section(heading: string, list: Session[]): TemplateResult {
    return html`<h2>${heading}</h2>
      <ul>${list.map((session) => this.session(session))}</ul>`;
  }

  private session(session: Session): TemplateResult {
    const { words } = this;
    const title = session.title || words.untitled;
    const open = session.id === this.menuOf;
    return html`<li class=${session.id === this.current ? "current" : ""} @keydown=${open ? this.escape : nothing}>
      <a href="/s/${session.id}" aria-current=${session.id === this.current ? "page" : nothing} @click=${(event: MouseEvent) => this.go(event, session)}>
        <span class="title" dir="auto">${title}</span> ${this.sign(session)}
      </a>
      <button type="button" class="icon" aria-label=${words.actions(title)} aria-expanded=${open} @click=${() => (this.menuOf = open ? undefined : session.id)}>
        <span aria-hidden="true">⋯</span>
      </button>
      ${open ? this.menu(session) : nothing}
    </li>`;
  }

  private sign(session: Session): TemplateResult | typeof nothing {
    if (session.asks) return html`<span class="sign asks"><span aria-hidden="true">?</span><span class="unseen">${this.words.waitsForYou}</span></span>`;
    if (session.run) return html`<span class="sign runs"><span aria-hidden="true">●</span><span class="unseen">${this.words.running}</span></span>`;
    return nothing;
  }

  private menu(session: Session): TemplateResult {
    const { words } = this;
    const wishes: [SessionWish, string][] = [
      ["rename", words.rename],
      ["pin", session.pinned ? words.unpin : words.pin],
      ["archive", session.archived ? words.unarchive : words.archiveIt],
      ["remove", words.remove],
    ];
    return html`<div class="menu">
      ${wishes.map(([wish, label]) => html`<button type="button" @click=${() => this.wish(wish, session)}>${label}</button>`)}
    </div>`;
  }

  private go(event: MouseEvent, session: Session): void {
    // A new tab is the browser's to open.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.wish("open", session);
  }

  private readonly escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    // Only the menu: the list behind it stays.
    event.stopPropagation();
    this.closeMenu();
  };

  /** What was pressed in it goes: its button has the focus again, also for a dialog to give back. */
  private closeMenu(): void {
    this.querySelector<HTMLElement>("[aria-expanded=true]")?.focus();
    this.menuOf = undefined;
  }

  private wish(wish: SessionWish, session: Session): void {
    this.closeMenu();
    this.dispatchEvent(new CustomEvent("session-wish", { detail: { wish, session } }));
  }

  private readonly search = (event: Event): void => {
    const query = (event.target as HTMLInputElement).value;
    clearTimeout(this.searching);
    this.searching = setTimeout(() => void this.sessions.read({ ...this.sessions.listing, query }), 150);
  };
}

customElements.define("mp-sidebar", SidebarElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-sidebar": SidebarElement;
  }
}
