// Templates of the app: sidebar, top bar, start page, chat.

import { VIEWS, type Session, type View } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { ComposedMessage } from "../chat/composer.ts";
import type { AppElement } from "./app.ts";
import { buildCommands } from "./commands.ts";
import { runSessionAction, type SessionAction } from "./session-actions.ts";

/** Screens on which the sidebar covers the chat; the same width as in style.css. */
export const NARROW_SCREEN = matchMedia("(max-width: 48rem)");

export function renderApp(app: AppElement): TemplateResult {
  const { strings, sessionId, isSidebarOpen } = app;
  const isShared = app.route.kind === "shared";
  return html`<button type="button" class="skip-link" @click=${() => app.querySelector<HTMLElement>("#main")?.focus()}>${strings.conversation}</button>
    <div class="app ${isSidebarOpen ? "open" : ""} ${isShared ? "shared" : ""}">
      ${isShared ? nothing : renderSidebar(app)}
      <main id="main" tabindex="-1" ?inert=${isSidebarOpen && NARROW_SCREEN.matches}>${renderTopBar(app)} ${sessionId ? renderChat(app, sessionId) : renderStartPage(app)}</main>
    </div>
    <mp-palette .strings=${strings} .commands=${buildCommands(app)}></mp-palette>
    <mp-dialogs .strings=${strings}></mp-dialogs>
    <mp-toasts></mp-toasts>`;
}

function renderSidebar(app: AppElement): TemplateResult {
  const { strings } = app;
  return html`<aside class="sidebar" aria-label=${strings.chats} @keydown=${(event: KeyboardEvent) => event.key === "Escape" && app.closeSidebar()}>
    <button type="button" class="icon sidebar-toggle" aria-label=${strings.closeSidebar} @click=${() => app.closeSidebar()}><span aria-hidden="true">✕</span></button>
    <mp-sidebar
      .sessionList=${app.sessionList}
      .currentId=${app.sessionId}
      .strings=${strings}
      .version=${app.listVersion}
      @new-chat=${() => app.openStartPage()}
      @session-action=${({ detail }: CustomEvent<{ action: SessionAction; session: Session }>) => void runSessionAction(app, detail.action, detail.session)}
    ></mp-sidebar>
  </aside>`;
}

function renderTopBar(app: AppElement): TemplateResult {
  const { strings } = app;
  const toggle = html`<button type="button" class="icon sidebar-toggle" aria-expanded=${app.isSidebarOpen} aria-label=${strings.openSidebar} @click=${() => app.openSidebar()}>
    <span aria-hidden="true">☰</span>
  </button>`;
  return html`<header class="top-bar">
    ${app.route.kind === "shared" ? nothing : toggle}
    <h1 dir="auto">${app.sessionId ? app.currentSession?.title || strings.untitled : strings.product}</h1>
    <label class="view-picker"><span class="visually-hidden">${strings.view}</span>
      <select .value=${live(app.view)} @change=${(event: Event) => app.setView((event.target as HTMLSelectElement).value as View)}>
        ${VIEWS.map((view) => html`<option value=${view} title=${strings.viewDescriptions[view]}>${strings.views[view]}</option>`)}
      </select>
    </label>
    <button type="button" class="icon" aria-label=${strings.commands} title="${strings.commands} (Ctrl K)" aria-keyshortcuts="Control+K Meta+K" @click=${() => app.openPalette()}>
      <span aria-hidden="true">⋯</span>
    </button>
  </header>`;
}

function renderChat(app: AppElement, session: string): TemplateResult {
  return html`<mp-chat
    .gateway=${app.gateway}
    .session=${session}
    .view=${app.view}
    .thinking=${app.showThinking ? "show" : undefined}
    .strings=${app.strings}
    .host=${app.route.kind === "shared" ? undefined : app.chatHost}
    .outbox=${app.outbox.filter((message) => message.session === session)}
    .commands=${buildCommands(app)}
    .logHead=${app.currentSession?.head ?? 0}
    .isDeleted=${app.currentSession?.deleted_ms !== undefined}
    @restore-session=${() => void app.toastErrors(app.gateway.restoreSession(session))}
    @enlarge-image=${({ detail: { src, alt } }: CustomEvent<{ src: string; alt: string }>) => app.dialogs?.showImage(src, alt)}
    @gateway-error=${({ detail }: CustomEvent<unknown>) => app.checkSignedOut(detail)}
  ></mp-chat>`;
}

/** The session is created when the first message is sent. */
function renderStartPage(app: AppElement): TemplateResult {
  const { strings, chatHost } = app;
  return html`<div class="start">
    <div class="welcome"><h2>${strings.welcome}</h2><p>${strings.welcomeHint}</p></div>
    <div class="input-area">
      <mp-composer .strings=${strings} .commands=${buildCommands(app)} .draft=${chatHost.newChatDraft}
        @send-message=${({ detail }: CustomEvent<ComposedMessage>) => void chatHost.sendFirstMessage(detail)}
        @attach-failed=${({ detail }: CustomEvent<string>) => app.showToast(detail)}></mp-composer>
    </div>
  </div>`;
}
