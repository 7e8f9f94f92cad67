// Open asks: the question, the exact text to approve and the possible answers.

import type { Ask } from "@millpond/client";
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { hasLostFocus } from "../focus.ts";
import { answerText, askQuestion } from "../i18n/ask-text.ts";
import type { Strings } from "../i18n/strings.ts";
import { escapeHiddenCharacters, hasHiddenCharacters } from "../page/hidden-characters.ts";

/** Input is ignored for this long after an ask appears, so that a key meant for something else does not answer it. */
const IGNORE_INPUT_MS = 350;

/** Identity of an ask: ids repeat between runs. */
export function askKey({ run, id }: { run: string; id: string }): string {
  return `${run}/${id}`;
}

/** The open asks of a chat. Dispatches `answer` and `focus-lost`. */
export class AsksElement extends LitElement {
  static override properties = { asks: { attribute: false }, strings: { attribute: false }, pendingKeys: { attribute: false } };
  declare asks: readonly Ask[];
  declare strings: Strings;
  /** Keys of asks whose answer is being sent. */
  declare pendingKeys: ReadonlySet<string>;
  /** When the buttons last moved. */
  private layoutChangedAt = 0;
  private shownKeys = "";
  private hadFocus = false;

  constructor() {
    super();
    this.asks = [];
    this.pendingKeys = new Set();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.hadFocus = this.matches(":focus-within");
    const shown = this.asks.map(askKey).join();
    // Also when an ask goes: another may have moved into its place.
    if (changed.has("asks") && shown !== this.shownKeys) this.layoutChangedAt = performance.now();
    this.shownKeys = shown;
  }

  /** Reports a lost focus. It does not go to the next ask, which a repeated key would answer. */
  protected override updated(): void {
    if (this.hadFocus && hasLostFocus(this)) this.dispatchEvent(new CustomEvent("focus-lost"));
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.asks.length) return nothing;
    return html`<section class="asks" aria-label=${this.strings.pendingAsks}>${repeat(this.asks, askKey, (ask) => this.renderAsk(ask))}</section>`;
  }

  private renderAsk(ask: Ask): TemplateResult {
    const { strings } = this;
    const headingId = `ask-${askKey(ask)}`;
    return html`<div class="ask" role="group" aria-labelledby=${headingId}>
      <h2 id=${headingId}>${askQuestion(ask, strings)}</h2>
      ${renderExactText(ask.text)} ${hasHiddenCharacters(ask.text) ? html`<p class="warning">${strings.hiddenCharactersEscaped}</p>` : nothing}
      <div class="answers">${ask.options.length ? this.renderButtons(ask) : this.renderTextAnswer(ask)}</div>
      <p class="muted">
        ${ask.digest ? html`<span title=${ask.digest}>${strings.askDigest(ask.digest.slice(0, 12))}</span>` : nothing}
        ${ask.expiresAt ? html`<span>${strings.askExpires(strings.formatTime(ask.expiresAt))}</span>` : nothing}
      </p>
    </div>`;
  }

  private renderButtons(ask: Ask): TemplateResult[] {
    return ask.options.map(({ id, label }) => {
      const kind = id === "approve" || id.startsWith("allow") ? "primary" : "";
      return html`<button type="button" class=${kind} aria-disabled=${this.pendingKeys.has(askKey(ask))} @click=${() => this.submitAnswer(ask, id)}>
        ${answerText(escapeHiddenCharacters(label), this.strings)}
      </button>`;
    });
  }

  private renderTextAnswer(ask: Ask): TemplateResult {
    const send = (event: SubmitEvent) => {
      event.preventDefault();
      const field = (event.target as HTMLFormElement).elements.namedItem("answer") as HTMLInputElement;
      if (field.value.trim()) this.submitAnswer(ask, field.value);
    };
    return html`<form @submit=${send}>
      <label class="visually-hidden" for="answer-${askKey(ask)}">${this.strings.yourAnswer}</label>
      <input id="answer-${askKey(ask)}" name="answer" autocomplete="off" placeholder=${this.strings.yourAnswer} />
      <button type="submit" class="primary" aria-disabled=${this.pendingKeys.has(askKey(ask))}>${this.strings.answer}</button>
    </form>`;
  }

  private submitAnswer(ask: Ask, answer: string): void {
    // Not `disabled`: the button would lose the focus while the answer is being sent.
    if (this.pendingKeys.has(askKey(ask)) || performance.now() - this.layoutChangedAt < IGNORE_INPUT_MS) return;
    this.dispatchEvent(new CustomEvent("answer", { detail: { ask, answer } }));
  }
}

/** The text with hidden characters escaped; lines of a diff are marked as added or removed. */
function renderExactText(text: string): TemplateResult {
  const lines = escapeHiddenCharacters(text).split("\n");
  const isDiff = lines.some((line) => /^@@ |^(\+\+\+|---) /.test(line));
  const kind = (line: string) => (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "");
  return html`<pre class="ask-text" tabindex="0" dir="ltr">${isDiff
    ? lines.map((line) => html`<span class=${kind(line)}>${line}\n</span>`)
    : lines.join("\n")}</pre>`;
}

customElements.define("mp-asks", AsksElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-asks": AsksElement;
  }
}
