// Modal dialogs. The browser's <dialog> keeps the focus inside and gives it back when closed.

import { LitElement, html, nothing, type TemplateResult } from "lit";
import type { Strings } from "../i18n/strings.ts";

type DialogContent =
  | { type: "prompt"; label: string; value: string; onSubmit: (value: string) => void }
  | { type: "image"; src: string; alt: string }
  | { type: "custom"; label: string; body: () => TemplateResult };

/** Shows one dialog at a time: a text prompt, an image or custom content. */
export class DialogsElement extends LitElement {
  static override properties = { strings: { attribute: false }, content: { state: true }, version: { state: true } };
  declare strings: Strings;
  declare private content: DialogContent | undefined;
  declare private version: number;

  constructor() {
    super();
    this.version = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Asks for one line of text. */
  promptText(label: string, value: string, onSubmit: (value: string) => void): void {
    this.showDialog({ type: "prompt", label, value, onSubmit });
  }

  showImage(src: string, alt: string): void {
    this.showDialog({ type: "image", src, alt });
  }

  showCustom(label: string, body: () => TemplateResult): void {
    this.showDialog({ type: "custom", label, body });
  }

  /** Renders the custom content again. */
  rerender(): void {
    this.version += 1;
  }

  close(): void {
    this.querySelector("dialog")?.close();
  }

  private showDialog(content: DialogContent): void {
    this.content = content;
    void this.updateComplete.then(() => {
      this.querySelector("dialog")?.showModal();
      this.querySelector<HTMLInputElement>("dialog input")?.select();
    });
  }

  protected override render(): TemplateResult | typeof nothing {
    const { content, strings } = this;
    if (!content) return nothing;
    const label = content.type === "image" ? content.alt : content.label;
    return html`<dialog class=${content.type} aria-label=${label} @close=${() => (this.content = undefined)} @click=${this.closeOnBackdropClick}>
      ${content.type === "prompt" ? this.renderPrompt(content) : nothing}
      ${content.type === "image" ? html`<img src=${content.src} alt=${content.alt} />` : nothing}
      ${content.type === "custom" ? html`<h2>${content.label}</h2>${content.body()}` : nothing}
      ${content.type === "prompt" ? nothing : html`<button type="button" class="close" @click=${() => this.close()}>${strings.close}</button>`}
    </dialog>`;
  }

  private renderPrompt({ label, value, onSubmit }: DialogContent & { type: "prompt" }): TemplateResult {
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("value") as HTMLInputElement;
      this.close();
      onSubmit(field.value);
    };
    return html`<form @submit=${submit}>
      <label>${label} <input name="value" maxlength="200" dir="auto" .value=${value} /></label>
      <div class="answers">
        <button type="submit" class="primary">${this.strings.save}</button>
        <button type="button" @click=${() => this.close()}>${this.strings.cancel}</button>
      </div>
    </form>`;
  }

  private readonly closeOnBackdropClick = (event: MouseEvent): void => {
    if (event.target === event.currentTarget) this.close();
  };
}

customElements.define("mp-dialogs", DialogsElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-dialogs": DialogsElement;
  }
}
