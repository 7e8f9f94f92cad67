// One session in one view: the page, what it waits for, and where a person writes.

import { Reader, Refused, type Ask, type Change, type Gateway, type Item, type Letter, type LineState, type Thinking, type View, type Waiting } from "@millpond/client";
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { openWhileSeen } from "../app/asleep.ts";
import type { Command } from "../doing/commands.ts";
import { Announcer } from "../page/announcer.ts";
import { Follow } from "../page/follow.ts";
import { PageView } from "../page/page-view.ts";
import { reasonOf } from "../words/reason.ts";
import type { Words } from "../words/words.ts";
import { nameOf } from "./asks.ts";
import { allowFiles, type Sent } from "./composer.ts";
import { Draft, type Written } from "./draft.ts";
import "./queue.ts";
import type { LateEdit, QueueWish } from "./queue.ts";
import { PICTURES_MAX, fetched } from "./shown.ts";
import { isGoing, statusWords } from "./status.ts";
import { aroundOf } from "./surroundings.ts";

/** What the chat cannot do by itself. */
export interface Desk {
  /** Says whether it is kept, and will be sent. */
  send(session: string, sent: Sent): Promise<boolean>;
  drop(key: string): void;
  /** Always the same of a session. */
  draft(session: string): Draft;
  tell(words: string): void;
  /** Goes on from before this message, in a session of its own, with another. Says whether that is kept. */
  branch(session: string, from: Item, sent: Sent): Promise<boolean>;
}

/** A message that is written anew. */
interface Branching {
  from: Item;
  draft: Draft;
  /** Once its pictures are shown, or it was told why they are not. */
  pictures: Promise<"shown" | "missing">;
}

export class ChatElement extends LitElement {
  static override properties = {
    gateway: { attribute: false },
    session: { attribute: false },
    view: { attribute: false },
    thinking: { attribute: false },
    words: { attribute: false },
    desk: { attribute: false },
    letters: { attribute: false },
    commands: { attribute: false },
    head: { attribute: false },
    deleted: { attribute: false },
    waiting: { state: true },
    line: { state: true },
    problem: { state: true },
    following: { state: true },
    unread: { state: true },
    stopping: { state: true },
    branching: { state: true },
    tick: { state: true },
  };
  declare gateway: Gateway;
  declare session: string;
  declare view: View;
  declare thinking: Thinking | undefined;
  declare words: Words;
  /** Nothing for those who only read. */
  declare desk: Desk | undefined;
  declare letters: readonly Letter[];
  declare commands: readonly Command[];
  /** Where the log ends, as the list of sessions says. */
  declare head: number;
  /** Whether it was deleted, here or elsewhere, and can still be brought back. */
  declare deleted: boolean;
  declare private waiting: readonly Waiting[];
  declare private line: LineState;
  declare private problem: string | undefined;
  declare private following: boolean;
  declare private unread: boolean;
  declare private stopping: boolean;
  declare private branching: Branching | undefined;
  /** Counts changes of what stands around the page. */
  declare private tick: number;
  private reader: Reader | undefined;
  /** The run that the person sees going, if the page has said which. */
  private run: string | undefined;
  private around: ReturnType<typeof aroundOf> | undefined;
  private pageView: PageView | undefined;
  private follow: Follow | undefined;
  private announcer: Announcer | undefined;
  private wake: (() => void) | undefined;
  private readonly answering = new Set<string>();

  constructor() {
    super();
    Object.assign(this, { letters: [], commands: [], waiting: [], line: "connecting", following: true, unread: false, stopping: false, tick: 0, head: 0, deleted: false });
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.wake = openWhileSeen(() => (this.reader ? [this.reader] : []));
    addEventListener("online", this.online);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.wake?.();
    removeEventListener("online", this.online);
    this.shut();
  }

  /** The page as it stands, for exports. */
  get page() {
    return this.reader?.page;
  }

  get composer() {
    return this.querySelector("mp-composer");
  }

  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    await this.trying(this.cancelRun());
    this.stopping = false;
  }

  /** The run that is seen, and not one that began meanwhile; the gateway knows it where the page has nothing of it yet. */
  private async cancelRun(): Promise<void> {
    const run = this.run ?? (await this.gateway.session(this.session)).run;
    if (run) await this.gateway.cancel(run).catch(unlessEnded);
  }

  async retry(): Promise<void> {
    const run = this.page?.ended?.run;
    if (run) await this.trying(this.gateway.retry(run, `retry-${run}`));
  }

  toTheEnd(): void {
    this.follow?.toTheEnd();
  }

  protected override render(): TemplateResult {
    const { words } = this;
    return html`<div class="scroller" tabindex="0" role="region" aria-label=${words.conversation} @dragover=${this.desk ? allowFiles : nothing} @drop=${this.desk ? this.dropped : nothing}>
        <div class="content">
          <div class="page view-${this.view}" role="log" aria-live="off" aria-label=${words.conversation}></div>
          ${this.footer()}
        </div>
      </div>
      <div class="unseen" aria-live="polite" data-announcer></div>
      <div class="below">
        ${this.following ? nothing : html`<button type="button" class="new-below" @click=${this.toTheEnd}>↓ ${this.unread ? words.newBelow : words.toTheEnd}</button>`}
        ${this.deleted ? this.bringBack() : this.lineNote()} ${this.deleted || this.line === "refused" ? nothing : this.doing()}
      </div>`;
  }

  private bringBack(): TemplateResult {
    const restore = () => this.dispatchEvent(new CustomEvent("bring-back"));
    return html`<p class="line problem" role="alert">${this.words.deleted}
      ${this.desk ? html`<button type="button" class="quiet" @click=${restore}>${this.words.bringBack}</button>` : nothing}</p>`;
  }

  private doing(): TemplateResult {
    const { desk, words } = this;
    if (!desk) return html`<p class="soft read-only">${words.readOnly}</p>`;
    return html`<mp-asks
        .asks=${this.page?.asks ?? []}
        .busy=${new Set(this.answering)}
        .words=${words}
        @answer=${this.answered}
        @focus-lost=${this.toWriting}
      ></mp-asks>
      <mp-queue
        .session=${this.session}
        .waiting=${this.waiting}
        .letters=${this.letters}
        .words=${words}
        @arrange=${this.arrange}
        @late-edit=${({ detail }: CustomEvent<LateEdit>) => this.giveBack(desk, detail)}
        @drop-letter=${({ detail }: CustomEvent<Letter>) => desk.drop(detail.key)}
        @edit-letter=${({ detail }: CustomEvent<Letter>) => void this.trying(this.editLetter(desk, detail))}
        @focus-lost=${this.toWriting}
      ></mp-queue>
      ${this.writing(desk)}`;
  }

  private writing(desk: Desk): TemplateResult {
    return html`<mp-composer
      .words=${this.words}
      .going=${this.isGoing}
      .stopping=${this.stopping}
      .commands=${this.commands}
      .draft=${this.branching?.draft ?? desk.draft(this.session)}
      .note=${this.branching ? this.words.editingBranch : undefined}
      @send-message=${this.send}
      @stop-run=${this.stop}
      @cancel-note=${() => (this.branching = undefined)}
      @too-many-pictures=${() => desk.tell(this.words.tooManyPictures)}
      @cannot-read=${({ detail }: CustomEvent<string>) => desk.tell(this.words.cannotRead(detail))}
      @cannot-attach=${({ detail }: CustomEvent<string>) => desk.tell(this.words.cannotAttach(detail))}
    ></mp-composer>`;
  }

  private footer(): TemplateResult {
    const page = this.page;
    const text = page ? statusWords(page, this.words) : "";
    const ended = page?.ended !== undefined;
    const retry = this.desk && ended && page?.ended?.outcome !== "completed";
    const empty = page && !page.keys.length && !this.isGoing && this.line === "open";
    return html`${empty ? html`<div class="welcome"><h2>${this.words.welcome}</h2><p>${this.words.welcomeMore}</p></div>` : nothing}
      <div class="status ${ended ? "ended" : ""} ${this.isGoing ? "going" : ""}">
        ${text ? html`<span class="pulse" aria-hidden="true"></span><span class="status-text" dir="auto">${text}</span>` : nothing}
        ${retry ? html`<button type="button" class="quiet" @click=${() => this.retry()}>${this.words.retry}</button>` : nothing}
      </div>`;
  }

  private lineNote(): TemplateResult | typeof nothing {
    if (this.problem) return html`<p class="line problem" role="alert">${this.problem}</p>`;
    return this.line === "waiting" ? html`<p class="line" role="status">${this.words.offline}</p>` : nothing;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("session") || changed.has("view") || changed.has("thinking") || changed.has("gateway") || changed.has("words")) this.openSession(changed.has("session"));
    else if (changed.get("deleted") === true && !this.deleted) this.openSession(false);
    if (changed.has("head") && this.head) this.reader?.expectHead(this.head);
  }

  private openSession(another: boolean): void {
    this.shut();
    if (!this.session) return;
    const [host, scroller, content] = ([".page", ".scroller", ".content"] as const).map((name) => this.querySelector<HTMLElement>(name));
    const live = this.querySelector<HTMLElement>("[data-announcer]");
    if (!host || !scroller || !content || !live) return;
    if (another) Object.assign(this, { waiting: [], branching: undefined, problem: undefined, stopping: false });
    const { session, words, desk } = this;
    this.around = aroundOf(this.gateway, {
      words,
      session,
      openLarge: (src, alt) => this.dispatchEvent(new CustomEvent("open-large", { detail: { src, alt } })),
      copied: () => desk?.tell(words.copied),
      ...(desk && { edit: (item: Item) => this.beginBranch(item) }),
    });
    this.pageView = new PageView(host, this.around, () => this.drawn(), scroller);
    this.follow = new Follow(scroller, content, (following) => this.followed(following));
    this.announcer = new Announcer(live);
    const kind = { view: this.view, ...(this.thinking && { thinking: this.thinking }) };
    this.reader = new Reader(this.gateway, session, kind, {
      change: (change) => this.changed(change),
      state: (state, why) => this.lineIs(state, why),
      closed: (reason) => this.closedBecause(reason),
    });
    this.reader.open();
    Object.assign(this, { following: true, unread: false });
    if (desk) void this.readQueue();
  }

  private shut(): void {
    this.reader?.close();
    this.pageView?.dispose();
    this.follow?.dispose();
    this.announcer?.dispose();
    this.around?.dispose();
    this.reader = this.pageView = this.follow = this.announcer = this.around = this.run = undefined;
  }

  private changed(change: Change): void {
    const page = this.page;
    if (!page) return;
    if (change.what === "everything") {
      this.run = this.reader?.run;
      this.answering.clear();
      this.pageView?.show(page);
      this.announcer?.begin(page);
    } else {
      this.pageView?.change(change);
      this.announcer?.hear(change, page);
    }
    if (change.what !== "appended") this.aroundChanged(change);
  }

  private aroundChanged(change: Change): void {
    this.tick += 1;
    if (change.what === "ended" || change.what === "everything") void this.readQueue();
    if (change.what === "ended") this.ended();
    if (change.what === "around" && change.part === "asks") this.announcer?.say(this.words.waitingForYou);
    if (change.what === "item") this.begins(change.key);
    if (change.what !== "resolved") return;
    const { by, answer } = change.resolved;
    if (!this.answering.delete(nameOf(change.resolved)) && by === "person") this.desk?.tell(this.words.answeredElsewhere(this.words.askOption[answer] ?? answer));
  }

  private ended(): void {
    this.run = undefined;
    if (this.page) this.announcer?.say(statusWords(this.page, this.words));
  }

  /** A message that begins its run waits no longer. */
  private begins(key: number): void {
    const item = this.page?.items.get(key);
    if (item?.kind === "user") void this.readQueue();
    if (item?.kind === "user" || item?.state === "live") this.run = item.run;
  }

  private get isGoing(): boolean {
    return this.page !== undefined && isGoing(this.page);
  }

  private drawn(): void {
    if (!this.following) this.unread = true;
  }

  private followed(following: boolean): void {
    this.following = following;
    if (following) this.unread = false;
  }

  private lineIs(state: LineState, why?: Refused): void {
    this.line = state;
    if (state === "refused" && why) {
      this.problem = why.status === 401 ? this.words.signedOut : this.words.gone;
      this.dispatchEvent(new CustomEvent("refused", { detail: why }));
    } else if (state === "open") this.problem = undefined;
  }

  private closedBecause(reason: string): void {
    if (reason === "revoked") this.problem = this.words.revoked;
    if (reason === "deleted") this.problem = this.words.gone;
  }

  private beginBranch(from: Item): void {
    const draft = new Draft();
    draft.text = from.text ?? "";
    this.branching = { from, draft, pictures: this.bringPictures(from, draft) };
    void this.updateComplete.then(() => this.composer?.focus());
  }

  /** Those of the message go with what takes its place, unless they are taken out. */
  private async bringPictures({ images = [] }: Item, draft: Draft): Promise<"shown" | "missing"> {
    const digests = images.flatMap(({ ref }) => (ref.startsWith("sha256:") ? [ref.slice(7)] : []));
    const files = await this.trying(fetched(this.gateway, this.session, digests));
    if (files) draft.pictures = [...files, ...draft.pictures].slice(0, PICTURES_MAX);
    return files ? "shown" : "missing";
  }

  private readonly send = async ({ detail }: CustomEvent<Sent>): Promise<void> => {
    const { desk, branching, session } = this;
    if (!desk) return;
    const draft = branching?.draft ?? desk.draft(session);
    const send = () => (branching ? this.branchOff(desk, session, branching, detail) : desk.send(session, detail));
    await this.trying(draft.sendBy(send, detail));
    if (session === this.session) this.toTheEnd();
    else if (branching) putInto(desk.draft(session), draft);
  };

  /** What was written stays where it is until the branch is there. */
  private async branchOff(desk: Desk, session: string, branching: Branching, sent: Sent): Promise<boolean> {
    const { from, draft } = branching;
    const came = await branching.pictures;
    // Whoever sends it again does so without them.
    branching.pictures = Promise.resolve("shown");
    if (came === "missing" || !(await desk.branch(session, from, { ...sent, pictures: draft.pictures }))) return false;
    if (this.branching === branching) this.branching = undefined;
    return true;
  }

  private readonly dropped = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (event.defaultPrevented || !files.length || !this.composer) return;
    event.preventDefault();
    void this.composer.attach(files);
  };

  private readonly answered = async (event: CustomEvent<{ ask: Ask; answer: string }>): Promise<void> => {
    const { ask, answer } = event.detail;
    this.answering.add(nameOf(ask));
    this.tick += 1;
    try {
      await this.gateway.answer(ask.run, ask.id, answer);
    } catch (error) {
      this.answering.delete(nameOf(ask));
      this.tick += 1;
      // An answer may end the run before another comes.
      const late = error instanceof Refused && (error.code === "answered_already" || error.code === "nobody_waits");
      this.desk?.tell(late ? this.words.answeredBefore : this.words.failed(reasonOf(error, this.words)));
    }
  };

  private readonly arrange = async ({ detail: { order, removed, texts } }: CustomEvent<QueueWish>): Promise<void> => {
    const { session, desk } = this;
    try {
      const waiting = await this.gateway.arrange(session, order, removed, texts);
      if (session === this.session) this.waiting = waiting;
    } catch (error) {
      const [text] = Object.values(texts);
      if (text === undefined) desk?.tell(this.words.failed(reasonOf(error, this.words)));
      else if (desk) this.giveBack(desk, { session, text });
      await this.readQueue();
    }
  };

  /** What can no longer be put where it was meant goes to where it can be sent from. */
  private giveBack(desk: Desk, { session, text }: LateEdit): void {
    desk.draft(session).add(text);
    if (session !== this.session) return;
    this.composer?.focus();
    desk.tell(this.words.editCameLate);
  }

  /** With its pictures, which are at the gateway already. */
  private async editLetter(desk: Desk, { key, session, text, attachments = [] }: Letter): Promise<void> {
    const files = await fetched(this.gateway, session, attachments);
    const draft = desk.draft(session);
    desk.drop(key);
    if (PICTURES_MAX < draft.pictures.length + files.length) desk.tell(this.words.tooManyPictures);
    putInto(draft, { text, pictures: files });
    if (session === this.session) this.composer?.focus();
  }

  private readonly toWriting = (): void => {
    // Where there is no keyboard on the screen that would come up.
    if (!matchMedia("(pointer: coarse)").matches) this.composer?.focus();
  };

  async readQueue(): Promise<void> {
    if (!this.desk) return;
    const { session } = this;
    const queue = await this.gateway.queue(session).catch(() => undefined);
    if (queue && session === this.session) this.waiting = queue;
  }

  private async trying<T>(work: Promise<T>): Promise<T | undefined> {
    return work.catch((error: unknown) => void this.desk?.tell(this.words.failed(reasonOf(error, this.words))));
  }

  private readonly online = (): void => this.reader?.refresh();
}

/** Below what is there already, and beside it, as far as there is room. */
function putInto(draft: Draft, { text, pictures }: Written): void {
  if (text) draft.add(text);
  draft.pictures = [...draft.pictures, ...pictures].slice(0, PICTURES_MAX);
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof Refused) || error.code !== "run_ended") throw error;
}

customElements.define("mp-chat", ChatElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-chat": ChatElement;
  }
}
