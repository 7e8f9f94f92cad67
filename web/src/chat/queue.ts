// Queued messages of a session, and messages in the outbox that are delayed or rejected.

import type { OutboxMessage, QueuedMessage } from "@millpond/client";
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { hasLostFocus } from "../focus.ts";
import { gatewayErrorText } from "../i18n/error-text.ts";
import type { Strings } from "../i18n/strings.ts";
import type { UnsentMessage } from "./unsent-messages.ts";

/** New order, removals and new texts of queued messages. */
export interface QueueUpdate {
  order: string[];
  removed: string[];
  texts: Record<string, string>;
}

/** Edited text of a message that left the queue before the edit was saved. */
export interface LateEdit {
  session: string;
  text: string;
}

/** The queue. Dispatches `update-queue`, `late-edit`, `edit-unsent`, `remove-unsent` and `focus-lost`. */
export class QueueElement extends LitElement {
  static override properties = {
    session: { attribute: false },
    queued: { attribute: false },
    outbox: { attribute: false },
    strings: { attribute: false },
    editing: { state: true },
  };
  declare session: string;
  declare queued: readonly QueuedMessage[];
  declare outbox: readonly UnsentMessage[];
  declare strings: Strings;
  declare private editing: QueuedMessage | undefined;
  /** Id of the message that has the focus, remembered during an update. */
  private focusedId: string | undefined;

  constructor() {
    super();
    this.queued = [];
    this.outbox = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.focusedId = this.querySelector<HTMLElement>("li:focus-within")?.dataset["id"];
    if (changed.has("session")) this.endEdit(changed.get("session") ?? this.session);
    else if (changed.has("queued")) this.endEditIfGone();
  }

  /** Ends the edit of a message whose run has begun; the text is not lost. */
  private endEditIfGone(): void {
    const { editing } = this;
    if (editing && !this.queued.some(({ id }) => id === editing.id)) this.endEdit(this.session);
  }

  private endEdit(session: string): void {
    const { editing } = this;
    if (!editing) return;
    const text = this.querySelector("textarea")?.value ?? "";
    this.editing = undefined;
    if (text.trim() && text !== editing.text) this.dispatchEvent(new CustomEvent<LateEdit>("late-edit", { detail: { session, text } }));
  }

  protected override updated(changed: PropertyValues<this>): void {
    if ((changed as PropertyValues).has("editing") && this.editing) this.querySelector("textarea")?.focus();
    else if (this.focusedId !== undefined && hasLostFocus(this)) this.refocus(this.focusedId);
  }

  private refocus(id: string): void {
    const next = this.querySelector<HTMLElement>(`li[data-id="${CSS.escape(id)}"] .edit`) ?? this.querySelector<HTMLElement>("button:not(:disabled)");
    if (next) next.focus();
    else this.dispatchEvent(new CustomEvent("focus-lost"));
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.queued.length && !this.outbox.length) return nothing;
    return html`<section class="queue" aria-label=${this.strings.queuedMessages}>
      <ol>${repeat(this.queued, ({ id }) => id, (message, index) => this.renderQueued(message, index))} ${this.outbox.map((message) => this.renderUnsent(message))}</ol>
    </section>`;
  }

  private renderQueued(message: QueuedMessage, index: number): TemplateResult {
    if (this.editing?.id === message.id) return this.renderEditor(message);
    const { strings } = this;
    return html`<li data-id=${message.id}>
      <span class="message-text" dir="auto">${message.text}</span> ${this.renderImageCount(message.images?.length)}
      <span class="buttons">
        ${this.renderButton("↑", strings.moveUp, () => this.move(index, index - 1), index === 0)}
        ${this.renderButton("↓", strings.moveDown, () => this.move(index, index + 1), index === this.queued.length - 1)}
        ${this.renderButton("✎", strings.edit, () => (this.editing = message), false, "edit")}
        ${this.renderButton("✕", strings.removeFromQueue, () => this.removeOrEdit([message.id]))}
      </span>
    </li>`;
  }

  private renderImageCount(count = 0): TemplateResult | typeof nothing {
    return count ? html`<span class="muted">${this.strings.imageCount(count)}</span>` : nothing;
  }

  private renderButton(icon: string, label: string, onClick: () => void, disabled = false, className = ""): TemplateResult {
    return html`<button type="button" class="icon ${className}" aria-label=${label} title=${label} ?disabled=${disabled} @click=${onClick}>
      <span aria-hidden="true">${icon}</span>
    </button>`;
  }

  private renderEditor(message: QueuedMessage): TemplateResult {
    const save = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("text") as HTMLTextAreaElement;
      this.editing = undefined;
      if ((field.value.trim() || message.images) && field.value !== message.text) this.removeOrEdit([], { [message.id]: field.value });
    };
    const cancelOnEscape = (event: KeyboardEvent) => event.key === "Escape" && (this.editing = undefined);
    return html`<li data-id=${message.id}>
      <form @submit=${save} @keydown=${cancelOnEscape}>
        <textarea name="text" rows="3" aria-label=${this.strings.edit} .value=${message.text}></textarea>
        <button type="submit" class="primary">${this.strings.save}</button>
        <button type="button" @click=${() => (this.editing = undefined)}>${this.strings.cancel}</button>
      </form>
    </li>`;
  }

  private renderUnsent(message: UnsentMessage): TemplateResult {
    const { strings } = this;
    const dispatch = (type: string) => () => this.dispatchEvent(new CustomEvent(type, { detail: message }));
    return html`<li class="unsent" data-id=${message.key}>
      <span class="message-text" dir="auto">${message.text}</span> ${this.renderImageCount(message.attachments?.length)} <span class="muted">${this.unsentReason(message)}</span>
      ${message.isAccepted
        ? nothing
        : html`<span class="buttons">
            ${message.refused ? this.renderButton("✎", strings.moveToComposer, dispatch("edit-unsent")) : nothing} ${this.renderButton("✕", strings.removeFromQueue, dispatch("remove-unsent"))}
          </span>`}
    </li>`;
  }

  private unsentReason({ delay, refused }: OutboxMessage): string {
    if (refused) return this.strings.messageRejected(gatewayErrorText(refused, this.strings));
    return delay === "unreachable" ? this.strings.notSent : this.strings.sending;
  }

  private move(from: number, to: number): void {
    const order = this.queued.map(({ id }) => id);
    order.splice(to, 0, ...order.splice(from, 1));
    this.dispatchUpdate({ order, removed: [], texts: {} });
  }

  private removeOrEdit(removed: string[], texts: Record<string, string> = {}): void {
    const order = this.queued.map(({ id }) => id).filter((id) => !removed.includes(id));
    this.dispatchUpdate({ order, removed, texts });
  }

  private dispatchUpdate(detail: QueueUpdate): void {
    this.dispatchEvent(new CustomEvent<QueueUpdate>("update-queue", { detail }));
  }
}

customElements.define("mp-queue", QueueElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-queue": QueueElement;
  }
}
