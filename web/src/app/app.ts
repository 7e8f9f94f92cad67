// The whole window: the list of chats, the chat that is open, and what can be done.

import { Gateway, Outbox, VIEWS, type Item, type Letter, type Session, type View, Refused } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { ChatElement, Desk } from "../chat/chat.ts";
import "../chat/composer.ts";
import type { Sent } from "../chat/composer.ts";
import { Made } from "../chat/made.ts";
import { letterOf } from "../chat/shown.ts";
import { commandsOf } from "./commands.ts";
import type { Format } from "../doing/export.ts";
import { whenIdle } from "../markdown/idle.ts";
import { reasonOf } from "../words/reason.ts";
import type { Words } from "../words/words.ts";
import { chosenWords } from "./language.ts";
import { openWhileSeen } from "./asleep.ts";
import "./dialogs.ts";
import { choices, choose, draftOf, keepView, letters, viewOf, type Theme } from "./kept.ts";
import { Notifier, mayNotify, onNoticePressed } from "./notifier.ts";
import "./palette.ts";
import { placeOf, type Place } from "./place.ts";
import { Sessions } from "./sessions.ts";
import { SharedNews } from "./shared-news.ts";
import "./sidebar.ts";
import type { SessionWish } from "./sidebar.ts";
import "./toasts.ts";
import { afterPaint } from "./turns.ts";

/** So much of a first message names its chat. */
const TITLE_CHARS = 60;
/** A tab that wrote a letter has sent it after so long, or cannot, or is closed. */
const TAKE_OVER_MS = 3_000;

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
  private readonly outbox: Outbox;
  private readonly notifier: Notifier;
  private readonly made = new Made();
  private takingOver: ReturnType<typeof setTimeout> | undefined;

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
    this.outbox = new Outbox(this.gateway, letters, {
      changed: (all) => (this.letters = all),
      taken: () => void this.chat?.readQueue(),
      signedOut: (why) => this.refused(why),
    });
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
    this.letters = this.outbox.letters();
    afterPaint(() => this.listen());
    if (this.place.what === "session") this.enter(this.place.session);
    else void this.toWriting();
  }

  private listen(): void {
    this.news.open();
    // Whoever wants to be told of what happens wants that above all from a tab that is hidden.
    openWhileSeen(() => [this.news], () => choices().notify);
    onNoticePressed((session) => this.go(session));
    void this.outbox.flush();
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

  async share(): Promise<void> {
    const dialogs = this.querySelector("mp-dialogs");
    const { Sharing } = await import("./sharing.ts");
    if (this.session && dialogs) await this.trying(new Sharing(this.gateway, this.session, this.words, dialogs, (work) => this.trying(work)).open());
  }

  async export(format: Format): Promise<void> {
    const [{ download, exported }, { picturesOf }] = await Promise.all([import("../doing/export.ts"), import("../doing/export-pictures.ts")]);
    const { session, words } = this;
    const page = this.chat?.page;
    if (!page || !session) return;
    const pictures = format === "html" ? await picturesOf(page, this.gateway, session) : new Map<string, string>();
    download(exported(page, format, { title: this.current?.title ?? "", language: document.documentElement.lang, words, pictures }));
  }

  async showUsage(): Promise<void> {
    await this.trying(this.tellUsage());
  }

  private async tellUsage(): Promise<void> {
    if (!this.session) return;
    const { tokens_in, tokens_out, cost_micro_usd } = await this.gateway.usage(this.session);
    const cost = cost_micro_usd ? `$${(cost_micro_usd / 1e6).toFixed(4)}` : this.words.noPrice;
    this.tell(this.words.usageOf(this.words.count(tokens_in), this.words.count(tokens_out), cost));
  }

  openPalette(): void {
    this.querySelector("mp-palette")?.open();
  }

  async wish(wish: SessionWish, session: Session): Promise<void> {
    const { gateway, words } = this;
    const title = session.title || words.untitled;
    switch (wish) {
      case "open":
        return this.go(session.id);
      case "rename":
        return this.querySelector("mp-dialogs")?.ask(words.rename, session.title, (title) => void this.trying(gateway.changeSession(session.id, { title })));
      case "pin":
        return void (await this.trying(gateway.changeSession(session.id, { pinned: !session.pinned })));
      case "archive":
        return void (await this.trying(gateway.changeSession(session.id, { archived: !session.archived })));
      case "remove":
        if (!(await this.trying(gateway.deleteSession(session.id)))) return;
        if (session.id === this.session) this.start();
        this.tell(words.removed(title), { label: words.undo, run: () => void this.trying(gateway.restoreSession(session.id).then(() => this.go(session.id))) });
    }
  }

  get currentSession(): Session | undefined {
    return this.current;
  }

  protected override render(): TemplateResult {
    if (this.signedOut) return this.doorstep();
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
        @session-wish=${({ detail }: CustomEvent<{ wish: SessionWish; session: Session }>) => void this.wish(detail.wish, detail.session)}
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
      .desk=${this.place.what === "shared" ? undefined : this.desk}
      .letters=${this.letters.filter((letter) => letter.session === session)}
      .commands=${commandsOf(this)}
      .head=${this.current?.head ?? 0}
      .deleted=${this.current?.deleted_ms !== undefined}
      @bring-back=${() => void this.trying(this.gateway.restoreSession(session))}
      @open-large=${({ detail: { src, alt } }: CustomEvent<{ src: string; alt: string }>) => this.querySelector("mp-dialogs")?.picture(src, alt)}
      @refused=${({ detail }: CustomEvent<Refused>) => this.refused(detail)}
    ></mp-chat>`;
  }

  /** A chat is made when its first message is written. */
  private startPage(): TemplateResult {
    return html`<div class="start">
      <div class="welcome"><h2>${this.words.welcome}</h2><p>${this.words.welcomeMore}</p></div>
      <div class="below">
        <mp-composer .words=${this.words} .commands=${commandsOf(this)} .draft=${START_DRAFT} @send-message=${this.sendFirst}
          @too-many-pictures=${() => this.tell(this.words.tooManyPictures)}
          @cannot-read=${({ detail }: CustomEvent<string>) => this.tell(this.words.cannotRead(detail))}
          @cannot-attach=${({ detail }: CustomEvent<string>) => this.tell(this.words.cannotAttach(detail))}></mp-composer>
      </div>
    </div>`;
  }

  private doorstep(): TemplateResult {
    const { words } = this;
    const used = new URLSearchParams(location.search).get("link") === "used";
    return html`<main class="doorstep">
      <h1>${words.product}</h1>
      <h2>${this.place.what === "shared" ? words.revoked : words.signedOut}</h2>
      ${used ? html`<p class="problem">${words.linkUsed}</p>` : nothing}
      ${this.place.what === "shared" ? nothing : html`<p>${words.signedOutHow}</p><pre><code>millpond login</code></pre>`}
    </main>`;
  }

  private readonly desk: Desk = {
    send: (session, sent) => this.send(session, sent),
    drop: (key) => this.outbox.drop(key),
    draft: draftOf,
    tell: (words) => this.tell(words),
    branch: (session, from, sent) => this.branch(session, from, sent),
  };

  private async send(session: string, sent: Sent, known = this.knownOf(session)): Promise<boolean> {
    // Before anything is awaited: another chat may be open then.
    const isNameless = known !== undefined && !known.title && sent.text.trim() !== "";
    const taken = this.outbox.put(await letterOf(this.gateway, session, sent));
    if (!taken) this.tell(this.words.outboxFull);
    else if (isNameless) void this.name(session, sent.text);
    return taken;
  }

  private knownOf(session: string): Session | undefined {
    return this.current?.id === session ? this.current : this.sessions.find(session);
  }

  /** What was written stays in the field until it is in the outbox of a chat. */
  private readonly sendFirst = async ({ detail }: CustomEvent<Sent>): Promise<void> => {
    await this.trying(START_DRAFT.sendBy(() => this.beginWith(detail), detail));
  };

  private async beginWith(sent: Sent): Promise<boolean> {
    const title = titleOf(sent.text);
    const session = await this.made.fill("", () => this.gateway.createSession(title), (session) => this.send(session.id, sent, session));
    if (!session) return false;
    // It may have been made for what was written before.
    if (session.title && session.title !== title) void this.name(session.id, sent.text);
    // Whoever has gone elsewhere meanwhile stays there.
    if (this.place.what === "start") this.go(session.id);
    return true;
  }

  private async name(session: string, text: string): Promise<void> {
    await this.trying(this.gateway.changeSession(session, { title: titleOf(text) }));
  }

  private async branch(session: string, from: Item, sent: Sent): Promise<boolean> {
    const { branchBefore } = await import("../doing/branch.ts");
    const make = () => branchBefore(this.gateway, session, from);
    const branch = await this.made.fill(`${session} ${from.run} ${from.id}`, make, (branch) => this.send(branch.id, { ...sent, join: false }, branch));
    if (branch && session === this.session) this.go(branch.id);
    return branch !== undefined;
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
    this.takeOver();
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

  private refused(why: unknown): void {
    if (why instanceof Refused && why.status === 401) this.signedOut = true;
  }

  /** Says whether it worked, and tells the person why it did not. */
  private async trying(work: Promise<unknown>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      this.refused(error);
      this.tell(this.words.failed(reasonOf(error, this.words)));
      return false;
    }
  }

  private readonly moved = (): void => {
    const place = placeOf(location);
    if (place.what === "session") this.enter(place.session);
    else this.place = place;
  };

  private readonly online = (): void => {
    this.news.refresh();
    void this.outbox.flush();
  };

  /** Another tab has written or sent something. */
  private readonly keptElsewhere = (): void => {
    if (this.place.what === "shared") return;
    this.letters = this.outbox.letters();
    clearTimeout(this.takingOver);
    if (this.letters.length) this.takingOver = setTimeout(() => this.takeOver(), TAKE_OVER_MS);
  };

  /** A letter goes out though the tab that wrote it is closed. If both send it, its key makes that one message. */
  private takeOver(): void {
    if (this.news.leads) void this.outbox.flush();
  }

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

const START_DRAFT = draftOf("");

function titleOf(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS - 1).trimEnd()}…`;
}

customElements.define("mp-app", AppElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-app": AppElement;
  }
}
