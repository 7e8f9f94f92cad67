// Draws a mermaid diagram as an SVG document. Loaded on demand, with mermaid.
// Invariant: one diagram at a time, for mermaid keeps its settings in one place; the page is left as it was.

import mermaid from "mermaid";
import { DIAGRAM_CHARACTERS_MAX } from "./limits.ts";

export interface Drawn {
  svg: string;
  width: number;
  height: number;
}

const FONT = "ui-sans-serif, system-ui, sans-serif";
const FONT_SIZE_PX = 16;

let queue: Promise<unknown> = Promise.resolve();
let count = 0;

export function drawDiagram(source: string, scheme: "light" | "dark"): Promise<Drawn | null> {
  const drawn = queue.then(() => draw(source, scheme));
  queue = drawn.catch(() => undefined);
  return drawn;
}

async function draw(source: string, scheme: "light" | "dark"): Promise<Drawn | null> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    maxTextSize: DIAGRAM_CHARACTERS_MAX,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    fontFamily: FONT,
    fontSize: FONT_SIZE_PX,
    theme: scheme === "dark" ? "dark" : "default",
    // The text may choose what to draw, not how the page is treated.
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering",
      "htmlLabels", "themeCSS", "fontFamily", "altFontFamily", "theme", "themeVariables", "dompurifyConfig"],
  });
  const desk = makeDesk();
  const id = `md-diagram-${++count}`;
  const takeBack = lendStyles(desk, id);
  try {
    const { svg } = await mermaid.render(id, source, desk);
    return toDocument(svg);
  } catch {
    return null;
  } finally {
    takeBack();
    desk.remove();
  }
}

/** A place off the screen where text is measured in the font the image will use. */
function makeDesk(): HTMLElement {
  const desk = document.createElement("div");
  desk.className = "md-measure";
  desk.setAttribute("aria-hidden", "true");
  // Through the object model, for the class has no rules where the text lives in a shadow root.
  Object.assign(desk.style, {
    position: "fixed", left: "-10000px", top: "0", width: "1200px", visibility: "hidden",
    font: `${FONT_SIZE_PX}px ${FONT}`,
  });
  document.body.append(desk);
  return desk;
}

/**
 * The policy of the page keeps the diagram's own style element from working, and labels would be measured wrongly.
 * While it is measured its rules apply all the same, as far as they touch nothing but the diagram.
 */
function lendStyles(desk: Element, id: string): () => void {
  const sheet = new CSSStyleSheet();
  const observer = new MutationObserver(() => {
    const rules = desk.querySelector("style")?.textContent ?? "";
    if (rules === "") return;
    observer.disconnect();
    sheet.replaceSync(rules);
    if ([...sheet.cssRules].every((rule) => concernsOnly(rule, id))) document.adoptedStyleSheets.push(sheet);
  });
  observer.observe(desk, { childList: true, subtree: true });
  return () => {
    observer.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
  };
}

function concernsOnly(rule: CSSRule, id: string): boolean {
  if (rule.cssText.includes("url(")) return false;
  if (rule instanceof CSSKeyframesRule) return true;
  return rule instanceof CSSStyleRule && rule.selectorText.split(",").every((part) => part.trim().startsWith(`#${id}`));
}

/** Well-formed XML with a size of its own, as an image needs. */
function toDocument(markup: string): Drawn | null {
  const svg = new DOMParser().parseFromString(markup, "text/html").querySelector("svg");
  const box = svg?.getAttribute("viewBox")?.split(/[\s,]+/).map(Number);
  const [, , width, height] = box ?? [];
  if (svg === null || !width || !height || !Number.isFinite(width * height)) return null;
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  return { svg: new XMLSerializer().serializeToString(svg), width: Math.ceil(width), height: Math.ceil(height) };
}
