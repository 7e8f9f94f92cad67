// What waits for a person. Shown as it is, with what cannot be seen written out; answered only on
// purpose.

import type { Ask } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { hasUnseen, writtenOut } from "../page/hidden-characters.ts";
import type { Words } from "../words/words.ts";

/** Keys that were meant for something else when an ask appeared do not answer it. */
const DEAF_MS = 350;

export class AsksElement extends LitElement {
  static override properties = { asks: { attribute: false }, words: { attribute: false }, busy: { attribute: false } };
  declare asks: readonly Ask[];
  declare words: Words;
  /** Those whose answer is on its way. */
  declare busy: ReadonlySet<string>;
  private readonly appeared = new Map<string, number>();

  constructor() {
    super();
    this.asks = [];
    this.busy = new Set();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(): void {
    for (const { id } of this.asks) if (!this.appeared.has(id)) this.appeared.set(id, performance.now());
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.asks.length) return nothing;
    return html`<section class="asks" aria-label=${this.words.waitingForYou}>${this.asks.map((ask) => this.ask(ask))}</section>`;
  }

  private ask(ask: Ask): TemplateResult {
    const { words } = this;
    const heading = `ask-${ask.id}`;
    return html`<div class="ask" role="group" aria-labelledby=${heading}>
      <h2 id=${heading}>${words.askOf[ask.kind]}</h2>
      ${exactText(ask.text)} ${hasUnseen(ask.text) ? html`<p class="warning">${words.hiddenCharacters}</p>` : nothing}
      <div class="answers">${ask.options.length ? this.options(ask) : this.inWords(ask)}</div>
      <p class="soft">
        ${ask.digest ? html`<span title=${ask.digest}>${words.askDigest(ask.digest.slice(0, 12))}</span>` : nothing}
        ${ask.expiresAt ? html`<span>${words.askExpires(words.clockOf(ask.expiresAt))}</span>` : nothing}
      </p>
    </div>`;
  }

  private options(ask: Ask): TemplateResult[] {
    return ask.options.map(({ id, label }) => {
      const kind = id === "approve" || id.startsWith("allow") ? "primary" : "";
      return html`<button type="button" class=${kind} ?disabled=${this.busy.has(ask.id)} @click=${() => this.answer(ask, id)}>
        ${this.words.askOption[id] ?? writtenOut(label)}
      </button>`;
    });
  }

  private inWords(ask: Ask): TemplateResult {
    const send = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("answer") as HTMLInputElement;
      if (field.value.trim()) this.answer(ask, field.value);
    };
    return html`<form @submit=${send}>
      <label class="unseen" for="answer-${ask.id}">${this.words.yourAnswer}</label>
      <input id="answer-${ask.id}" name="answer" autocomplete="off" placeholder=${this.words.yourAnswer} />
      <button type="submit" class="primary" ?disabled=${this.busy.has(ask.id)}>${this.words.answer}</button>
    </form>`;
  }

  private answer(ask: Ask, answer: string): void {
    if (performance.now() - (this.appeared.get(ask.id) ?? 0) < DEAF_MS) return;
    this.dispatchEvent(new CustomEvent("answer", { detail: { ask, answer } }));
  }
}

/** The text to the character; lines of a change are marked as added and removed. */
function exactText(text: string): TemplateResult {
  const lines = writtenOut(text).split("\n");
  const isChange = lines.some((line) => /^@@ |^(\+\+\+|---) /.test(line));
  const kind = (line: string) => (line.startsWith("+") ? "added" : line.startsWith("-") ? "gone" : "");
  return html`<pre class="exact" tabindex="0" dir="ltr">${isChange
    ? lines.map((line) => html`<span class=${kind(line)}>${line}\n</span>`)
    : lines.join("\n")}</pre>`;
}

customElements.define("mp-asks", AsksElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-asks": AsksElement;
  }
}
