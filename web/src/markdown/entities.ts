// Stands in for the package `entities`, of which the parser uses this one function: browsers know all
// names already, and a table of them is a sixth of the first load.

const reader = document.createElement("span");

/** One reference, `&name;`, as the browser reads it; unchanged if it knows none by that name. */
export function decodeHTMLStrict(reference: string): string {
  // The parser hands over letters and digits between `&` and `;`, and nothing else.
  reader.innerHTML = reference;
  const text = reader.textContent ?? "";
  // Some names are known without their semicolon, which is then left over.
  return 1 < text.length && text.endsWith(";") ? reference : text;
}
