// One session in one view: the page, what it waits for, and where a person writes.

import { Refused, type Ask, type Change, type Gateway, type Item, type Letter, type LineState, type Page, type Thinking, type View, type Waiting } from "@millpond/client";
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { openWhileSeen } from "../app/asleep.ts";
import type { Command } from "../doing/commands.ts";
import { reasonOf } from "../words/reason.ts";
import type { Words } from "../words/words.ts";
import { Answers } from "./answers.ts";
import "./asks.ts";
import { Branching } from "./branching.ts";
import { allowFiles, type Sent } from "./composer.ts";
import type { Desk } from "./desk.ts";
import type { Draft, Written } from "./draft.ts";
import "./queue.ts";
import type { LateEdit, QueueWish } from "./queue.ts";
import { Reading, type Places } from "./reading.ts";
import { PICTURES_MAX, fetched } from "./shown.ts";
import { isGoing, statusWords } from "./status.ts";

/** Why nothing more comes; the words have a sentence for each. */
type Problem = "revoked" | "deleted" | "gone" | "signedOut";

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
  declare private problem: Problem | undefined;
  declare private following: boolean;
  declare private unread: boolean;
  declare private stopping: boolean;
  declare private branching: Branching | undefined;
  private reading: Reading | undefined;
  private readonly answers = new Answers(this);
  private wake: (() => void) | undefined;

  constructor() {
    super();
    Object.assign(this, { letters: [], commands: [], waiting: [], line: "connecting", following: true, unread: false, stopping: false, head: 0, deleted: false });
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.wake = openWhileSeen(() => (this.reading ? [this.reading] : []));
    addEventListener("online", this.online);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.wake?.();
    removeEventListener("online", this.online);
    this.shut();
  }

  /** The page as it stands, for exports. */
  get page(): Page | undefined {
    return this.reading?.page;
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
    const run = this.reading?.run ?? (await this.gateway.session(this.session)).run;
    if (run) await this.gateway.cancel(run).catch(unlessEnded);
  }

  async retry(): Promise<void> {
    const run = this.page?.ended?.run;
    if (run) await this.trying(this.gateway.retry(run, `retry-${run}`));
  }

  toTheEnd(): void {
    this.reading?.toTheEnd();
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
        .busy=${this.answers.busy}
        .words=${words}
        @answer=${({ detail: { ask, answer } }: CustomEvent<{ ask: Ask; answer: string }>) => void this.answers.give(ask, answer)}
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
    if (this.problem) return html`<p class="line problem" role="alert">${this.words[this.problem]}</p>`;
    return this.line === "waiting" ? html`<p class="line" role="status">${this.words.offline}</p>` : nothing;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("session") || changed.has("view") || changed.has("thinking") || changed.has("gateway") || changed.has("words")) this.openSession(changed.has("session"));
    else if (changed.get("deleted") === true && !this.deleted) this.openSession(false);
    if (changed.has("head") && this.head) this.reading?.expectHead(this.head);
  }

  private openSession(another: boolean): void {
    this.shut();
    if (!this.session) return;
    if (another) Object.assign(this, { waiting: [], branching: undefined, problem: undefined, stopping: false });
    this.reading = this.read(this.session);
    this.reading.open();
    Object.assign(this, { following: true, unread: false });
    void this.readQueue();
  }

  private read(session: string): Reading {
    const { gateway, view, thinking, words, desk } = this;
    const wishes = {
      openLarge: (src: string, alt: string) => this.dispatchEvent(new CustomEvent("open-large", { detail: { src, alt } })),
      copied: () => desk?.tell(words.copied),
      ...(desk && { edit: (item: Item) => this.beginBranch(item) }),
    };
    return new Reading({ gateway, session, view, thinking, words, ...wishes }, this.places(), {
      changed: (change) => this.changed(change),
      drawn: () => this.drawn(),
      followed: (following) => this.followed(following),
      line: (state, why) => this.lineIs(state, why),
      closed: (reason) => this.closedBecause(reason),
    });
  }

  private places(): Places {
    const place = (name: string) => this.querySelector(name) as HTMLElement;
    return { scroller: place(".scroller"), content: place(".content"), page: place(".page"), voice: place("[data-announcer]") };
  }

  private shut(): void {
    this.reading?.dispose();
    this.reading = undefined;
  }

  private changed(change: Change): void {
    if (change.what === "everything") this.answers.forget();
    if (change.what === "resolved") this.answers.settled(change.resolved);
    // A message that begins its run waits no longer.
    const begins = change.what === "item" && this.page?.items.get(change.key)?.kind === "user";
    if (begins || change.what === "ended" || change.what === "everything") void this.readQueue();
    this.requestUpdate();
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
    if (state === "open") this.problem = undefined;
    if (state !== "refused" || !why) return;
    // What was said when the line was closed says more.
    this.problem ??= this.problemOf(why);
    this.dispatchEvent(new CustomEvent("refused", { detail: why }));
  }

  private problemOf({ status }: Refused): Problem {
    if (status !== 401) return "gone";
    return this.gateway.hasToken ? "revoked" : "signedOut";
  }

  private closedBecause(reason: string): void {
    if (reason !== "revoked" && reason !== "deleted") return;
    this.problem = reason;
    this.dispatchEvent(new CustomEvent("closed", { detail: reason }));
  }

  private beginBranch(from: Item): void {
    this.branching = new Branching(from, (digests) => this.trying(fetched(this.gateway, this.session, digests)));
    void this.updateComplete.then(() => this.composer?.focus());
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
    const isThere = await branching.sendBy((from, sent) => desk.branch(session, from, sent), sent);
    if (isThere && this.branching === branching) this.branching = undefined;
    return isThere;
  }

  private readonly dropped = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (event.defaultPrevented || !files.length || !this.composer) return;
    event.preventDefault();
    void this.composer.attach(files);
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

  private readonly online = (): void => this.reading?.refresh();
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
