// Questions and pictures over the page. A dialog of the browser keeps the focus in it and gives it
// back.

import { LitElement, html, nothing, type TemplateResult } from "lit";
import type { Words } from "../words/words.ts";

type Shown =
  | { what: "ask"; label: string; value: string; done: (value: string) => void }
  | { what: "picture"; src: string; alt: string }
  | { what: "own"; label: string; body: () => TemplateResult };

export class DialogsElement extends LitElement {
  static override properties = { words: { attribute: false }, shown: { state: true }, stamp: { state: true } };
  declare words: Words;
  declare private shown: Shown | undefined;
  declare private stamp: number;

  constructor() {
    super();
    this.stamp = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Asks for one line. */
  ask(label: string, value: string, done: (value: string) => void): void {
    this.open({ what: "ask", label, value, done });
  }

  picture(src: string, alt: string): void {
    this.open({ what: "picture", src, alt });
  }

  own(label: string, body: () => TemplateResult): void {
    this.open({ what: "own", label, body });
  }

  /** What is shown has changed. */
  again(): void {
    this.stamp += 1;
  }

  close(): void {
    this.querySelector("dialog")?.close();
  }

  private open(shown: Shown): void {
    this.shown = shown;
    void this.updateComplete.then(() => {
      this.querySelector("dialog")?.showModal();
      this.querySelector<HTMLInputElement>("dialog input")?.select();
    });
  }

  protected override render(): TemplateResult | typeof nothing {
    const { shown, words } = this;
    if (!shown) return nothing;
    const label = shown.what === "picture" ? shown.alt : shown.label;
    return html`<dialog class=${shown.what} aria-label=${label} @close=${() => (this.shown = undefined)} @click=${this.outside}>
      ${shown.what === "ask" ? this.question(shown) : nothing}
      ${shown.what === "picture" ? html`<img src=${shown.src} alt=${shown.alt} />` : nothing}
      ${shown.what === "own" ? html`<h2>${shown.label}</h2>${shown.body()}` : nothing}
      ${shown.what === "ask" ? nothing : html`<button type="button" class="close" @click=${() => this.close()}>${words.close}</button>`}
    </dialog>`;
  }

  private question({ label, value, done }: Shown & { what: "ask" }): TemplateResult {
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("value") as HTMLInputElement;
      this.close();
      done(field.value);
    };
    return html`<form @submit=${submit}>
      <label>${label} <input name="value" maxlength="200" dir="auto" .value=${value} /></label>
      <div class="answers">
        <button type="submit" class="primary">${this.words.save}</button>
        <button type="button" @click=${() => this.close()}>${this.words.cancel}</button>
      </div>
    </form>`;
  }

  private readonly outside = (event: MouseEvent): void => {
    if (event.target === event.currentTarget) this.close();
  };
}

customElements.define("mp-dialogs", DialogsElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-dialogs": DialogsElement;
  }
}
