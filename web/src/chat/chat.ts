// `<mp-chat>`: one session in one view, with asks, queue and composer. Its templates are in
// `chat-layout.ts`.

import { GatewayError, type Change, type ConnectionState, type GatewayClient, type Item, type OutboxMessage, type Page, type QueuedMessage, type Thinking, type View } from "@millpond/client";
import { LitElement, type PropertyValues, type TemplateResult } from "lit";
import type { Command } from "../actions/command.ts";
import { pauseWhileHidden } from "../app/idle-tabs.ts";
import { errorText } from "../i18n/error-text.ts";
import type { Strings } from "../i18n/strings.ts";
import "./asks.ts";
import { BranchEdit } from "./branch-edit.ts";
import type { ChatHost } from "./chat-host.ts";
import { renderChat, type ClosedReason } from "./chat-layout.ts";
import type { ComposedMessage } from "./composer.ts";
import { IMAGES_MAX, downloadImages } from "./image-upload.ts";
import { PendingAnswers } from "./pending-answers.ts";
import "./queue.ts";
import type { LateEdit, QueueUpdate } from "./queue.ts";
import { SessionView, type SessionViewElements } from "./session-view.ts";
import { isRunning } from "./status.ts";
import { UnsentMessages } from "./unsent-messages.ts";
import { waitingMessages } from "./waiting-messages.ts";

/** One session. Dispatches `restore-session`, `enlarge-image`, `gateway-error` and `closed`. */
export class ChatElement extends LitElement {
  static override properties = {
    gateway: { attribute: false },
    session: { attribute: false },
    view: { attribute: false },
    thinking: { attribute: false },
    strings: { attribute: false },
    host: { attribute: false },
    outbox: { attribute: false },
    commands: { attribute: false },
    logHead: { attribute: false },
    isDeleted: { attribute: false },
    queued: { state: true },
    connection: { state: true },
    closedReason: { state: true },
    isFollowing: { state: true },
    hasUnread: { state: true },
    isStopping: { state: true },
    branchEdit: { state: true },
  };
  declare gateway: GatewayClient;
  declare session: string;
  declare view: View;
  declare thinking: Thinking | undefined;
  declare strings: Strings;
  /** Undefined in a read-only chat. */
  declare host: ChatHost | undefined;
  /** Messages of this session that are not sent yet. */
  declare outbox: readonly OutboxMessage[];
  declare commands: readonly Command[];
  /** End of the log according to the session list. */
  declare logHead: number;
  /** The session was deleted and can still be restored. */
  declare isDeleted: boolean;
  declare queued: readonly QueuedMessage[];
  declare connection: ConnectionState;
  declare closedReason: ClosedReason | undefined;
  /** The scroll position follows the end of the page. */
  declare isFollowing: boolean;
  /** There is new content below the scroll position. */
  declare hasUnread: boolean;
  declare isStopping: boolean;
  declare branchEdit: BranchEdit | undefined;
  readonly pendingAnswers = new PendingAnswers(this);
  readonly unsentMessages = new UnsentMessages();
  private sessionView: SessionView | undefined;
  private stopPausing: (() => void) | undefined;

  constructor() {
    super();
    this.outbox = [];
    this.commands = [];
    this.logHead = 0;
    this.isDeleted = false;
    this.queued = [];
    this.connection = "connecting";
    this.isFollowing = true;
    this.hasUnread = false;
    this.isStopping = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopPausing = pauseWhileHidden(() => (this.sessionView ? [this.sessionView] : []));
    addEventListener("online", this.onNetworkOnline);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopPausing?.();
    removeEventListener("online", this.onNetworkOnline);
    this.disposeSessionView();
  }

  /** The current page, also for exports. */
  get page(): Page | undefined {
    return this.sessionView?.page;
  }

  get isRunning(): boolean {
    return this.page !== undefined && isRunning(this.page);
  }

  get composer() {
    return this.querySelector("mp-composer");
  }

  protected override render(): TemplateResult {
    return renderChat(this);
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("session") || changed.has("view") || changed.has("thinking") || changed.has("gateway") || changed.has("strings")) this.openSession(changed.has("session") ? "another" : "same");
    else if (changed.get("isDeleted") === true && !this.isDeleted) this.openSession("same");
    if (changed.has("logHead") && this.logHead) this.sessionView?.reconnectIfBehind(this.logHead);
  }

  /** Starts a new session view; resets the state of the previous session if it is another one. */
  private openSession(session: "another" | "same"): void {
    this.disposeSessionView();
    if (!this.session) return;
    if (session === "another") {
      this.queued = [];
      this.branchEdit = undefined;
      this.closedReason = undefined;
      this.isStopping = false;
    }
    this.sessionView = this.createSessionView(this.session);
    this.sessionView.open();
    this.isFollowing = true;
    this.hasUnread = false;
    void this.loadQueue();
  }

  private createSessionView(session: string): SessionView {
    const { gateway, view, thinking, strings, host } = this;
    const callbacks = {
      onEnlargeImage: (src: string, alt: string) => this.dispatchEvent(new CustomEvent("enlarge-image", { detail: { src, alt } })),
      onCopied: () => host?.notify(strings.copied),
      ...(host && { onEdit: (item: Item) => this.startBranchEdit(item), onRetry: (run: string) => void this.retry(run) }),
      hasMessage: (run: string) => this.hasMessage(run),
    };
    return new SessionView({ gateway, session, view, thinking, strings, ...callbacks }, this.viewElements(), {
      onPageChange: (change) => this.onPageChange(change),
      onDrawn: () => this.onDrawn(),
      onFollowChange: (isFollowing) => this.onFollowChange(isFollowing),
      onConnection: (state, error) => this.onConnection(state, error),
      onClosed: (reason) => this.onClosed(reason),
    });
  }

  private viewElements(): SessionViewElements {
    const find = (selector: string) => this.querySelector(selector) as HTMLElement;
    return { scroller: find(".scroller"), content: find(".content"), page: find(".page"), announcer: find("[data-announcer]") };
  }

  private disposeSessionView(): void {
    this.sessionView?.dispose();
    this.sessionView = undefined;
  }

  private onPageChange(change: Change): void {
    if (change.type === "replaced") this.pendingAnswers.clear();
    if (change.type === "resolved") this.pendingAnswers.resolveAsk(change.resolved);
    // A queued message leaves the queue when it appears on the page.
    const isUserMessage = change.type === "item" && this.page?.items.get(change.key)?.kind === "user";
    if (isUserMessage || change.type === "ended" || change.type === "replaced") void this.loadQueue();
    this.requestUpdate();
  }

  private onDrawn(): void {
    if (!this.isFollowing) this.hasUnread = true;
  }

  private onFollowChange(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
    if (isFollowing) this.hasUnread = false;
  }

  private onConnection(state: ConnectionState, error?: GatewayError): void {
    this.connection = state;
    if (state === "open") this.closedReason = undefined;
    if (state !== "refused" || !error) return;
    // The reason given when the stream was closed is more precise.
    this.closedReason ??= this.refusalReason(error);
    this.dispatchEvent(new CustomEvent("gateway-error", { detail: error }));
  }

  private refusalReason({ status }: GatewayError): ClosedReason {
    if (status !== 401) return "notFound";
    return this.gateway.hasToken ? "revoked" : "signedOut";
  }

  private onClosed(reason: string): void {
    if (reason !== "revoked" && reason !== "deleted") return;
    this.closedReason = reason;
    this.dispatchEvent(new CustomEvent("closed", { detail: reason }));
  }

  private readonly onNetworkOnline = (): void => this.sessionView?.reconnect();

  scrollToEnd(): void {
    this.sessionView?.scrollToEnd();
  }

  /** Cancels the active run. */
  async stop(): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    await this.reportErrors(this.cancelRun());
    this.isStopping = false;
  }

  /** Cancels the run that the page shows, not one that began since; asks the gateway if the page shows none yet. */
  private async cancelRun(): Promise<void> {
    const run = this.sessionView?.run ?? (await this.gateway.getSession(this.session)).run;
    if (run) await this.gateway.cancelRun(run).catch(ignoreRunEnded);
  }

  /** True if the page shows a message of the run. */
  hasMessage(run: string): boolean {
    return [...(this.page?.items.values() ?? [])].some((item) => item.kind === "user" && item.run === run);
  }

  /** Starts a run again; a second press before the page shows the new run does nothing. */
  async retry(run: string): Promise<void> {
    await this.reportErrors(this.gateway.retryRun(run, `retry-${run}-${this.page?.lastKey ?? 0}`));
  }

  /** Starts the run that ended last again. */
  async retryLast(): Promise<void> {
    const run = this.page?.ended?.run;
    if (run) await this.retry(run);
  }

  /** A message of the outbox was accepted: it is queued, or is a run. */
  acceptMessage(message: OutboxMessage, run: string): void {
    this.unsentMessages.accept(message, run);
    void this.loadQueue();
  }

  async loadQueue(): Promise<void> {
    if (!this.host) return;
    const { session } = this;
    const queue = await this.gateway.getQueue(session).catch(() => undefined);
    if (!queue || session !== this.session) return;
    // The next message leaves the queue when its run begins, which the page may show a moment later.
    const [next] = waitingMessages(this.queued, this.page);
    const hasLeft = next !== undefined && !queue.some(({ id }) => id === next.id);
    const run = hasLeft ? await this.gateway.getSession(session).then(({ run }) => run, () => undefined) : undefined;
    if (session !== this.session) return;
    if (next !== undefined && run === next.id) this.unsentMessages.keepUntilShown({ key: next.id, session, text: next.text }, next.id);
    this.queued = queue;
  }

  async updateQueue({ order, removed, texts }: QueueUpdate): Promise<void> {
    const { session, host } = this;
    try {
      const queued = await this.gateway.updateQueue(session, order, removed, texts);
      if (session === this.session) this.queued = queued;
    } catch (error) {
      const [text] = Object.values(texts);
      if (text === undefined) host?.notify(this.strings.actionFailed(errorText(error, this.strings)));
      else if (host) this.moveEditToDraft(host, { session, text });
      await this.loadQueue();
    }
  }

  /** Puts the text of an edit that came too late into the message field. */
  moveEditToDraft(host: ChatHost, { session, text }: LateEdit): void {
    host.draftFor(session).appendParagraph(text);
    if (session !== this.session) return;
    this.composer?.focus();
    host.notify(this.strings.editTooLate);
  }

  /** Moves an unsent message, with its uploaded images, back to the message field. */
  async editUnsent(host: ChatHost, { key, session, text, attachments = [] }: OutboxMessage): Promise<void> {
    const images = await downloadImages(this.gateway, session, attachments);
    const draft = host.draftFor(session);
    host.removeFromOutbox(key);
    if (IMAGES_MAX < draft.images.length + images.length) host.notify(this.strings.tooManyImages);
    draft.appendContent({ text, images }, IMAGES_MAX);
    if (session === this.session) this.composer?.focus();
  }

  private startBranchEdit(original: Item): void {
    this.branchEdit = new BranchEdit(original, (digests) => this.reportErrors(downloadImages(this.gateway, this.session, digests)));
    void this.updateComplete.then(() => this.composer?.focus());
  }

  /** Sends a message to the session, or to a new branch if one is being edited. */
  async sendMessage(message: ComposedMessage): Promise<void> {
    const { host, branchEdit, session } = this;
    if (!host) return;
    const draft = branchEdit?.draft ?? host.draftFor(session);
    const send = () => (branchEdit ? this.sendBranch(host, session, branchEdit, message) : host.send(session, message));
    await this.reportErrors(draft.sendWith(send, message));
    if (session === this.session) this.scrollToEnd();
    else if (branchEdit) host.draftFor(session).appendContent(draft, IMAGES_MAX);
  }

  /** The edit stays open until the branch exists. */
  private async sendBranch(host: ChatHost, session: string, branchEdit: BranchEdit, message: ComposedMessage): Promise<boolean> {
    const isSent = await branchEdit.sendWith((original, edited) => host.sendAsBranch(session, original, edited), message);
    if (isSent && this.branchEdit === branchEdit) this.branchEdit = undefined;
    return isSent;
  }

  /** Awaits `work`; notifies the user and returns undefined if it fails. */
  async reportErrors<T>(work: Promise<T>): Promise<T | undefined> {
    return work.catch((error: unknown) => void this.host?.notify(this.strings.actionFailed(errorText(error, this.strings))));
  }
}

function ignoreRunEnded(error: unknown): void {
  if (!(error instanceof GatewayError) || error.code !== "run_ended") throw error;
}

customElements.define("mp-chat", ChatElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-chat": ChatElement;
  }
}
