// Typesets formulas as MathML. Loaded on demand, with KaTeX.
// Invariant: what comes back holds only MathML from the list below; a wrong formula gives null.

import katex from "katex";
import { MATH_EXPANSIONS_MAX, MATH_KEPT_MAX, MATH_SIZE_MAX } from "./limits.ts";

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

/** A colour no one writes, by which a half-understood formula gives itself away. */
const ERROR_COLOUR = "#bad0bb";

const kept = new Map<string, Element | null>();

export function typeset(source: string, isDisplay: boolean): Element | null {
  const key = `${isDisplay ? "display" : "inline"} ${source}`;
  const known = kept.get(key);
  if (known !== undefined) return copyOf(known);
  const made = make(source, isDisplay);
  if (kept.size >= MATH_KEPT_MAX) kept.clear();
  kept.set(key, made);
  return copyOf(made);
}

function copyOf(element: Element | null): Element | null {
  return (element?.cloneNode(true) as Element | undefined) ?? null;
}

function make(source: string, isDisplay: boolean): Element | null {
  const html = toMathml(source, isDisplay);
  if (html === null || html.includes(ERROR_COLOUR)) return null;
  const parsed = new DOMParser().parseFromString(html, "text/html").querySelector("math");
  return parsed === null ? null : filtered(parsed);
}

function toMathml(source: string, isDisplay: boolean): string | null {
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
    // Nesting deeper than the stack.
    return null;
  }
}

function filtered(node: Element): Element | null {
  if (!ELEMENTS.has(node.localName) || node.namespaceURI !== MATHML) return null;
  const copy = document.createElementNS(MATHML, node.localName);
  for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.textContent ?? "");
    else if (child instanceof Element) copy.append(...[filtered(child)].filter((made) => made !== null));
  }
  if (node.localName === "mtable") alignColumns(copy);
  return copy;
}

/** Browsers ignore `columnalign`; classes say the same. */
function alignColumns(table: Element): void {
  const sides = (table.getAttribute("columnalign") ?? "").split(" ");
  for (const row of table.children) {
    [...row.children].forEach((cell, column) => {
      const side = sides[column % sides.length];
      if (side === "left" || side === "right") cell.setAttribute("class", `md-${side}`);
    });
  }
}
