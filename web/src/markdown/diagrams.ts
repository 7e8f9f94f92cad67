// Puts drawn diagrams in the place of their source, in the colours of the reader's scheme.
// Invariant: a diagram is only ever an image, so nothing in it can run; its source stays within reach.

import { DIAGRAM_CHARACTERS_MAX } from "./limits.ts";

/** Anything by which a diagram could make the page fetch something while it is measured. */
const FETCHES = /url\s*\(|@import|image-set|\bimg\s*:|\bicon\s*:|<\s*[a-z][^>]*=|\\[0-9a-f]|&#/i;

interface Shown {
  image: HTMLImageElement;
  source: string;
}

export class Diagrams {
  readonly #words: string;
  readonly #shown: Shown[] = [];
  #stopFollowing = (): void => undefined;
  #isDisposed = false;

  constructor(words: string) {
    this.#words = words;
  }

  /** Whether the figure now shows the diagram; if not, its code is untouched. */
  async show(figure: Element, source: string): Promise<boolean> {
    if (source.length > DIAGRAM_CHARACTERS_MAX || FETCHES.test(source)) return false;
    const image = document.createElement("img");
    image.alt = this.#words;
    if (!(await this.#paint(image, source))) return false;
    if (!figure.isConnected) return URL.revokeObjectURL(image.src), false;
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = figure.querySelector("figcaption > span")?.textContent ?? "";
    details.append(summary, ...figure.childNodes);
    figure.replaceChildren(image, details);
    figure.classList.add("md-diagram");
    if (this.#shown.length === 0) this.#followScheme();
    this.#shown.push({ image, source });
    return true;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#stopFollowing();
    for (const { image } of this.#shown) URL.revokeObjectURL(image.src);
  }

  #followScheme(): void {
    const redraw = (): void => void this.#redrawAll();
    const theme = new MutationObserver(redraw);
    const dark = darkScheme();
    dark.addEventListener("change", redraw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#stopFollowing = () => {
      dark.removeEventListener("change", redraw);
      theme.disconnect();
    };
  }

  async #redrawAll(): Promise<void> {
    for (const { image, source } of this.#shown) await this.#paint(image, source).catch(() => false);
  }

  async #paint(image: HTMLImageElement, source: string): Promise<boolean> {
    const { drawDiagram } = await import("./diagram.ts");
    const drawn = await drawDiagram(source, scheme());
    // Nobody would give back what is made after the text has gone.
    if (drawn === null || this.#isDisposed) return false;
    if (image.src !== "") URL.revokeObjectURL(image.src);
    image.width = drawn.width;
    image.height = drawn.height;
    image.src = URL.createObjectURL(new Blob([drawn.svg], { type: "image/svg+xml" }));
    return true;
  }
}

function scheme(): "light" | "dark" {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return darkScheme().matches ? "dark" : "light";
}

function darkScheme(): MediaQueryList {
  return matchMedia("(prefers-color-scheme: dark)");
}
