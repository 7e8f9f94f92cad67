// The root element: route, current session, session list and the services they share. Its templates are
// in `app-layout.ts`.

import { GatewayClient, GatewayError, type OutboxMessage, type Session, type View } from "@millpond/client";
import { LitElement, type TemplateResult } from "lit";
import type { ChatElement } from "../chat/chat.ts";
import "../chat/composer.ts";
import { errorText } from "../i18n/error-text.ts";
import type { Strings } from "../i18n/strings.ts";
import { whenIdle } from "../markdown/idle.ts";
import { AppChatHost } from "./app-chat-host.ts";
import { NARROW_SCREEN, renderApp } from "./app-layout.ts";
import { readPreferences, readView, savePreferences, saveView, type Theme } from "./browser-storage.ts";
import "./dialogs.ts";
import type { DialogsElement } from "./dialogs.ts";
import { pauseWhileHidden } from "./idle-tabs.ts";
import { applyLanguage } from "./language.ts";
import { Notifier, onNotificationClick, requestNotificationPermission, type RunsOnPage } from "./notifier.ts";
import "./palette.ts";
import { parseRoute, type Route } from "./route.ts";
import { afterPaint } from "./scheduling.ts";
import { SessionList } from "./session-list.ts";
import { SharedSessionStream } from "./shared-session-stream.ts";
import "./sidebar.ts";
import { renderSignedOut } from "./signed-out.ts";
import "./toasts.ts";

/** `<mp-app>`: the whole window. */
export class AppElement extends LitElement {
  static override properties = {
    strings: { state: true },
    route: { state: true },
    view: { state: true },
    showThinking: { state: true },
    isSidebarOpen: { state: true },
    outbox: { state: true },
    isSignedOut: { state: true },
    listVersion: { state: true },
    currentSession: { state: true },
  };
  declare strings: Strings;
  declare route: Route;
  declare view: View;
  declare showThinking: boolean;
  /** Only on narrow screens, where the sidebar covers the chat. */
  declare isSidebarOpen: boolean;
  declare outbox: readonly OutboxMessage[];
  declare private isSignedOut: boolean;
  /** Incremented when the session list changes. */
  declare listVersion: number;
  /** The session of the route, as last received from the gateway. */
  declare currentSession: Session | undefined;
  readonly gateway: GatewayClient;
  readonly sessionList: SessionList;
  readonly chatHost: AppChatHost;
  private readonly sessionStream: SharedSessionStream;
  private readonly notifier: Notifier;

  constructor() {
    super();
    const { thinking, view } = readPreferences();
    this.route = parseRoute(location);
    this.view = view;
    this.showThinking = thinking;
    this.isSidebarOpen = false;
    this.outbox = [];
    this.isSignedOut = false;
    this.listVersion = 0;
    this.gateway = new GatewayClient(this.route.kind === "shared" ? { token: this.route.token } : {});
    this.sessionList = new SessionList(this.gateway, () => (this.listVersion += 1));
    this.notifier = new Notifier(() => readPreferences().notify && this.sessionStream.isLeader, () => this.strings, (session) => this.fetchRunsOnPage(session));
    this.sessionStream = new SharedSessionStream(this.gateway, {
      onSession: (session) => this.applySessionUpdate(session),
      onRelist: () => void this.reloadSessions(),
      onState: (_, error) => error && this.checkSignedOut(error),
    });
    this.chatHost = new AppChatHost(this, (messages) => (this.outbox = messages));
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("popstate", this.onPopState);
    addEventListener("keydown", this.onShortcut);
    addEventListener("online", this.onNetworkOnline);
    addEventListener("storage", this.onStorageEvent);
    // On a wide screen the sidebar is always shown, and nothing is inert behind it.
    NARROW_SCREEN.addEventListener("change", () => (this.isSidebarOpen = false));
    if (this.route.kind === "shared") return void (this.ensureChatLoaded(), this.fetchCurrentSession());
    // A failure is reported when a chat is opened.
    if (this.route.kind === "start") whenIdle(() => importChat().catch(() => undefined));
    this.outbox = this.chatHost.outboxMessages();
    afterPaint(() => this.startBackgroundWork());
    if (this.route.kind === "session") this.showSession(this.route.session);
    else void this.focusComposer();
  }

  private startBackgroundWork(): void {
    this.sessionStream.open();
    // Notifications matter most in a hidden tab: with them on, its connection stays open.
    pauseWhileHidden(() => [this.sessionStream], () => readPreferences().notify);
    onNotificationClick((session) => this.openSession(session));
    this.chatHost.flush();
  }

  private async ensureChatLoaded(): Promise<void> {
    try {
      await importChat();
    } catch (error) {
      // Some browsers cache a failed module until the page is reloaded.
      this.showToast(this.strings.actionFailed(errorText(error, this.strings)), { label: this.strings.retry, run: () => location.reload() });
    }
  }

  /** Focuses the message field, except on touch screens, where a keyboard would open. */
  private async focusComposer(): Promise<void> {
    if (matchMedia("(pointer: coarse)").matches) return;
    const before = document.activeElement;
    await this.updateComplete;
    if (this.sessionId) await customElements.whenDefined("mp-chat");
    await this.chatElement?.updateComplete;
    // Do not take the focus from what the user did while the chat was loading.
    const isFocusUnchanged = [before, document.body, null].includes(document.activeElement);
    if (isFocusUnchanged) this.querySelector("mp-composer")?.focus();
  }

  get chatElement(): ChatElement | null {
    return customElements.get("mp-chat") ? this.querySelector("mp-chat") : null;
  }

  get sessionId(): string | undefined {
    return this.route.kind === "start" ? undefined : this.route.session;
  }

  findSession(session: string): Session | undefined {
    return this.currentSession?.id === session ? this.currentSession : this.sessionList.find(session);
  }

  /** True if this tab has the session list stream of all tabs. */
  get isLeaderTab(): boolean {
    return this.sessionStream.isLeader;
  }

  get dialogs(): DialogsElement | null {
    return this.querySelector("mp-dialogs");
  }

  showToast(text: string, action?: { label: string; run: () => void }): void {
    this.querySelector("mp-toasts")?.showToast(text, action);
  }

  openSession(session: string): void {
    if (session !== this.sessionId) history.pushState(null, "", `/s/${session}`);
    this.showSession(session);
  }

  openStartPage(): void {
    history.pushState(null, "", "/");
    this.route = { kind: "start" };
    this.currentSession = undefined;
    this.isSidebarOpen = false;
    void this.focusComposer();
  }

  setView(view: View): void {
    this.view = view;
    if (this.sessionId) saveView(this.sessionId, view);
  }

  setShowThinking(showThinking: boolean): void {
    this.showThinking = showThinking;
    savePreferences({ thinking: showThinking });
  }

  setTheme(theme: Theme): void {
    savePreferences({ theme });
    document.documentElement.dataset["theme"] = theme;
  }

  async setLanguage(language: string): Promise<void> {
    savePreferences({ language });
    this.strings = await applyLanguage();
  }

  async setNotifications(notify: boolean): Promise<void> {
    if (notify && !(await requestNotificationPermission())) return this.showToast(this.strings.notificationsBlocked);
    savePreferences({ notify });
  }

  openPalette(): void {
    this.querySelector("mp-palette")?.open();
  }

  openSidebar(): void {
    this.isSidebarOpen = true;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(".sidebar .sidebar-toggle")?.focus());
  }

  closeSidebar(): void {
    if (!this.isSidebarOpen) return;
    this.isSidebarOpen = false;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(".top-bar .sidebar-toggle")?.focus());
  }

  protected override render(): TemplateResult {
    return this.isSignedOut ? renderSignedOut(this.route, this.strings) : renderApp(this);
  }

  protected override updated(): void {
    const { strings } = this;
    document.title = this.sessionId ? `${this.currentSession?.title || strings.untitled} · ${strings.product}` : strings.product;
  }

  private showSession(session: string): void {
    if (!customElements.get("mp-chat")) void this.ensureChatLoaded();
    this.route = { kind: "session", session };
    this.view = readView(session);
    this.isSidebarOpen = false;
    this.currentSession = this.sessionList.find(session);
    void this.fetchCurrentSession();
    void this.focusComposer();
  }

  private async fetchRunsOnPage(session: string): Promise<RunsOnPage> {
    return (await this.gateway.getSnapshot(session, "latest")).data;
  }

  private async fetchCurrentSession(): Promise<void> {
    const { sessionId } = this;
    if (!sessionId) return;
    const session = await this.gateway.getSession(sessionId).catch((error: unknown) => void this.checkSignedOut(error));
    if (session && sessionId === this.sessionId) this.currentSession = session;
  }

  private async reloadSessions(): Promise<void> {
    await this.toastErrors(this.sessionList.load());
    this.sessionList.sessions.forEach((session) => this.notifier.notifyOfChange(session));
    this.chatHost.flushIfLeader();
    await this.fetchCurrentSession();
  }

  private applySessionUpdate(session: Session): void {
    this.sessionList.applyUpdate(session);
    this.notifier.notifyOfChange(session);
    if (session.id !== this.sessionId) return;
    this.currentSession = session;
    void this.chatElement?.loadQueue();
  }

  /** Shows the signed-out page if the error is a 401. */
  checkSignedOut(error: unknown): void {
    if (error instanceof GatewayError && error.status === 401) this.isSignedOut = true;
  }

  /** Awaits `work`; shows a toast and returns false if it fails. */
  readonly toastErrors = async (work: Promise<unknown>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      this.checkSignedOut(error);
      this.showToast(this.strings.actionFailed(errorText(error, this.strings)));
      return false;
    }
  };

  private readonly onPopState = (): void => {
    const route = parseRoute(location);
    if (route.kind === "session") this.showSession(route.session);
    else this.route = route;
  };

  private readonly onNetworkOnline = (): void => {
    this.sessionStream.reconnect();
    this.chatHost.flush();
  };

  private readonly onStorageEvent = (): void => {
    if (this.route.kind !== "shared") this.chatHost.handleStorageChange();
  };

  private readonly onShortcut = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.openPalette();
    }
  };
}

/** The chat is most of the code. Loading it separately lets the user type a first message at once. */
const importChat = () => import("../chat/chat.ts");

customElements.define("mp-app", AppElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-app": AppElement;
  }
}
