// Typesets formulas as MathML. Loaded on demand, with KaTeX.
// Invariant: the result contains only the MathML elements and attributes listed below; an invalid formula gives null.

import katex from "katex";
import { MATH_EXPANSIONS_MAX, MATH_CACHE_MAX, MATH_SIZE_MAX } from "./limits.ts";

const MATHML = "http://www.w3.org/1998/Math/MathML";

const ELEMENTS = new Set(
  (
    "math semantics mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose " +
    "msub msup msubsup munder mover munderover mtable mtr mlabeledtr mtd annotation"
  ).split(" "),
);

const ATTRIBUTES = new Set(
  (
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle encoding fence form height " +
    "largeop linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits " +
    "notation rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width"
  ).split(" "),
);

/** Marker colour with which KaTeX renders the parts it does not understand. */
const ERROR_COLOUR = "#bad0bb";

const typesetCache = new Map<string, Element | null>();

/** MathML of a formula, cached; null if it is invalid. */
export function typesetFormula(source: string, isDisplay: boolean): Element | null {
  const key = `${isDisplay ? "display" : "inline"} ${source}`;
  const cached = typesetCache.get(key);
  if (cached !== undefined) return cloneElement(cached);
  const math = buildMathml(source, isDisplay);
  if (typesetCache.size >= MATH_CACHE_MAX) typesetCache.clear();
  typesetCache.set(key, math);
  return cloneElement(math);
}

function cloneElement(element: Element | null): Element | null {
  return (element?.cloneNode(true) as Element | undefined) ?? null;
}

function buildMathml(source: string, isDisplay: boolean): Element | null {
  const html = katexMathml(source, isDisplay);
  if (html === null || html.includes(ERROR_COLOUR)) return null;
  const parsed = new DOMParser().parseFromString(html, "text/html").querySelector("math");
  return parsed === null ? null : filterMathml(parsed);
}

function katexMathml(source: string, isDisplay: boolean): string | null {
  try {
    return katex.renderToString(source, {
      displayMode: isDisplay,
      output: "mathml",
      trust: false,
      throwOnError: false,
      strict: "ignore",
      errorColor: ERROR_COLOUR,
      maxExpand: MATH_EXPANSIONS_MAX,
      maxSize: MATH_SIZE_MAX,
    });
  } catch {
    // Nested deeper than the stack.
    return null;
  }
}

/** Copy of a MathML tree with allowed elements and attributes only. */
function filterMathml(node: Element): Element | null {
  if (!ELEMENTS.has(node.localName) || node.namespaceURI !== MATHML) return null;
  const copy = document.createElementNS(MATHML, node.localName);
  for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.textContent ?? "");
    else if (child instanceof Element) copy.append(...[filterMathml(child)].filter((element) => element !== null));
  }
  if (node.localName === "mtable") alignColumns(copy);
  return copy;
}

/** Adds alignment classes: browsers ignore `columnalign`. */
function alignColumns(table: Element): void {
  const sides = (table.getAttribute("columnalign") ?? "").split(" ");
  for (const row of table.children) {
    [...row.children].forEach((cell, column) => {
      const side = sides[column % sides.length];
      if (side === "left" || side === "right") cell.setAttribute("class", `md-${side}`);
    });
  }
}
