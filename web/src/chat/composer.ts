// Where a person writes. Enter sends, Shift and Enter begin a line; a slash offers commands.

import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Command } from "../doing/commands.ts";
import type { Words } from "../words/words.ts";
import { attachedText } from "./attached.ts";
import type { Draft } from "./draft.ts";
import { PICTURES_MAX, isPicture, isReadable } from "./shown.ts";

/** Commands in the menu at a time. */
const SHOWN_MAX = 8;

export interface Sent {
  text: string;
  pictures: readonly File[];
  join: boolean;
}

export class ComposerElement extends LitElement {
  static override properties = {
    words: { attribute: false },
    going: { attribute: false },
    stopping: { attribute: false },
    commands: { attribute: false },
    draft: { attribute: false },
    note: { attribute: false },
    chosen: { state: true },
    closed: { state: true },
  };
  declare words: Words;
  /** Whether a run is going, so that a message would wait. */
  declare going: boolean;
  declare stopping: boolean;
  declare commands: readonly Command[];
  declare draft: Draft;
  /** What the next message will do, if it is not simply sent. */
  declare note: string | undefined;
  declare private chosen: number;
  declare private closed: boolean;
  /** Pictures whose thumbnails are drawn. */
  private seen: readonly File[] = [];

  constructor() {
    super();
    this.going = false;
    this.stopping = false;
    this.commands = [];
    this.chosen = 0;
    this.closed = false;
  }

  override focus(): void {
    void this.updateComplete.then(() => this.area?.focus());
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("draft")) return;
    changed.get("draft")?.leave(this.redraw);
    this.draft.open(this.redraw);
  }

  private readonly redraw = (): void => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    if (!this.hasUpdated) return;
    this.draft.open(this.redraw);
    this.redraw();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.draft?.leave(this.redraw);
    this.seen.forEach(forget);
    this.seen = [];
  }

  private get text(): string {
    return this.draft.text;
  }

  protected override render(): TemplateResult {
    const { words, draft } = this;
    const offered = this.offered();
    return html`<form class="composer" @submit=${this.submit} @dragover=${allowFiles} @drop=${this.dropped}>
      ${offered.length ? this.menu(offered) : nothing} ${this.note ? html`<p class="soft note">${this.note}
        <button type="button" class="quiet" @click=${this.cancelNote}>${words.cancel}</button></p>` : nothing}
      ${draft.pictures.length ? this.thumbnails() : nothing}
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
    const { words, draft } = this;
    const empty = (!draft.text.trim() && !draft.pictures.length) || draft.sending;
    const stop = html`<button type="button" class="stop" ?disabled=${this.stopping} @click=${this.stop}>
      ${this.stopping ? words.stopping : words.stop}
    </button>`;
    if (!this.going) return html`<button type="submit" class="primary" ?disabled=${empty}>${draft.sending ? words.sending : words.send}</button>`;
    if (empty) return stop;
    return html`${stop}
      <button type="button" title=${words.sendNow} @click=${() => this.send(true)}>${words.sendNow}</button>
      <button type="submit" class="primary" title=${words.queueIt}>${words.send}</button>`;
  }

  private thumbnails(): TemplateResult {
    return html`<ul class="thumbnails">
      ${this.draft.pictures.map(
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
    this.draft.pictures = this.draft.pictures.filter((other) => other !== picture);
    this.area?.focus();
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
    this.chosen = 0;
    this.closed = false;
    this.draft.text = text;
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
    const { text, pictures, sending } = this.draft;
    if ((!text.trim() && !pictures.length) || sending) return;
    const sent: Sent = { text, pictures, join: join && this.going };
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
    // What is copied from a table or a text comes as words and as a picture of them: the words are meant.
    if (!files.length || event.clipboardData?.types.includes("text/plain")) return;
    event.preventDefault();
    void this.attach(files);
  };

  private readonly dropped = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    void this.attach(files);
  };

  /**
   * Pictures go beside the message, and what other files say into it, where it can be read and taken out
   * again: those of the chat that was open then, also if another is by the time they have been read.
   */
  async attach(files: readonly File[], draft = this.draft): Promise<void> {
    for (const file of files) {
      if (isPicture(file)) await this.attachPicture(file, draft);
      else await this.attachText(file, draft);
    }
    this.area?.focus();
  }

  private async attachPicture(file: File, draft: Draft): Promise<void> {
    if (!(await isReadable(file))) return this.tell("cannot-read", file.name);
    if (PICTURES_MAX <= draft.pictures.length) return this.tell("too-many-pictures");
    draft.pictures = [...draft.pictures, file];
  }

  private async attachText(file: File, draft: Draft): Promise<void> {
    const attached = await attachedText(file);
    if (attached === undefined) return this.tell("cannot-attach", file.name);
    draft.text += (draft.text && !draft.text.endsWith("\n") ? "\n" : "") + attached;
  }

  private tell(what: string, detail?: string): void {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  protected override updated(): void {
    for (const gone of this.seen.filter((picture) => !this.draft.pictures.includes(picture))) forget(gone);
    this.seen = this.draft.pictures;
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
