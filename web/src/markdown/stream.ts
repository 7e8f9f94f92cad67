// Shows a Markdown text while it is being written. The public interface of this folder.
// Invariant: all appended text is shown at the latest by `finish`; drawing takes a bounded share of the time.

import { BlockDom } from "./block-dom.ts";
import { handleClicks } from "./clicks.ts";
import { delayAfterDraw } from "./draw-delay.ts";
import { Enhancer } from "./enhancer.ts";
import { IncrementalRenderer } from "./incremental-renderer.ts";
import { NewlineNormaliser, normaliseText } from "./newlines.ts";
import type { MarkdownStrings } from "./parse-env.ts";

export { renderToHtml } from "./export.ts";

/** Texts and image handling. */
export interface MarkdownOptions {
  strings: MarkdownStrings;
  /** URL of a session image (default: its path). */
  sessionImageUrl?(path: string): string | Promise<string>;
  /** Element that replaces the button of a remote image when it is clicked. */
  createRemoteImage(url: string, alt: string): Element;
}

/** A growing Markdown text in one element. */
export class MarkdownStream {
  readonly #enhancer: Enhancer;
  readonly #renderer: IncrementalRenderer;
  readonly #removeClickHandler: () => void;
  readonly #now: () => number;
  #newlines = new NewlineNormaliser();
  #undrawnText = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #nextDrawAt = 0;
  #isFinished = false;

  constructor(host: HTMLElement, options: MarkdownOptions, now: () => number = () => performance.now()) {
    this.#now = now;
    host.classList.add("md");
    host.replaceChildren();
    const enhancer = new Enhancer(host, options);
    const dom = new BlockDom(host, (shown, fresh) => enhancer.isUpToDate(shown, fresh));
    this.#enhancer = enhancer;
    this.#renderer = new IncrementalRenderer(dom, {
      strings: options.strings,
      beforeShow: (elements) => {
        enhancer.loadSessionImages(elements);
        enhancer.typesetFormulas(elements);
      },
      onFinished: (elements) => enhancer.enhanceCode(elements),
    });
    this.#removeClickHandler = handleClicks(host, options, (element) => enhancer.markChangedByUser(element));
  }

  append(delta: string): void {
    if (this.#isFinished) return this.replace(this.#renderer.source + delta);
    this.#undrawnText += this.#newlines.push(delta);
    const delay = this.#nextDrawAt - this.#now();
    if (delay <= 0) this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), delay);
  }

  /** Shows another text. If it continues the current one, only the rest is appended. */
  replace(text: string): void {
    const shown = this.#renderer.source + this.#undrawnText;
    const isContinued = !this.#isFinished && normaliseText(text).startsWith(shown);
    this.#isFinished = false;
    this.#newlines = new NewlineNormaliser();
    if (isContinued) this.#undrawnText += this.#newlines.push(normaliseText(text).slice(shown.length));
    else {
      this.#renderer.reset();
      this.#undrawnText = this.#newlines.push(text);
    }
    this.#draw();
  }

  /** Draws all text as final. Text appended later starts a new draw. */
  finish(): void {
    if (this.#isFinished) return;
    this.#renderer.finish(this.#takeUndrawn() + this.#newlines.finish());
    this.#isFinished = true;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#removeClickHandler();
    this.#enhancer.dispose();
  }

  #draw(): void {
    const start = this.#now();
    this.#renderer.append(this.#takeUndrawn());
    const end = this.#now();
    this.#nextDrawAt = end + delayAfterDraw(end - start, this.#renderer.openCharacters);
  }

  #takeUndrawn(): string {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#undrawnText;
    this.#undrawnText = "";
    return text;
  }
}
