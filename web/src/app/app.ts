// The whole window: the list of chats, the chat that is open, and what can be done.

import { Gateway, VIEWS, type Letter, type Session, type View, Refused } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { ChatElement } from "../chat/chat.ts";
import "../chat/composer.ts";
import type { Sent } from "../chat/composer.ts";
import { whenIdle } from "../markdown/idle.ts";
import { reasonOf } from "../words/reason.ts";
import type { Words } from "../words/words.ts";
import { openWhileSeen } from "./asleep.ts";
import { commandsOf } from "./commands.ts";
import "./dialogs.ts";
import type { DialogsElement } from "./dialogs.ts";
import { doorstep } from "./doorstep.ts";
import { choices, choose, keepView, viewOf, type Theme } from "./kept.ts";
import { chosenWords } from "./language.ts";
import { Notifier, mayNotify, onNoticePressed } from "./notifier.ts";
import "./palette.ts";
import { placeOf, type Place } from "./place.ts";
import { Sessions } from "./sessions.ts";
import { SharedNews } from "./shared-news.ts";
import "./sidebar.ts";
import type { SessionWish } from "./sidebar.ts";
import "./toasts.ts";
import { afterPaint } from "./turns.ts";
import { fulfil } from "./wishes.ts";
import { Writing } from "./writing.ts";

export class AppElement extends LitElement {
  static override properties = {
    words: { state: true },
    place: { state: true },
    view: { state: true },
    thinking: { state: true },
    open: { state: true },
    letters: { state: true },
    signedOut: { state: true },
    stamp: { state: true },
    current: { state: true },
  };
  declare words: Words;
  declare place: Place;
  declare view: View;
  declare thinking: boolean;
  declare private open: boolean;
  declare private letters: readonly Letter[];
  declare private signedOut: boolean;
  declare private stamp: number;
  /** The session that is open, as the gateway last told it. */
  declare private current: Session | undefined;
  readonly gateway: Gateway;
  readonly sessions: Sessions;
  private readonly news: SharedNews;
  private readonly writing: Writing;
  private readonly notifier: Notifier;

  constructor() {
    super();
    this.place = placeOf(location);
    const { thinking, view } = choices();
    Object.assign(this, { thinking, view, open: false, letters: [], signedOut: false, stamp: 0 });
    this.gateway = new Gateway(this.place.what === "shared" ? { token: this.place.token } : {});
    this.sessions = new Sessions(this.gateway, () => (this.stamp += 1));
    this.notifier = new Notifier(() => choices().notify && this.news.leads, () => this.words);
    this.news = new SharedNews(this.gateway, {
      session: (session) => this.hear(session),
      relist: () => void this.relist(),
      state: (_, why) => why && this.refused(why),
    });
    this.writing = new Writing(this, (letters) => (this.letters = letters));
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("popstate", this.moved);
    addEventListener("keydown", this.key);
    addEventListener("online", this.online);
    addEventListener("storage", this.keptElsewhere);
    // Where there is room for the list beside the chat, nothing is closed behind it.
    NARROW.addEventListener("change", () => (this.open = false));
    if (this.place.what === "shared") return void (this.needChat(), this.readCurrent());
    // Whoever enters a chat is told if it does not come.
    if (this.place.what === "start") whenIdle(() => loadChat().catch(() => undefined));
    this.letters = this.writing.letters();
    afterPaint(() => this.listen());
    if (this.place.what === "session") this.enter(this.place.session);
    else void this.toWriting();
  }

  private listen(): void {
    this.news.open();
    // Whoever wants to be told of what happens wants that above all from a tab that is hidden.
    openWhileSeen(() => [this.news], () => choices().notify);
    onNoticePressed((session) => this.go(session));
    this.writing.flush();
  }

  private async needChat(): Promise<void> {
    try {
      await loadChat();
    } catch (error) {
      // Some browsers remember a module that did not come for as long as the page is open.
      this.tell(this.words.failed(reasonOf(error, this.words)), { label: this.words.retry, run: () => location.reload() });
    }
  }

  /** Where there is no keyboard on the screen that would come up. */
  private async toWriting(): Promise<void> {
    if (matchMedia("(pointer: coarse)").matches) return;
    const before = document.activeElement;
    await this.updateComplete;
    if (this.session) await customElements.whenDefined("mp-chat");
    await this.chat?.updateComplete;
    // Whoever has begun something else while the chat was loaded goes on with that.
    const isFree = [before, document.body, null].includes(document.activeElement);
    if (isFree) this.querySelector("mp-composer")?.focus();
  }

  get chat(): ChatElement | null {
    return customElements.get("mp-chat") ? this.querySelector("mp-chat") : null;
  }

  get session(): string | undefined {
    return this.place.what === "start" ? undefined : this.place.session;
  }

  get currentSession(): Session | undefined {
    return this.current;
  }

  known(session: string): Session | undefined {
    return this.current?.id === session ? this.current : this.sessions.find(session);
  }

  /** Whether this tab is the one that hears the news first. */
  get leads(): boolean {
    return this.news.leads;
  }

  get dialogs(): DialogsElement | null {
    return this.querySelector("mp-dialogs");
  }

  tell(text: string, action?: { label: string; run: () => void }): void {
    this.querySelector("mp-toasts")?.tell(text, action);
  }

  // What commands do.

  go(session: string): void {
    if (session !== this.session) history.pushState(null, "", `/s/${session}`);
    this.enter(session);
  }

  start(): void {
    history.pushState(null, "", "/");
    this.place = { what: "start" };
    this.current = undefined;
    this.open = false;
    void this.toWriting();
  }

  setView(view: View): void {
    this.view = view;
    if (this.session) keepView(this.session, view);
  }

  setThinking(thinking: boolean): void {
    this.thinking = thinking;
    choose({ thinking });
  }

  setTheme(theme: Theme): void {
    choose({ theme });
    document.documentElement.dataset["theme"] = theme;
  }

  async setLanguage(language: string): Promise<void> {
    choose({ language });
    this.words = await chosenWords();
  }

  async setNotify(notify: boolean): Promise<void> {
    if (notify && !(await mayNotify())) return this.tell(this.words.notifyRefused);
    choose({ notify });
  }

  openPalette(): void {
    this.querySelector("mp-palette")?.open();
  }

  protected override render(): TemplateResult {
    if (this.signedOut) return doorstep(this.place, this.words);
    const shared = this.place.what === "shared";
    return html`<button type="button" class="skip" @click=${() => this.querySelector<HTMLElement>("#main")?.focus()}>${this.words.conversation}</button>
      <div class="app ${this.open ? "open" : ""} ${shared ? "shared" : ""}">
        ${shared ? nothing : this.side()}
        <main id="main" tabindex="-1" ?inert=${this.open && NARROW.matches}>${this.top()} ${this.session ? this.chatOf(this.session) : this.startPage()}</main>
      </div>
      <mp-palette .words=${this.words} .commands=${commandsOf(this)}></mp-palette>
      <mp-dialogs .words=${this.words}></mp-dialogs>
      <mp-toasts></mp-toasts>`;
  }

  protected override updated(): void {
    const { words } = this;
    document.title = this.session ? `${this.current?.title || words.untitled} · ${words.product}` : words.product;
  }

  private side(): TemplateResult {
    return html`<aside class="side" aria-label=${this.words.chats} @keydown=${(event: KeyboardEvent) => event.key === "Escape" && this.closeSide()}>
      <button type="button" class="icon side-toggle" aria-label=${this.words.closeSidebar} @click=${() => this.closeSide()}><span aria-hidden="true">✕</span></button>
      <mp-sidebar
        .sessions=${this.sessions}
        .current=${this.session}
        .words=${this.words}
        .stamp=${this.stamp}
        @new-chat=${() => this.start()}
        @session-wish=${({ detail }: CustomEvent<{ wish: SessionWish; session: Session }>) => void fulfil(this, detail.wish, detail.session)}
      ></mp-sidebar>
    </aside>`;
  }

  private top(): TemplateResult {
    const { words } = this;
    const toggle = html`<button type="button" class="icon side-toggle" aria-expanded=${this.open} aria-label=${words.openSidebar} @click=${() => this.openSide()}>
      <span aria-hidden="true">☰</span>
    </button>`;
    return html`<header class="top">
      ${this.place.what === "shared" ? nothing : toggle}
      <h1 dir="auto">${this.session ? this.current?.title || words.untitled : words.product}</h1>
      <label class="view-picker"><span class="unseen">${words.view}</span>
        <select .value=${live(this.view)} @change=${(event: Event) => this.setView((event.target as HTMLSelectElement).value as View)}>
          ${VIEWS.map((view) => html`<option value=${view} title=${words.viewMeans[view]}>${words.views[view]}</option>`)}
        </select>
      </label>
      <button type="button" class="icon" aria-label=${words.palette} title="${words.palette} (Ctrl K)" aria-keyshortcuts="Control+K Meta+K" @click=${() => this.openPalette()}>
        <span aria-hidden="true">⋯</span>
      </button>
    </header>`;
  }

  private chatOf(session: string): TemplateResult {
    return html`<mp-chat
      .gateway=${this.gateway}
      .session=${session}
      .view=${this.view}
      .thinking=${this.thinking ? "show" : undefined}
      .words=${this.words}
      .desk=${this.place.what === "shared" ? undefined : this.writing}
      .letters=${this.letters.filter((letter) => letter.session === session)}
      .commands=${commandsOf(this)}
      .head=${this.current?.head ?? 0}
      .deleted=${this.current?.deleted_ms !== undefined}
      @bring-back=${() => void this.trying(this.gateway.restoreSession(session))}
      @open-large=${({ detail: { src, alt } }: CustomEvent<{ src: string; alt: string }>) => this.dialogs?.picture(src, alt)}
      @refused=${({ detail }: CustomEvent<Refused>) => this.refused(detail)}
    ></mp-chat>`;
  }

  /** A chat is made when its first message is written. */
  private startPage(): TemplateResult {
    return html`<div class="start">
      <div class="welcome"><h2>${this.words.welcome}</h2><p>${this.words.welcomeMore}</p></div>
      <div class="below">
        <mp-composer .words=${this.words} .commands=${commandsOf(this)} .draft=${this.writing.firstDraft} @send-message=${({ detail }: CustomEvent<Sent>) => void this.writing.sendFirst(detail)}
          @too-many-pictures=${() => this.tell(this.words.tooManyPictures)}
          @cannot-read=${({ detail }: CustomEvent<string>) => this.tell(this.words.cannotRead(detail))}
          @cannot-attach=${({ detail }: CustomEvent<string>) => this.tell(this.words.cannotAttach(detail))}></mp-composer>
      </div>
    </div>`;
  }

  private enter(session: string): void {
    if (!customElements.get("mp-chat")) void this.needChat();
    this.place = { what: "session", session };
    this.view = viewOf(session);
    this.open = false;
    this.current = this.sessions.find(session);
    void this.readCurrent();
    void this.toWriting();
  }

  private async readCurrent(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const found = await this.gateway.session(session).catch((error: unknown) => void this.refused(error));
    if (found && session === this.session) this.current = found;
  }

  private async relist(): Promise<void> {
    await this.trying(this.sessions.read());
    this.sessions.list.forEach((session) => this.notifier.hear(session));
    this.writing.takeOver();
    await this.readCurrent();
  }

  private hear(session: Session): void {
    this.sessions.hear(session);
    this.notifier.hear(session);
    if (session.id !== this.session) return;
    this.current = session;
    void this.chat?.readQueue();
  }

  private openSide(): void {
    this.open = true;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(".side .side-toggle")?.focus());
  }

  private closeSide(): void {
    if (!this.open) return;
    this.open = false;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(".top .side-toggle")?.focus());
  }

  refused(why: unknown): void {
    if (why instanceof Refused && why.status === 401) this.signedOut = true;
  }

  /** Says whether it worked, and tells the person why it did not. */
  readonly trying = async (work: Promise<unknown>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      this.refused(error);
      this.tell(this.words.failed(reasonOf(error, this.words)));
      return false;
    }
  };

  private readonly moved = (): void => {
    const place = placeOf(location);
    if (place.what === "session") this.enter(place.session);
    else this.place = place;
  };

  private readonly online = (): void => {
    this.news.refresh();
    this.writing.flush();
  };

  private readonly keptElsewhere = (): void => {
    if (this.place.what !== "shared") this.writing.keptElsewhere();
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.openPalette();
    }
  };
}

/** Where the list of chats lies over the chat; as in the style. */
const NARROW = matchMedia("(max-width: 48rem)");

/** All that shows a chat is the greater part of the app: whoever begins a new one can write before it is there. */
const loadChat = () => import("../chat/chat.ts");

customElements.define("mp-app", AppElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-app": AppElement;
  }
}
