// Improves shown elements with parts that are fetched only when a text needs them: formulas, colours, diagrams.
// Invariant: never changes the words of a text; while a part is missing or fails, the source is shown.

import type { Surroundings } from "./stream.ts";
import { HIGHLIGHT_CHARACTERS_MAX, MATH_CHARACTERS_MAX } from "./limits.ts";
import { Diagrams } from "./diagrams.ts";
import { whenIdle } from "./idle.ts";

type Formula = typeof import("./formula.ts");

let formula: Formula | null = null;
let loadingFormula: Promise<Formula> | null = null;

export class Enhancer {
  readonly #host: Element;
  readonly #surroundings: Surroundings;
  /** The source each improved element was made from. */
  readonly #sources = new WeakMap<Element, string>();
  readonly #diagrams: Diagrams;
  #isDisposed = false;

  constructor(host: Element, surroundings: Surroundings) {
    this.#host = host;
    this.#surroundings = surroundings;
    this.#diagrams = new Diagrams(surroundings.words.diagram);
  }

  /** Whether the shown element needs no further work: it is improved already, or takes over what improved the fresh. */
  keeps(shown: Element, fresh: Element): boolean {
    const shownSource = this.#sources.get(shown);
    const freshSource = this.#sources.get(fresh);
    if (shownSource === undefined && freshSource === undefined) return false;
    if (shownSource === (freshSource ?? sourceOf(fresh))) return true;
    shown.className = fresh.className;
    shown.replaceChildren(...fresh.childNodes);
    if (freshSource === undefined) this.#sources.delete(shown);
    else this.#sources.set(shown, freshSource);
    return true;
  }

  /** Marks an element that the reader changed, so that a redraw does not undo it. */
  keep(element: Element): void {
    this.#sources.set(element, sourceOf(element));
  }

  /** Gives pictures of the session their address before they are shown: elsewhere than at home, the one in the text is somebody else's. */
  ownPicturesIn(roots: Iterable<Element>): void {
    for (const element of within(roots, ".md-own")) {
      const image = element.querySelector("img");
      const path = image?.getAttribute("src");
      const place = path && this.#surroundings.ownImage?.(path);
      if (!image || !place || place === path) continue;
      this.#sources.set(element, path);
      image.removeAttribute("src");
      Promise.resolve(place).then((address) => (image.src = address), () => undefined);
    }
  }

  /** Typesets the formulas in elements that are about to be shown, or fetches what is needed for it. */
  formulasIn(roots: Iterable<Element>): void {
    for (const element of within(roots, ".md-math:not(.md-open)")) {
      if (formula === null) return void this.#loadFormula();
      if (!this.#sources.has(element)) this.#typeset(element, formula);
    }
  }

  codeIn(roots: Iterable<Element>): void {
    for (const figure of within(roots, "figure.md-code")) {
      if (this.#sources.has(figure)) continue;
      const language = figure.querySelector("figcaption > span")?.textContent ?? "";
      if (language === "mermaid") this.#draw(figure);
      else if (language !== "") this.#colour(figure, language);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#diagrams.dispose();
  }

  async #loadFormula(): Promise<void> {
    try {
      formula = await (loadingFormula ??= import("./formula.ts"));
    } catch {
      // Offline or out of date: the source stays, and the next formula tries again.
      loadingFormula = null;
      return;
    }
    if (!this.#isDisposed) this.formulasIn([this.#host]);
  }

  #typeset(element: Element, { typeset }: Formula): void {
    const source = sourceOf(element);
    const isShort = source.length <= MATH_CHARACTERS_MAX;
    const math = isShort ? typeset(source, element.classList.contains("md-display")) : null;
    if (math !== null) element.replaceChildren(math);
    this.#sources.set(element, source);
  }

  #colour(figure: Element, language: string): void {
    const code = figure.querySelector("code");
    if (code === null || (code.textContent?.length ?? 0) > HIGHLIGHT_CHARACTERS_MAX) return;
    whenIdle(async () => {
      const { highlight } = await import("./highlight.ts");
      const text = code.textContent ?? "";
      const coloured = this.#isDisposed ? null : highlight(text, language);
      if (coloured === null || coloured.textContent !== text) return;
      this.#sources.set(figure, sourceOf(figure));
      code.replaceChildren(coloured);
    });
  }

  #draw(figure: Element): void {
    const source = figure.querySelector("code")?.textContent ?? "";
    whenIdle(async () => {
      const before = sourceOf(figure);
      if (!this.#isDisposed && (await this.#diagrams.show(figure, source))) this.#sources.set(figure, before);
    });
  }
}

/** What an element that can be improved was rendered from, before anyone improved it. */
function sourceOf(element: Element): string {
  const picture = element.querySelector<HTMLElement>(".md-image");
  if (picture !== null) return picture.dataset["src"] ?? "";
  const language = element.querySelector("figcaption > span")?.textContent ?? "";
  return `${language}${element.querySelector("code")?.textContent ?? ""}`;
}

function* within(roots: Iterable<Element>, selector: string): Iterable<Element> {
  for (const root of roots) {
    if (root.matches(selector)) yield root;
    yield* root.querySelectorAll(selector);
  }
}
