// Messages that wait for their turn, and those that could not be sent yet.

import type { Letter, Waiting } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { Words } from "../words/words.ts";

export interface QueueWish {
  order: string[];
  removed: string[];
  texts: Record<string, string>;
}

export class QueueElement extends LitElement {
  static override properties = {
    waiting: { attribute: false },
    letters: { attribute: false },
    words: { attribute: false },
    editing: { state: true },
  };
  declare waiting: readonly Waiting[];
  declare letters: readonly Letter[];
  declare words: Words;
  declare private editing: string | undefined;

  constructor() {
    super();
    this.waiting = [];
    this.letters = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.waiting.length && !this.letters.length) return nothing;
    return html`<section class="queue" aria-label=${this.words.waitingMessages}>
      <ol>${repeat(this.waiting, ({ id }) => id, (message, place) => this.message(message, place))} ${this.letters.map((letter) => this.letter(letter))}</ol>
    </section>`;
  }

  private message(message: Waiting, place: number): TemplateResult {
    if (this.editing === message.id) return this.editor(message);
    const { words } = this;
    return html`<li>
      <span class="said" dir="auto">${message.text}</span>
      <span class="buttons">
        ${this.button("↑", words.moveUp, () => this.move(place, place - 1), place === 0)}
        ${this.button("↓", words.moveDown, () => this.move(place, place + 1), place === this.waiting.length - 1)}
        ${this.button("✎", words.edit, () => (this.editing = message.id))}
        ${this.button("✕", words.removeWaiting, () => this.wish([message.id]))}
      </span>
    </li>`;
  }

  private button(sign: string, label: string, press: () => void, disabled = false): TemplateResult {
    return html`<button type="button" class="icon" aria-label=${label} title=${label} ?disabled=${disabled} @click=${press}>
      <span aria-hidden="true">${sign}</span>
    </button>`;
  }

  private editor(message: Waiting): TemplateResult {
    const save = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("text") as HTMLTextAreaElement;
      this.editing = undefined;
      if (field.value.trim() && field.value !== message.text) this.wish([], { [message.id]: field.value });
    };
    return html`<li>
      <form @submit=${save}>
        <textarea name="text" rows="3" aria-label=${this.words.edit} .value=${message.text}></textarea>
        <button type="submit" class="primary">${this.words.save}</button>
        <button type="button" @click=${() => (this.editing = undefined)}>${this.words.cancel}</button>
      </form>
    </li>`;
  }

  private letter(letter: Letter): TemplateResult {
    const why = letter.refused === undefined ? this.words.notSentYet : this.words.notTaken(letter.refused);
    const drop = () => this.dispatchEvent(new CustomEvent("drop-letter", { detail: letter.key }));
    return html`<li class="letter">
      <span class="said" dir="auto">${letter.text}</span> <span class="soft">${why}</span>
      <span class="buttons">${this.button("✕", this.words.removeWaiting, drop)}</span>
    </li>`;
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
