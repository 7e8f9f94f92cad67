// Command palette: search and run commands, open chats.

import { LitElement, html, type TemplateResult } from "lit";
import { searchCommands, type Command } from "../actions/command.ts";
import type { Strings } from "../i18n/strings.ts";

const RESULTS_MAX = 50;

export class PaletteElement extends LitElement {
  static override properties = {
    strings: { attribute: false },
    commands: { attribute: false },
    isOpen: { state: true },
    query: { state: true },
    selectedIndex: { state: true },
  };
  declare strings: Strings;
  declare commands: readonly Command[];
  /** The results are rendered only while it is open. */
  declare private isOpen: boolean;
  declare private query: string;
  declare private selectedIndex: number;

  constructor() {
    super();
    this.commands = [];
    this.isOpen = false;
    this.query = "";
    this.selectedIndex = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  open(): void {
    Object.assign(this, { isOpen: true, query: "", selectedIndex: 0 });
    void this.updateComplete.then(() => {
      this.dialog?.showModal();
      this.querySelector("input")?.focus();
    });
  }

  private get dialog(): HTMLDialogElement | null {
    return this.querySelector("dialog");
  }

  private matchingCommands(): readonly Command[] {
    return searchCommands(this.commands, this.query).slice(0, RESULTS_MAX);
  }

  protected override render(): TemplateResult {
    const found = this.isOpen ? this.matchingCommands() : [];
    return html`<dialog class="palette" aria-label=${this.strings.commands} @click=${this.closeOnBackdropClick} @close=${() => (this.isOpen = false)}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant="palette-${this.selectedIndex}"
        aria-label=${this.strings.commandSearch}
        placeholder=${this.strings.commandSearch}
        .value=${this.query}
        @input=${this.onInput}
        @keydown=${this.onKeydown}
      />
      <ul id="palette-list" role="listbox" aria-label=${this.strings.commands}>
        ${found.map((command, index) => this.renderOption(command, index))}
      </ul>
    </dialog>`;
  }

  private renderOption(command: Command, index: number): TemplateResult {
    return html`<li id="palette-${index}" role="option" aria-selected=${index === this.selectedIndex} @click=${() => this.runCommand(command)}>
      <span dir="auto">${command.title}</span> <kbd ?hidden=${!command.keys}>${command.keys ?? ""}</kbd>
    </li>`;
  }

  private readonly onInput = (event: Event): void => {
    this.query = (event.target as HTMLInputElement).value;
    this.selectedIndex = 0;
  };

  private readonly onKeydown = (event: KeyboardEvent): void => {
    const found = this.matchingCommands();
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move && found.length) this.selectedIndex = (this.selectedIndex + move + found.length) % found.length;
    else if (event.key === "Enter") {
      const command = found[this.selectedIndex];
      if (command) this.runCommand(command);
    } else return;
    event.preventDefault();
    void this.updateComplete.then(() => this.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
  };

  private readonly closeOnBackdropClick = (event: MouseEvent): void => {
    if (event.target === this.dialog) this.dialog?.close();
  };

  private runCommand(command: Command): void {
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
