// The message field. Enter sends, Shift+Enter starts a new line, / opens the command menu.

import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Command } from "../actions/command.ts";
import type { Strings } from "../i18n/strings.ts";
import type { Draft } from "./draft.ts";
import { IMAGES_MAX, isDecodableImage, isImageFile } from "./image-upload.ts";
import { fileAsFencedText } from "./text-attachment.ts";

/** Commands shown in the menu at a time. */
const MENU_ITEMS_MAX = 8;

/** A message to be sent. */
export interface ComposedMessage {
  text: string;
  images: readonly File[];
  /** Send it to the active run instead of queueing it. */
  join: boolean;
}

/** The message field. Dispatches `send-message`, `stop-run`, `cancel-note` and `attach-failed`. */
export class ComposerElement extends LitElement {
  static override properties = {
    strings: { attribute: false },
    isRunning: { attribute: false },
    isStopping: { attribute: false },
    commands: { attribute: false },
    draft: { attribute: false },
    note: { attribute: false },
    selectedIndex: { state: true },
    menuDismissed: { state: true },
  };
  declare strings: Strings;
  /** A run is active: messages are queued, and the run can be stopped. */
  declare isRunning: boolean;
  declare isStopping: boolean;
  declare commands: readonly Command[];
  declare draft: Draft;
  /** Shown above the field if sending does something special. */
  declare note: string | undefined;
  declare private selectedIndex: number;
  declare private menuDismissed: boolean;
  /** Images whose thumbnails are rendered. */
  private thumbnailFiles: readonly File[] = [];

  constructor() {
    super();
    this.isRunning = false;
    this.isStopping = false;
    this.commands = [];
    this.selectedIndex = 0;
    this.menuDismissed = false;
  }

  override focus(): void {
    void this.updateComplete.then(() => this.textarea?.focus());
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("draft")) return;
    changed.get("draft")?.detach(this.rerender);
    this.draft.attach(this.rerender);
  }

  private readonly rerender = (): void => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    if (!this.hasUpdated) return;
    this.draft.attach(this.rerender);
    this.rerender();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.draft?.detach(this.rerender);
    this.thumbnailFiles.forEach(revokeObjectUrl);
    this.thumbnailFiles = [];
  }

  private get text(): string {
    return this.draft.text;
  }

  protected override render(): TemplateResult {
    const { strings, draft } = this;
    const commands = this.matchingCommands();
    return html`<form class="composer" @submit=${this.onSubmit} @dragover=${allowFileDrop} @drop=${this.onDrop}>
      ${commands.length ? this.renderMenu(commands) : nothing} ${this.note ? html`<p class="muted note">${this.note}
        <button type="button" class="link-button" @click=${this.cancelNote}>${strings.cancel}</button></p>` : nothing}
      ${draft.images.length ? this.renderThumbnails() : nothing}
      <div class="field">
        <button type="button" class="icon" aria-label=${strings.attachFiles} title=${strings.attachFiles} @click=${this.openFilePicker}>
          <span aria-hidden="true">+</span>
        </button>
        <textarea
          rows="1"
          dir="auto"
          aria-label=${strings.message}
          placeholder=${strings.composerPlaceholder}
          aria-autocomplete="list"
          aria-controls=${commands.length ? "slash-menu" : nothing}
          aria-activedescendant=${commands.length ? `slash-${this.selectedIndex}` : nothing}
          .value=${this.text}
          @input=${this.onInput}
          @keydown=${this.onKeydown}
          @paste=${this.onPaste}
        ></textarea>
        ${this.renderButtons()}
      </div>
      <input type="file" multiple hidden @change=${this.onFilesPicked} />
    </form>`;
  }

  private renderButtons(): TemplateResult {
    const { strings, draft } = this;
    const isBlocked = (!draft.text.trim() && !draft.images.length) || draft.isSending;
    const stop = html`<button type="button" class="stop" ?disabled=${this.isStopping} @click=${this.requestStop}>
      ${this.isStopping ? strings.stopping : strings.stop}
    </button>`;
    if (!this.isRunning) return html`<button type="submit" class="primary" ?disabled=${isBlocked}>${draft.isSending ? strings.sending : strings.send}</button>`;
    if (isBlocked) return stop;
    return html`${stop}
      <button type="button" title=${strings.sendIntoRun} @click=${() => this.sendDraft("active-run")}>${strings.sendIntoRun}</button>
      <button type="submit" class="primary" title=${strings.sendAfterRun}>${strings.send}</button>`;
  }

  private renderThumbnails(): TemplateResult {
    return html`<ul class="thumbnails">
      ${this.draft.images.map(
        (image) => html`<li>
          <img src=${objectUrlFor(image)} alt=${image.name} />
          <button type="button" class="icon" aria-label=${this.strings.removeImage(image.name)} title=${this.strings.removeImage(image.name)} @click=${() => this.removeImage(image)}>
            <span aria-hidden="true">✕</span>
          </button>
        </li>`,
      )}
    </ul>`;
  }

  private removeImage(image: File): void {
    this.draft.images = this.draft.images.filter((other) => other !== image);
    this.textarea?.focus();
  }

  /** The commands around the selected one; a scrolling list would need more keys. */
  private renderMenu(commands: readonly Command[]): TemplateResult {
    const first = Math.max(0, Math.min(this.selectedIndex - MENU_ITEMS_MAX / 2, commands.length - MENU_ITEMS_MAX));
    return html`<ul id="slash-menu" role="listbox" class="slash-menu" aria-label=${this.strings.commands}>
      ${commands.slice(first, first + MENU_ITEMS_MAX).map(
        (command, offset) => html`<li
          id="slash-${first + offset}"
          role="option"
          aria-setsize=${commands.length}
          aria-posinset=${first + offset + 1}
          aria-selected=${first + offset === this.selectedIndex}
          @pointerdown=${(event: Event) => (event.preventDefault(), this.runCommand(command))}
        >
          <code>/${command.id}</code> ${command.title}
        </li>`,
      )}
    </ul>`;
  }

  private get textarea(): HTMLTextAreaElement | null {
    return this.querySelector("textarea");
  }

  private matchingCommands(): readonly Command[] {
    // Agents have their own slash commands: only a prefix of a known name opens the menu.
    if (!/^\/[\w-]*$/.test(this.text) || this.menuDismissed) return [];
    return this.commands.filter(({ id }) => id.startsWith(this.text.slice(1)) && !id.startsWith("chat-"));
  }

  private setText(text: string): void {
    this.selectedIndex = 0;
    this.menuDismissed = false;
    this.draft.text = text;
  }

  private readonly onInput = (event: Event): void => this.setText((event.target as HTMLTextAreaElement).value);

  private readonly onKeydown = (event: KeyboardEvent): void => {
    // Safari ends composition before the keydown event of the key that ended it.
    if (event.isComposing || event.keyCode === 229) return;
    const commands = this.matchingCommands();
    if (commands.length && this.handleMenuKey(event, commands)) return event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    this.sendDraft(event.altKey ? "active-run" : "queue");
  };

  /** Handles a key for the open menu; returns false if it has no meaning there. */
  private handleMenuKey(event: KeyboardEvent, commands: readonly Command[]): boolean {
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move) this.selectedIndex = (this.selectedIndex + move + commands.length) % commands.length;
    else if (event.key === "Escape") this.menuDismissed = true;
    else if (event.key === "Enter" || event.key === "Tab") {
      const command = commands[this.selectedIndex];
      if (command) this.runCommand(command);
    } else return false;
    return true;
  }

  private runCommand(command: Command): void {
    this.setText("");
    command.run();
  }

  private readonly onSubmit = (event: Event): void => {
    event.preventDefault();
    this.sendDraft("queue");
  };

  private sendDraft(target: "queue" | "active-run"): void {
    const { text, images: images, isSending } = this.draft;
    if ((!text.trim() && !images.length) || isSending) return;
    const message: ComposedMessage = { text, images, join: target === "active-run" && this.isRunning };
    this.dispatchEvent(new CustomEvent<ComposedMessage>("send-message", { detail: message }));
  }

  private readonly requestStop = (): void => {
    this.dispatchEvent(new CustomEvent("stop-run"));
  };

  private readonly cancelNote = (): void => {
    this.dispatchEvent(new CustomEvent("cancel-note"));
  };

  private readonly openFilePicker = (): void => this.querySelector<HTMLInputElement>("input[type=file]")?.click();

  private readonly onFilesPicked = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    void this.attachFiles([...(input.files ?? [])]);
    input.value = "";
  };

  private readonly onPaste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    // Spreadsheets and editors copy text together with an image of it: paste the text.
    if (!files.length || event.clipboardData?.types.includes("text/plain")) return;
    event.preventDefault();
    void this.attachFiles(files);
  };

  private readonly onDrop = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    void this.attachFiles(files);
  };

  /** Attaches images and inserts the content of text files. `draft` stays the same if another chat is opened meanwhile. */
  async attachFiles(files: readonly File[], draft = this.draft): Promise<void> {
    for (const file of files) {
      if (isImageFile(file)) await this.attachImage(file, draft);
      else await this.attachText(file, draft);
    }
    this.textarea?.focus();
  }

  private async attachImage(file: File, draft: Draft): Promise<void> {
    if (!(await isDecodableImage(file))) return this.reportProblem(this.strings.unreadableImage(file.name));
    if (IMAGES_MAX <= draft.images.length) return this.reportProblem(this.strings.tooManyImages);
    draft.images = [...draft.images, file];
  }

  private async attachText(file: File, draft: Draft): Promise<void> {
    const block = await fileAsFencedText(file);
    if (block === undefined) return this.reportProblem(this.strings.cannotAttach(file.name));
    draft.text += (draft.text && !draft.text.endsWith("\n") ? "\n" : "") + block;
  }

  private reportProblem(text: string): void {
    this.dispatchEvent(new CustomEvent("attach-failed", { detail: text }));
  }

  protected override updated(): void {
    for (const removed of this.thumbnailFiles.filter((image) => !this.draft.images.includes(image))) revokeObjectUrl(removed);
    this.thumbnailFiles = this.draft.images;
    const { textarea } = this;
    if (!textarea) return;
    // As high as its text; the style limits it.
    textarea.rows = Math.min(12, Math.max(1, this.text.split("\n").length));
  }
}

/** Drag-over handler that accepts files. */
export function allowFileDrop(event: DragEvent): void {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
}

const objectUrls = new WeakMap<File, string>();

/** Object URL of an image file, created once. */
function objectUrlFor(image: File): string {
  const url = objectUrls.get(image) ?? URL.createObjectURL(image);
  objectUrls.set(image, url);
  return url;
}

function revokeObjectUrl(image: File): void {
  URL.revokeObjectURL(objectUrls.get(image) ?? "");
  objectUrls.delete(image);
}

customElements.define("mp-composer", ComposerElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-composer": ComposerElement;
  }
}
