// Enhances rendered elements with code loaded on demand: formulas, syntax highlighting, diagrams.
// Invariant: never changes the text itself; the source is shown until an enhancement succeeds.

import { Diagrams } from "./diagrams.ts";
import { whenIdle } from "./idle.ts";
import { HIGHLIGHT_CHARACTERS_MAX, MATH_CHARACTERS_MAX } from "./limits.ts";
import type { MarkdownOptions } from "./stream.ts";

type FormulaModule = typeof import("./formula.ts");

let formulaModule: FormulaModule | null = null;
let formulaImport: Promise<FormulaModule> | null = null;

/** Enhances the elements of one text. */
export class Enhancer {
  readonly #host: Element;
  readonly #options: MarkdownOptions;
  /** Source of each enhanced element. */
  readonly #sources = new WeakMap<Element, string>();
  readonly #diagrams: Diagrams;
  #isDisposed = false;

  constructor(host: Element, options: MarkdownOptions) {
    this.#host = host;
    this.#options = options;
    this.#diagrams = new Diagrams(options.strings.diagram);
  }

  /** True if the shown element needs no morphing: it is enhanced already, or takes over the enhanced content of `fresh`. */
  isUpToDate(shown: Element, fresh: Element): boolean {
    const shownSource = this.#sources.get(shown);
    const freshSource = this.#sources.get(fresh);
    if (shownSource === undefined && freshSource === undefined) return false;
    if (shownSource === (freshSource ?? renderedSource(fresh))) return true;
    shown.className = fresh.className;
    shown.replaceChildren(...fresh.childNodes);
    if (freshSource === undefined) this.#sources.delete(shown);
    else this.#sources.set(shown, freshSource);
    return true;
  }

  /** Marks an element that the user changed, so that a redraw keeps it. */
  markChangedByUser(element: Element): void {
    this.#sources.set(element, renderedSource(element));
  }

  /** Sets the URLs of session images before they are shown; in an embedding page the path alone would be resolved against its origin. */
  loadSessionImages(roots: Iterable<Element>): void {
    for (const element of selectWithin(roots, ".md-session-image")) {
      const image = element.querySelector("img");
      const path = image?.getAttribute("src");
      const url = path && this.#options.sessionImageUrl?.(path);
      if (!image || !url || url === path) continue;
      this.#sources.set(element, path);
      image.removeAttribute("src");
      Promise.resolve(url).then((src) => (image.src = src), () => undefined);
    }
  }

  /** Typesets formulas, or loads the module for it first. */
  typesetFormulas(roots: Iterable<Element>): void {
    for (const element of selectWithin(roots, ".md-math:not(.md-open)")) {
      if (formulaModule === null) return void this.#loadFormula();
      if (!this.#sources.has(element)) this.#typeset(element, formulaModule);
    }
  }

  /** Highlights code and draws diagrams. */
  enhanceCode(roots: Iterable<Element>): void {
    for (const figure of selectWithin(roots, "figure.md-code")) {
      if (this.#sources.has(figure)) continue;
      const language = figure.querySelector("figcaption > span")?.textContent ?? "";
      if (language === "mermaid") this.#drawDiagram(figure);
      else if (language !== "") this.#highlightCode(figure, language);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#diagrams.dispose();
  }

  async #loadFormula(): Promise<void> {
    try {
      formulaModule = await (formulaImport ??= import("./formula.ts"));
    } catch {
      // Offline or outdated build: the source stays, and the next formula tries again.
      formulaImport = null;
      return;
    }
    if (!this.#isDisposed) this.typesetFormulas([this.#host]);
  }

  #typeset(element: Element, { typesetFormula }: FormulaModule): void {
    const source = renderedSource(element);
    const isShort = source.length <= MATH_CHARACTERS_MAX;
    const math = isShort ? typesetFormula(source, element.classList.contains("md-display")) : null;
    if (math !== null) element.replaceChildren(math);
    this.#sources.set(element, source);
  }

  #highlightCode(figure: Element, language: string): void {
    const code = figure.querySelector("code");
    if (code === null || (code.textContent?.length ?? 0) > HIGHLIGHT_CHARACTERS_MAX) return;
    whenIdle(async () => {
      const { highlight } = await import("./highlight.ts");
      const text = code.textContent ?? "";
      const highlighted = this.#isDisposed ? null : highlight(text, language);
      if (highlighted === null || highlighted.textContent !== text) return;
      this.#sources.set(figure, renderedSource(figure));
      code.replaceChildren(highlighted);
    });
  }

  #drawDiagram(figure: Element): void {
    const source = figure.querySelector("code")?.textContent ?? "";
    whenIdle(async () => {
      const before = renderedSource(figure);
      if (!this.#isDisposed && (await this.#diagrams.showDiagram(figure, source))) this.#sources.set(figure, before);
    });
  }
}

/** Source of an element that is not enhanced yet. */
function renderedSource(element: Element): string {
  const image = element.querySelector<HTMLElement>(".md-show-image");
  if (image !== null) return image.dataset["src"] ?? "";
  const language = element.querySelector("figcaption > span")?.textContent ?? "";
  return `${language}${element.querySelector("code")?.textContent ?? ""}`;
}

function* selectWithin(roots: Iterable<Element>, selector: string): Iterable<Element> {
  for (const root of roots) {
    if (root.matches(selector)) yield root;
    yield* root.querySelectorAll(selector);
  }
}
