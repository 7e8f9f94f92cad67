// Everything that can be done, and every chat, by typing a part of its name.

import { LitElement, html, type TemplateResult } from "lit";
import { matching, type Command } from "../doing/commands.ts";
import type { Words } from "../words/words.ts";

const SHOWN_MAX = 50;

export class PaletteElement extends LitElement {
  static override properties = {
    words: { attribute: false },
    commands: { attribute: false },
    shown: { state: true },
    typed: { state: true },
    chosen: { state: true },
  };
  declare words: Words;
  declare commands: readonly Command[];
  /** A list that nobody sees is not made. */
  declare private shown: boolean;
  declare private typed: string;
  declare private chosen: number;

  constructor() {
    super();
    this.commands = [];
    this.shown = false;
    this.typed = "";
    this.chosen = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  open(): void {
    Object.assign(this, { shown: true, typed: "", chosen: 0 });
    void this.updateComplete.then(() => {
      this.dialog?.showModal();
      this.querySelector("input")?.focus();
    });
  }

  private get dialog(): HTMLDialogElement | null {
    return this.querySelector("dialog");
  }

  private found(): readonly Command[] {
    return matching(this.commands, this.typed).slice(0, SHOWN_MAX);
  }

  protected override render(): TemplateResult {
    const found = this.shown ? this.found() : [];
    return html`<dialog class="palette" aria-label=${this.words.palette} @click=${this.outside} @close=${() => (this.shown = false)}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant="palette-${this.chosen}"
        aria-label=${this.words.paletteHint}
        placeholder=${this.words.paletteHint}
        .value=${this.typed}
        @input=${this.type}
        @keydown=${this.key}
      />
      <ul id="palette-list" role="listbox" aria-label=${this.words.palette}>
        ${found.map((command, place) => this.option(command, place))}
      </ul>
    </dialog>`;
  }

  private option(command: Command, place: number): TemplateResult {
    return html`<li id="palette-${place}" role="option" aria-selected=${place === this.chosen} @click=${() => this.run(command)}>
      <span dir="auto">${command.title}</span> <kbd ?hidden=${!command.keys}>${command.keys ?? ""}</kbd>
    </li>`;
  }

  private readonly type = (event: Event): void => {
    this.typed = (event.target as HTMLInputElement).value;
    this.chosen = 0;
  };

  private readonly key = (event: KeyboardEvent): void => {
    const found = this.found();
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move && found.length) this.chosen = (this.chosen + move + found.length) % found.length;
    else if (event.key === "Enter") {
      const command = found[this.chosen];
      if (command) this.run(command);
    } else return;
    event.preventDefault();
    void this.updateComplete.then(() => this.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
  };

  private readonly outside = (event: MouseEvent): void => {
    if (event.target === this.dialog) this.dialog?.close();
  };

  private run(command: Command): void {
    this.dialog?.close();
    command.run();
  }
}

customElements.define("mp-palette", PaletteElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-palette": PaletteElement;
  }
}
