// The door of this folder: shows a markdown text while it is being written.
// Invariant: text given is text shown, at the latest by `finish`; drawing takes a bounded share of the time.

import { Drawing } from "./drawing.ts";
import { Enhancer } from "./enhance.ts";
import { Intake, clean } from "./intake.ts";
import { restAfter } from "./pace.ts";
import { Page } from "./page.ts";
import { handlePresses } from "./presses.ts";
import type { Words } from "./setting.ts";

export { renderToHtml } from "./export.ts";

export interface Surroundings {
  words: Words;
  /** Where a picture of the session is found that the text names; where the text says if nobody knows better. */
  ownImage?(path: string): string | Promise<string>;
  /** What takes the place of a remote picture's button when it is clicked. */
  remoteImage(url: string, alt: string): Element;
}

export class MarkdownStream {
  readonly #enhancer: Enhancer;
  readonly #drawing: Drawing;
  readonly #stopPresses: () => void;
  readonly #now: () => number;
  #intake = new Intake();
  #undrawn = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #restsUntil = 0;
  #isFinished = false;

  constructor(host: HTMLElement, surroundings: Surroundings, now: () => number = () => performance.now()) {
    this.#now = now;
    host.classList.add("md");
    host.replaceChildren();
    const enhancer = new Enhancer(host, surroundings);
    const page = new Page(host, (shown, fresh) => enhancer.keeps(shown, fresh));
    this.#enhancer = enhancer;
    this.#drawing = new Drawing(page, {
      words: surroundings.words,
      prepare: (elements) => {
        enhancer.ownPicturesIn(elements);
        enhancer.formulasIn(elements);
      },
      finished: (elements) => enhancer.codeIn(elements),
    });
    this.#stopPresses = handlePresses(host, surroundings, (element) => enhancer.keep(element));
  }

  append(delta: string): void {
    if (this.#isFinished) return this.replace(this.#drawing.source + delta);
    this.#undrawn += this.#intake.push(delta);
    const rest = this.#restsUntil - this.#now();
    if (rest <= 0) this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), rest);
  }

  /** A text that continues the one shown is appended; any other is drawn anew over what is shown. */
  replace(text: string): void {
    const shown = this.#drawing.source + this.#undrawn;
    const isContinued = !this.#isFinished && clean(text).startsWith(shown);
    this.#isFinished = false;
    this.#intake = new Intake();
    if (isContinued) this.#undrawn += this.#intake.push(clean(text).slice(shown.length));
    else {
      this.#drawing.restart();
      this.#undrawn = this.#intake.push(text);
    }
    this.#draw();
  }

  finish(): void {
    if (this.#isFinished) return;
    this.#drawing.complete(this.#takeUndrawn() + this.#intake.finish());
    this.#isFinished = true;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#stopPresses();
    this.#enhancer.dispose();
  }

  #draw(): void {
    const start = this.#now();
    this.#drawing.grow(this.#takeUndrawn());
    const end = this.#now();
    this.#restsUntil = end + restAfter(end - start, this.#drawing.openCharacters);
  }

  #takeUndrawn(): string {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#undrawn;
    this.#undrawn = "";
    return text;
  }
}
