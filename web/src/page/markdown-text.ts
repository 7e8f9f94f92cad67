// `<mp-text>`: a growing Markdown text. Deltas are appended without parsing the whole text again.

import { MarkdownStream, type MarkdownOptions } from "../markdown/stream.ts";

/** Shows one text of the agent. */
export class MarkdownTextElement extends HTMLElement {
  options: MarkdownOptions | undefined;
  private stream: MarkdownStream | undefined;
  private shownText = "";
  private isFinished = false;

  /** Shows `text`; more may be appended while it is live. */
  show(text: string, state: "live" | "final"): void {
    const stream = this.getStream();
    if (text !== this.shownText) {
      if (!this.isFinished && text.startsWith(this.shownText)) stream?.append(text.slice(this.shownText.length));
      else stream?.replace(text);
      this.shownText = text;
      this.isFinished = false;
    }
    if (state === "final" && !this.isFinished) this.finish();
  }

  appendText(delta: string): void {
    this.getStream()?.append(delta);
    this.shownText += delta;
  }

  disconnectedCallback(): void {
    // A moved element is connected again at once; only a removed one is disposed.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.stream?.dispose();
      this.stream = undefined;
      this.shownText = "";
      this.isFinished = false;
    });
  }

  private finish(): void {
    this.getStream()?.finish();
    this.isFinished = true;
  }

  private getStream(): MarkdownStream | undefined {
    if (!this.stream && this.options) this.stream = new MarkdownStream(this, this.options);
    return this.stream;
  }
}

customElements.define("mp-text", MarkdownTextElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-text": MarkdownTextElement;
  }
}
