// Sidebar: search, the list of chats and a menu for each.

import type { Session } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { hasLostFocus } from "../focus.ts";
import type { Strings } from "../i18n/strings.ts";
import { MENU_ACTIONS, sessionActionLabel, type SessionAction } from "./session-actions.ts";
import type { SessionList } from "./session-list.ts";

const SEARCH_DELAY_MS = 150;

/** The list of chats. Dispatches `new-chat` and `session-action`. */
export class SidebarElement extends LitElement {
  static override properties = {
    sessionList: { attribute: false },
    currentId: { attribute: false },
    strings: { attribute: false },
    version: { attribute: false },
    openMenuId: { state: true },
  };
  declare sessionList: SessionList;
  declare currentId: string | undefined;
  declare strings: Strings;
  /** Incremented when the list changes, to render again. */
  declare version: number;
  declare private openMenuId: string | undefined;
  private searchTimer: ReturnType<typeof setTimeout> | undefined;
  private hadFocus = false;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(): void {
    this.hadFocus = this.matches(":focus-within");
  }

  protected override updated(): void {
    if (this.hadFocus && hasLostFocus(this)) this.querySelector<HTMLElement>(".new-chat")?.focus();
  }

  protected override render(): TemplateResult {
    const { strings, sessionList } = this;
    const { pinned, others } = sessionList.partitionPinned();
    const { query, archived } = sessionList.filter;
    return html`<div class="sidebar-head">
        <button type="button" class="primary new-chat" @click=${() => this.dispatchEvent(new CustomEvent("new-chat"))}>${strings.newChat}</button>
        <input type="search" aria-label=${strings.search} placeholder=${strings.search} @input=${this.onSearchInput} />
      </div>
      <nav aria-label=${strings.chats}>
        ${pinned.length ? this.renderSection(strings.pinned, pinned) : nothing}
        ${others.length ? this.renderSection(archived ? strings.archive : strings.recent, others) : nothing}
        ${sessionList.sessions.length ? nothing : html`<p class="muted empty-list">${query ? strings.nothingFound : strings.noChats}</p>`}
        ${sessionList.nextCursor ? html`<button type="button" class="link-button" @click=${() => void sessionList.loadMore()}>${strings.more}</button>` : nothing}
      </nav>
      <div class="sidebar-foot">
        <button type="button" class="link-button" @click=${() => void sessionList.load({ query, archived: !archived })}>
          ${archived ? strings.hideArchive : strings.showArchive}
        </button>
      </div>`;
  }

  private renderSection(heading: string, list: Session[]): TemplateResult {
    return html`<h2>${heading}</h2>
      <ul>${list.map((session) => this.renderSession(session))}</ul>`;
  }

  private renderSession(session: Session): TemplateResult {
    const { strings } = this;
    const title = session.title || strings.untitled;
    const isOpen = session.id === this.openMenuId;
    return html`<li class=${session.id === this.currentId ? "current" : ""} @keydown=${isOpen ? this.closeMenuOnEscape : nothing}>
      <a href="/s/${session.id}" aria-current=${session.id === this.currentId ? "page" : nothing} @click=${(event: MouseEvent) => this.openSession(event, session)}>
        <span class="title" dir="auto">${title}</span> ${this.renderBadge(session)}
      </a>
      <button type="button" class="icon" aria-label=${strings.sessionActions(title)} aria-expanded=${isOpen} @click=${() => (this.openMenuId = isOpen ? undefined : session.id)}>
        <span aria-hidden="true">⋯</span>
      </button>
      ${isOpen ? this.renderMenu(session) : nothing}
    </li>`;
  }

  private renderBadge(session: Session): TemplateResult | typeof nothing {
    if (session.asks) return html`<span class="badge"><span aria-hidden="true">?</span><span class="visually-hidden">${this.strings.needsAnswer}</span></span>`;
    if (session.run) return html`<span class="badge"><span aria-hidden="true">●</span><span class="visually-hidden">${this.strings.running}</span></span>`;
    return nothing;
  }

  private renderMenu(session: Session): TemplateResult {
    const button = (action: SessionAction) =>
      html`<button type="button" @click=${() => this.requestAction(action, session)}>${sessionActionLabel(action, session, this.strings)}</button>`;
    return html`<div class="menu">${MENU_ACTIONS.map(button)}</div>`;
  }

  private openSession(event: MouseEvent, session: Session): void {
    // The browser opens links in new tabs itself.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.requestAction("open", session);
  }

  private readonly closeMenuOnEscape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    // Close only the menu, not the sidebar.
    event.stopPropagation();
    this.closeMenu();
  };

  /** Moves the focus back to the menu button before the menu goes, so that a dialog returns it there. */
  private closeMenu(): void {
    this.querySelector<HTMLElement>("[aria-expanded=true]")?.focus();
    this.openMenuId = undefined;
  }

  private requestAction(action: SessionAction, session: Session): void {
    this.closeMenu();
    this.dispatchEvent(new CustomEvent("session-action", { detail: { action, session } }));
  }

  private readonly onSearchInput = (event: Event): void => {
    const query = (event.target as HTMLInputElement).value;
    clearTimeout(this.searchTimer);
    this.searchTimer = setTimeout(() => void this.sessionList.load({ ...this.sessionList.filter, query }), SEARCH_DELAY_MS);
  };
}

customElements.define("mp-sidebar", SidebarElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-sidebar": SidebarElement;
  }
}
