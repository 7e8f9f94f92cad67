// A text of the agent as markdown that grows. The page hands it increments; it never reads the whole
// text again for them.

import { MarkdownStream, type Surroundings } from "../markdown/stream.ts";

export class TextElement extends HTMLElement {
  surroundings: Surroundings | undefined;
  private stream: MarkdownStream | undefined;
  private shown = "";
  private whole = false;

  /** Shows this text; `live` says whether more may come. */
  show(text: string, live: boolean): void {
    const stream = this.streamed();
    if (text !== this.shown) {
      if (!this.whole && text.startsWith(this.shown)) stream?.append(text.slice(this.shown.length));
      else stream?.replace(text);
      this.shown = text;
      this.whole = false;
    }
    if (!live && !this.whole) this.finish();
  }

  grow(delta: string): void {
    this.streamed()?.append(delta);
    this.shown += delta;
  }

  disconnectedCallback(): void {
    // Moved elements are connected again at once; what is gone for good is not.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.stream?.dispose();
      this.stream = undefined;
      this.shown = "";
      this.whole = false;
    });
  }

  private finish(): void {
    this.streamed()?.finish();
    this.whole = true;
  }

  private streamed(): MarkdownStream | undefined {
    if (!this.stream && this.surroundings) this.stream = new MarkdownStream(this, this.surroundings);
    return this.stream;
  }
}

customElements.define("mp-text", TextElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-text": TextElement;
  }
}
