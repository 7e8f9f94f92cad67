// Replaces diagram sources by images, in the colours of the current scheme.
// Invariant: a diagram is shown as an image, so nothing in it can run; its source stays available.

import { DIAGRAM_CHARACTERS_MAX } from "./limits.ts";

/** Source that could make the page fetch something while it is measured. */
const MAY_FETCH = /url\s*\(|@import|image-set|\bimg\s*:|\bicon\s*:|<\s*[a-z][^>]*=|\\[0-9a-f]|&#/i;

interface ShownDiagram {
  image: HTMLImageElement;
  source: string;
}

/** The diagrams of one text. */
export class Diagrams {
  readonly #altText: string;
  readonly #shown: ShownDiagram[] = [];
  #stopWatchingScheme = (): void => undefined;
  #isDisposed = false;

  constructor(altText: string) {
    this.#altText = altText;
  }

  /** Shows the diagram in the figure; returns false and leaves the code unchanged if it cannot. */
  async showDiagram(figure: Element, source: string): Promise<boolean> {
    if (source.length > DIAGRAM_CHARACTERS_MAX || MAY_FETCH.test(source)) return false;
    const image = document.createElement("img");
    image.alt = this.#altText;
    if (!(await this.#renderInto(image, source))) return false;
    if (!figure.isConnected) return URL.revokeObjectURL(image.src), false;
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = figure.querySelector("figcaption > span")?.textContent ?? "";
    details.append(summary, ...figure.childNodes);
    figure.replaceChildren(image, details);
    figure.classList.add("md-diagram");
    if (this.#shown.length === 0) this.#watchScheme();
    this.#shown.push({ image, source });
    return true;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#stopWatchingScheme();
    for (const { image } of this.#shown) URL.revokeObjectURL(image.src);
  }

  #watchScheme(): void {
    const redraw = (): void => void this.#redrawAll();
    const theme = new MutationObserver(redraw);
    const dark = darkSchemeQuery();
    dark.addEventListener("change", redraw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#stopWatchingScheme = () => {
      dark.removeEventListener("change", redraw);
      theme.disconnect();
    };
  }

  async #redrawAll(): Promise<void> {
    for (const { image, source } of this.#shown) await this.#renderInto(image, source).catch(() => false);
  }

  async #renderInto(image: HTMLImageElement, source: string): Promise<boolean> {
    const { renderDiagram } = await import("./diagram-svg.ts");
    const diagram = await renderDiagram(source, colourScheme());
    // An object URL created after `dispose` would never be revoked.
    if (diagram === null || this.#isDisposed) return false;
    if (image.src !== "") URL.revokeObjectURL(image.src);
    image.width = diagram.width;
    image.height = diagram.height;
    image.src = URL.createObjectURL(new Blob([diagram.svg], { type: "image/svg+xml" }));
    return true;
  }
}

function colourScheme(): "light" | "dark" {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return darkSchemeQuery().matches ? "dark" : "light";
}

function darkSchemeQuery(): MediaQueryList {
  return matchMedia("(prefers-color-scheme: dark)");
}
