// What waits for a person. Shown as it is, with what cannot be seen written out; answered only on
// purpose.

import type { Ask } from "@millpond/client";
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { hasLostFocus } from "../focus.ts";
import { hasUnseen, writtenOut } from "../page/hidden-characters.ts";
import type { Words } from "../words/words.ts";
import { answerWords } from "../words/answers.ts";

/** Keys that were meant for something else when an ask appeared do not answer it. */
const DEAF_MS = 350;

/** Asks of two runs may have the same id. */
export function nameOf({ run, id }: { run: string; id: string }): string {
  return `${run}/${id}`;
}

export class AsksElement extends LitElement {
  static override properties = { asks: { attribute: false }, words: { attribute: false }, busy: { attribute: false } };
  declare asks: readonly Ask[];
  declare words: Words;
  /** Those whose answer is on its way. */
  declare busy: ReadonlySet<string>;
  /** Since when what is under the pointer or the focus has been what it is. */
  private settledAt = 0;
  private shown = "";
  private hadFocus = false;

  constructor() {
    super();
    this.asks = [];
    this.busy = new Set();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.hadFocus = this.matches(":focus-within");
    const shown = this.asks.map(nameOf).join();
    // Also when one goes: another may have moved to where it was.
    if (changed.has("asks") && shown !== this.shown) this.settledAt = performance.now();
    this.shown = shown;
  }

  /** Not to the next ask: a key meant for the one before would answer it. */
  protected override updated(): void {
    if (this.hadFocus && hasLostFocus(this)) this.dispatchEvent(new CustomEvent("focus-lost"));
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.asks.length) return nothing;
    return html`<section class="asks" aria-label=${this.words.waitingForYou}>${repeat(this.asks, nameOf, (ask) => this.ask(ask))}</section>`;
  }

  private ask(ask: Ask): TemplateResult {
    const { words } = this;
    const heading = `ask-${nameOf(ask)}`;
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
      return html`<button type="button" class=${kind} aria-disabled=${this.busy.has(nameOf(ask))} @click=${() => this.answer(ask, id)}>
        ${answerWords(writtenOut(label), this.words)}
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
      <label class="unseen" for="answer-${nameOf(ask)}">${this.words.yourAnswer}</label>
      <input id="answer-${nameOf(ask)}" name="answer" autocomplete="off" placeholder=${this.words.yourAnswer} />
      <button type="submit" class="primary" aria-disabled=${this.busy.has(nameOf(ask))}>${this.words.answer}</button>
    </form>`;
  }

  private answer(ask: Ask, answer: string): void {
    // Its buttons keep the focus while an answer is on its way: one that is disabled would lose it.
    if (this.busy.has(nameOf(ask)) || performance.now() - this.settledAt < DEAF_MS) return;
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
