// Where a person writes. Enter sends, Shift and Enter begin a line; a slash offers commands.

import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Command } from "../doing/commands.ts";
import type { Words } from "../words/words.ts";
import { attachedText } from "./attached.ts";
import { PICTURES_MAX, isPicture } from "./shown.ts";

/** Commands in the menu at a time. */
const SHOWN_MAX = 8;

export interface Sent {
  text: string;
  pictures: readonly File[];
  join: boolean;
  /** To be called once it is kept: what was written goes from the field only then. */
  taken(): void;
}

/** Where what was begun and not sent is kept. */
export interface Drafts {
  read(): string;
  write(text: string): void;
  /** Only while the page is open. */
  pictures: readonly File[];
}

export class ComposerElement extends LitElement {
  static override properties = {
    words: { attribute: false },
    going: { attribute: false },
    stopping: { attribute: false },
    commands: { attribute: false },
    drafts: { attribute: false },
    note: { attribute: false },
    sending: { attribute: false },
    text: { state: true },
    pictures: { state: true },
    chosen: { state: true },
    closed: { state: true },
  };
  declare words: Words;
  /** Whether a run is going, so that a message would wait. */
  declare going: boolean;
  declare stopping: boolean;
  declare commands: readonly Command[];
  declare drafts: Drafts | undefined;
  /** What the next message will do, if it is not simply sent. */
  declare note: string | undefined;
  /** Whether what is written is on its way: it stays, and is not sent twice. */
  declare sending: boolean;
  declare private text: string;
  declare private pictures: readonly File[];
  declare private chosen: number;
  declare private closed: boolean;

  constructor() {
    super();
    this.going = false;
    this.stopping = false;
    this.commands = [];
    this.text = "";
    this.sending = false;
    this.pictures = [];
    this.chosen = 0;
    this.closed = false;
  }

  /** Puts a text where the person can change it. */
  write(text: string): void {
    void this.updateComplete.then(() => {
      this.set(text);
      this.area?.focus();
    });
  }

  /** Puts a text below what is written already. */
  add(text: string): void {
    this.write(this.text.trim() ? `${this.text.trimEnd()}\n\n${text}` : text);
  }

  override focus(): void {
    void this.updateComplete.then(() => this.area?.focus());
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("drafts")) return;
    this.text = this.drafts?.read() ?? "";
    this.pictures = this.drafts?.pictures ?? [];
  }

  protected override render(): TemplateResult {
    const { words } = this;
    const offered = this.offered();
    return html`<form class="composer" @submit=${this.submit} @dragover=${allowFiles} @drop=${this.dropped}>
      ${offered.length ? this.menu(offered) : nothing} ${this.note ? html`<p class="soft note">${this.note}
        <button type="button" class="quiet" @click=${this.cancelNote}>${words.cancel}</button></p>` : nothing}
      ${this.pictures.length ? this.thumbnails() : nothing}
      <div class="field">
        <button type="button" class="icon" aria-label=${words.attach} title=${words.attach} @click=${this.pick}>
          <span aria-hidden="true">+</span>
        </button>
        <textarea
          rows="1"
          dir="auto"
          aria-label=${words.message}
          placeholder=${words.writeMessage}
          aria-autocomplete="list"
          aria-controls=${offered.length ? "slash-menu" : nothing}
          aria-activedescendant=${offered.length ? `slash-${this.chosen}` : nothing}
          .value=${this.text}
          @input=${this.typed}
          @keydown=${this.key}
          @paste=${this.pasted}
        ></textarea>
        ${this.buttons()}
      </div>
      <input type="file" multiple hidden @change=${this.picked} />
    </form>`;
  }

  private buttons(): TemplateResult {
    const { words } = this;
    const empty = (!this.text.trim() && !this.pictures.length) || this.sending;
    const stop = html`<button type="button" class="stop" ?disabled=${this.stopping} @click=${this.stop}>
      ${this.stopping ? words.stopping : words.stop}
    </button>`;
    if (!this.going) return html`<button type="submit" class="primary" ?disabled=${empty}>${this.sending ? words.sending : words.send}</button>`;
    if (empty) return stop;
    return html`${stop}
      <button type="button" title=${words.sendNow} @click=${() => this.send(true)}>${words.sendNow}</button>
      <button type="submit" class="primary" title=${words.queueIt}>${words.send}</button>`;
  }

  private thumbnails(): TemplateResult {
    return html`<ul class="thumbnails">
      ${this.pictures.map(
        (picture) => html`<li>
          <img src=${addressOf(picture)} alt=${picture.name} />
          <button type="button" class="icon" aria-label=${this.words.removePicture(picture.name)} title=${this.words.removePicture(picture.name)} @click=${() => this.takeOut(picture)}>
            <span aria-hidden="true">✕</span>
          </button>
        </li>`,
      )}
    </ul>`;
  }

  private takeOut(picture: File): void {
    this.show(this.pictures.filter((other) => other !== picture));
    this.area?.focus();
  }

  private show(pictures: readonly File[]): void {
    for (const gone of this.pictures.filter((picture) => !pictures.includes(picture))) forget(gone);
    this.pictures = pictures;
    if (this.drafts) this.drafts.pictures = pictures;
  }

  /** As many as fit, around the one that is chosen: a list that scrolls would need keys of its own. */
  private menu(offered: readonly Command[]): TemplateResult {
    const first = Math.max(0, Math.min(this.chosen - SHOWN_MAX / 2, offered.length - SHOWN_MAX));
    return html`<ul id="slash-menu" role="listbox" class="slash" aria-label=${this.words.palette}>
      ${offered.slice(first, first + SHOWN_MAX).map(
        (command, at) => html`<li
          id="slash-${first + at}"
          role="option"
          aria-setsize=${offered.length}
          aria-posinset=${first + at + 1}
          aria-selected=${first + at === this.chosen}
          @pointerdown=${(event: Event) => (event.preventDefault(), this.run(command))}
        >
          <code>/${command.id}</code> ${command.title}
        </li>`,
      )}
    </ul>`;
  }

  private get area(): HTMLTextAreaElement | null {
    return this.querySelector("textarea");
  }

  private offered(): readonly Command[] {
    // An agent may have commands of its own: only the beginning of a name is taken as one of ours.
    if (!/^\/[\w-]*$/.test(this.text) || this.closed) return [];
    return this.commands.filter(({ id }) => id.startsWith(this.text.slice(1)) && !id.startsWith("chat-"));
  }

  private set(text: string): void {
    this.text = text;
    this.chosen = 0;
    this.closed = false;
    this.drafts?.write(text);
  }

  private readonly typed = (event: Event): void => this.set((event.target as HTMLTextAreaElement).value);

  private readonly key = (event: KeyboardEvent): void => {
    // Safari says that it composes no more with the very key that ended it.
    if (event.isComposing || event.keyCode === 229) return;
    const offered = this.offered();
    if (offered.length && this.inMenu(event, offered)) return event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    this.send(event.altKey);
  };

  /** Says whether the key was for the menu. */
  private inMenu(event: KeyboardEvent, offered: readonly Command[]): boolean {
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move) this.chosen = (this.chosen + move + offered.length) % offered.length;
    else if (event.key === "Escape") this.closed = true;
    else if (event.key === "Enter" || event.key === "Tab") {
      const command = offered[this.chosen];
      if (command) this.run(command);
    } else return false;
    return true;
  }

  private run(command: Command): void {
    this.set("");
    command.run();
  }

  private readonly submit = (event: Event): void => {
    event.preventDefault();
    this.send(false);
  };

  private send(join: boolean): void {
    const { text, pictures } = this;
    if ((!text.trim() && !pictures.length) || this.sending) return;
    const taken = (): void => {
      if (this.text === text) this.set("");
      this.show(this.pictures.filter((picture) => !pictures.includes(picture)));
    };
    const sent: Sent = { text, pictures, join: join && this.going, taken };
    this.dispatchEvent(new CustomEvent<Sent>("send-message", { detail: sent }));
  }

  private readonly stop = (): void => {
    this.dispatchEvent(new CustomEvent("stop-run"));
  };

  private readonly cancelNote = (): void => {
    this.dispatchEvent(new CustomEvent("cancel-note"));
  };

  private readonly pick = (): void => this.querySelector<HTMLInputElement>("input[type=file]")?.click();

  private readonly picked = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    void this.attach([...(input.files ?? [])]);
    input.value = "";
  };

  private readonly pasted = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    void this.attach(files);
  };

  private readonly dropped = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    void this.attach(files);
  };

  /** Pictures go beside the message, and what other files say into it, where it can be read and taken out again. */
  async attach(files: readonly File[]): Promise<void> {
    const pictures = [...this.pictures, ...files.filter(isPicture)];
    if (PICTURES_MAX < pictures.length) this.dispatchEvent(new CustomEvent("too-many-pictures"));
    this.show(pictures.slice(0, PICTURES_MAX));
    for (const file of files.filter((file) => !isPicture(file))) {
      const attached = await attachedText(file);
      if (attached === undefined) this.dispatchEvent(new CustomEvent("cannot-attach", { detail: file.name }));
      else this.set(this.text + (this.text && !this.text.endsWith("\n") ? "\n" : "") + attached);
    }
    this.area?.focus();
  }

  protected override updated(): void {
    const { area } = this;
    if (!area) return;
    // As high as its text, up to what the style allows.
    area.rows = Math.min(12, Math.max(1, this.text.split("\n").length));
  }
}

export function allowFiles(event: DragEvent): void {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
}

const addresses = new WeakMap<File, string>();

/** Where a browser finds a picture that was not sent yet. */
function addressOf(picture: File): string {
  const address = addresses.get(picture) ?? URL.createObjectURL(picture);
  addresses.set(picture, address);
  return address;
}

function forget(picture: File): void {
  URL.revokeObjectURL(addresses.get(picture) ?? "");
  addresses.delete(picture);
}

customElements.define("mp-composer", ComposerElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-composer": ComposerElement;
  }
}
