// Messages that wait for their turn, and those that could not be sent yet.

import type { Letter, Waiting } from "@millpond/client";
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { hasLostFocus } from "../focus.ts";
import { saidBy } from "../words/reason.ts";
import type { Words } from "../words/words.ts";

export interface QueueWish {
  order: string[];
  removed: string[];
  texts: Record<string, string>;
}

/** What was written for a message that cannot be changed any more, and the chat that it was for. */
export interface LateEdit {
  session: string;
  text: string;
}

export class QueueElement extends LitElement {
  static override properties = {
    session: { attribute: false },
    waiting: { attribute: false },
    letters: { attribute: false },
    words: { attribute: false },
    editing: { state: true },
  };
  declare session: string;
  declare waiting: readonly Waiting[];
  declare letters: readonly Letter[];
  declare words: Words;
  declare private editing: Waiting | undefined;
  /** The message whose button or field has the focus while this is drawn anew. */
  private focused: string | undefined;

  constructor() {
    super();
    this.waiting = [];
    this.letters = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.focused = this.querySelector<HTMLElement>("li:focus-within")?.dataset["id"];
    if (changed.has("session")) this.endEdit(changed.get("session") ?? this.session);
    else if (changed.has("waiting")) this.keepLateEdit();
  }

  /** A message that is being changed may begin meanwhile: what was written is not lost with it. */
  private keepLateEdit(): void {
    const { editing } = this;
    if (editing && !this.waiting.some(({ id }) => id === editing.id)) this.endEdit(this.session);
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
    else if (this.focused !== undefined && hasLostFocus(this)) this.refocus(this.focused);
  }

  private refocus(id: string): void {
    const next = this.querySelector<HTMLElement>(`li[data-id="${CSS.escape(id)}"] .edit`) ?? this.querySelector<HTMLElement>("button:not(:disabled)");
    if (next) next.focus();
    else this.dispatchEvent(new CustomEvent("focus-lost"));
  }

  protected override render(): TemplateResult | typeof nothing {
    // One that is away in a moment is not shown for that moment.
    const letters = this.letters.filter(({ late, refused }) => late || refused);
    if (!this.waiting.length && !letters.length) return nothing;
    return html`<section class="queue" aria-label=${this.words.waitingMessages}>
      <ol>${repeat(this.waiting, ({ id }) => id, (message, place) => this.message(message, place))} ${letters.map((letter) => this.letter(letter))}</ol>
    </section>`;
  }

  private message(message: Waiting, place: number): TemplateResult {
    if (this.editing?.id === message.id) return this.editor(message);
    const { words } = this;
    return html`<li data-id=${message.id}>
      <span class="said" dir="auto">${message.text}</span> ${this.shown(message.images?.length)}
      <span class="buttons">
        ${this.button("↑", words.moveUp, () => this.move(place, place - 1), place === 0)}
        ${this.button("↓", words.moveDown, () => this.move(place, place + 1), place === this.waiting.length - 1)}
        ${this.button("✎", words.edit, () => (this.editing = message), false, "edit")}
        ${this.button("✕", words.removeWaiting, () => this.wish([message.id]))}
      </span>
    </li>`;
  }

  private shown(pictures = 0): TemplateResult | typeof nothing {
    return pictures ? html`<span class="soft">${this.words.withPictures(pictures)}</span>` : nothing;
  }

  private button(sign: string, label: string, press: () => void, disabled = false, kind = ""): TemplateResult {
    return html`<button type="button" class="icon ${kind}" aria-label=${label} title=${label} ?disabled=${disabled} @click=${press}>
      <span aria-hidden="true">${sign}</span>
    </button>`;
  }

  private editor(message: Waiting): TemplateResult {
    const save = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("text") as HTMLTextAreaElement;
      this.editing = undefined;
      if ((field.value.trim() || message.images) && field.value !== message.text) this.wish([], { [message.id]: field.value });
    };
    const escape = (event: KeyboardEvent) => event.key === "Escape" && (this.editing = undefined);
    return html`<li data-id=${message.id}>
      <form @submit=${save} @keydown=${escape}>
        <textarea name="text" rows="3" aria-label=${this.words.edit} .value=${message.text}></textarea>
        <button type="submit" class="primary">${this.words.save}</button>
        <button type="button" @click=${() => (this.editing = undefined)}>${this.words.cancel}</button>
      </form>
    </li>`;
  }

  private letter(letter: Letter): TemplateResult {
    const { words } = this;
    const tell = (what: string) => () => this.dispatchEvent(new CustomEvent(what, { detail: letter }));
    return html`<li class="letter" data-id=${letter.key}>
      <span class="said" dir="auto">${letter.text}</span> ${this.shown(letter.attachments?.length)} <span class="soft">${this.whyOf(letter)}</span>
      <span class="buttons">
        ${letter.refused ? this.button("✎", words.editAgain, tell("edit-letter")) : nothing} ${this.button("✕", words.removeWaiting, tell("drop-letter"))}
      </span>
    </li>`;
  }

  private whyOf({ late, refused }: Letter): string {
    if (refused) return this.words.notTaken(saidBy(refused, this.words));
    return late === "unreachable" ? this.words.notSentYet : this.words.sending;
  }

  private move(from: number, to: number): void {
    const order = this.waiting.map(({ id }) => id);
    order.splice(to, 0, ...order.splice(from, 1));
    this.tell({ order, removed: [], texts: {} });
  }

  private wish(removed: string[], texts: Record<string, string> = {}): void {
    const order = this.waiting.map(({ id }) => id).filter((id) => !removed.includes(id));
    this.tell({ order, removed, texts });
  }

  private tell(detail: QueueWish): void {
    this.dispatchEvent(new CustomEvent<QueueWish>("arrange", { detail }));
  }
}

customElements.define("mp-queue", QueueElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-queue": QueueElement;
  }
}
