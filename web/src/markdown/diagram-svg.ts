// Renders a Mermaid diagram as an SVG document. Loaded on demand, with Mermaid.
// Invariant: one diagram at a time, because Mermaid's settings are global; the document is left unchanged.

import mermaid from "mermaid";
import { DIAGRAM_CHARACTERS_MAX } from "./limits.ts";

/** An SVG document and its size in pixels. */
export interface DiagramSvg {
  svg: string;
  width: number;
  height: number;
}

const FONT = "ui-sans-serif, system-ui, sans-serif";
const FONT_SIZE_PX = 16;

let queue: Promise<unknown> = Promise.resolve();
let count = 0;

/** Renders a diagram; null if the source is invalid. */
export function renderDiagram(source: string, scheme: "light" | "dark"): Promise<DiagramSvg | null> {
  const result = queue.then(() => renderWithMermaid(source, scheme));
  queue = result.catch(() => undefined);
  return result;
}

async function renderWithMermaid(source: string, scheme: "light" | "dark"): Promise<DiagramSvg | null> {
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
    // Settings that the source must not override.
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering",
      "htmlLabels", "themeCSS", "fontFamily", "altFontFamily", "theme", "themeVariables", "dompurifyConfig"],
  });
  const measureBox = createMeasureBox();
  const id = `md-diagram-${++count}`;
  const removeStyles = applyDiagramStyles(measureBox, id);
  try {
    const { svg } = await mermaid.render(id, source, measureBox);
    return toSvgDocument(svg);
  } catch {
    return null;
  } finally {
    removeStyles();
    measureBox.remove();
  }
}

/** Off-screen element in which Mermaid measures labels, with the font of the image. */
function createMeasureBox(): HTMLElement {
  const box = document.createElement("div");
  box.className = "md-measure";
  box.setAttribute("aria-hidden", "true");
  // Set inline: in a shadow root the class has no rules in the document.
  Object.assign(box.style, {
    position: "fixed", left: "-10000px", top: "0", width: "1200px", visibility: "hidden",
    font: `${FONT_SIZE_PX}px ${FONT}`,
  });
  document.body.append(box);
  return box;
}

/**
 * Applies the diagram's styles while it is measured: the content security policy blocks its style element, and
 * labels would be measured wrongly. Only rules that affect nothing but the diagram are applied. Returns a cleanup.
 */
function applyDiagramStyles(measureBox: Element, id: string): () => void {
  const sheet = new CSSStyleSheet();
  const observer = new MutationObserver(() => {
    const rules = measureBox.querySelector("style")?.textContent ?? "";
    if (rules === "") return;
    observer.disconnect();
    sheet.replaceSync(rules);
    if ([...sheet.cssRules].every((rule) => affectsOnly(rule, id))) document.adoptedStyleSheets.push(sheet);
  });
  observer.observe(measureBox, { childList: true, subtree: true });
  return () => {
    observer.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
  };
}

function affectsOnly(rule: CSSRule, id: string): boolean {
  if (rule.cssText.includes("url(")) return false;
  if (rule instanceof CSSKeyframesRule) return true;
  return rule instanceof CSSStyleRule && rule.selectorText.split(",").every((part) => part.trim().startsWith(`#${id}`));
}

/** Well-formed XML with explicit size, as an image needs; null without a valid view box. */
function toSvgDocument(markup: string): DiagramSvg | null {
  const svg = new DOMParser().parseFromString(markup, "text/html").querySelector("svg");
  const box = svg?.getAttribute("viewBox")?.split(/[\s,]+/).map(Number);
  const [, , width, height] = box ?? [];
  if (svg === null || !width || !height || !Number.isFinite(width * height)) return null;
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  return { svg: new XMLSerializer().serializeToString(svg), width: Math.ceil(width), height: Math.ceil(height) };
}
