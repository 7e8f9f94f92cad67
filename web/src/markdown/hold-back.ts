// Decides how much of a growing text to show. A last line that is only the start of a marker is held back, so that it
// does not flash as text and does not change the structure above it.
// Invariant: the shown text is a prefix; held-back text is shown at the latest when its line or the text ends.

import { HELD_CHARACTERS_MAX } from "./limits.ts";

const CONTAINERS = String.raw`(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))*`;
const MARKERS = [
  String.raw`#{1,6}`,
  String.raw`[-+*_=](?:[ \t]*[-+*_=])*`,
  String.raw`\d{1,9}[.)]?`,
  "[`~]{1,2}",
  "`{3,}[^`]*",
  "~{3,}.*",
  String.raw`\${1,2}`,
  String.raw`\\\[?`,
  String.raw`:?-[-:| \t]*`,
];
const MARKER_ONLY = new RegExp(`^${CONTAINERS}[ \\t]*(?:${MARKERS.join("|")})?$`);
const DEFINITION_BEGUN = new RegExp(`^${CONTAINERS}[ \\t]*\\[(?:[^\\]\\\\]|\\\\.)*(?:\\](?::.*)?)?$`);
const ROW = /^[ \t]*\|/;
const DELIMITER_BEGUN = /^[ \t]*\|?[-:| \t]*$/;

/** Length of the prefix to show. */
export function showableLength(text: string): number {
  const start = text.lastIndexOf("\n") + 1;
  const line = text.slice(start);
  if (line !== "" && MARKER_ONLY.test(line.trimEnd())) return start;
  if (line.length <= HELD_CHARACTERS_MAX && DEFINITION_BEGUN.test(line)) return start;
  return Math.min(heldTableHeadStart(text, start, line), text.length - danglingSurrogateLength(line));
}

/** Start of a table heading without its delimiter row yet; the length of the text if there is none. */
function heldTableHeadStart(text: string, start: number, line: string): number {
  const head = previousLine(text, start);
  const isRow = ROW.test(line);
  if (!isRow && line !== "" && !DELIMITER_BEGUN.test(line)) return text.length;
  if (line.length > HELD_CHARACTERS_MAX || head.text.length > HELD_CHARACTERS_MAX) return text.length;
  if (!ROW.test(head.text)) return isRow ? start : text.length;
  const isFirstRow = !ROW.test(previousLine(text, head.start).text);
  return isFirstRow && DELIMITER_BEGUN.test(line) ? head.start : text.length;
}

function previousLine(text: string, start: number): { text: string; start: number } {
  if (start === 0) return { text: "", start: 0 };
  const from = text.lastIndexOf("\n", start - 2) + 1;
  return { text: text.slice(start === 1 ? 0 : from, start - 1), start: start === 1 ? 0 : from };
}

function danglingSurrogateLength(line: string): number {
  return /[\uD800-\uDBFF]$/.test(line) ? 1 : 0;
}
