// Exports a page as Markdown, JSON or HTML: exactly what the view shows, with secrets redacted.
//
// Invariant: the file is a snapshot of the page, written item by item, so that a long session is not
// held in memory twice.

import type { Item, Page } from "@millpond/client";
import { answerText, askHeading } from "../i18n/ask-text.ts";
import type { Strings } from "../i18n/strings.ts";
import { escapeHiddenCharacters } from "../page/hidden-characters.ts";
import { toolHeading, toolOutput } from "../page/tool-text.ts";
import { htmlPieces } from "./export-html.ts";
import type { ImageDataUrls } from "./export-images.ts";
import { redactPieces, redactSecrets } from "./redact.ts";

export type Format = "markdown" | "json" | "html";

/** A file whose content is generated in pieces. */
export interface ExportFile {
  name: string;
  mediaType: string;
  pieces: Iterable<string> | AsyncIterable<string>;
}

/** Title, language and images of an export. */
export interface ExportOptions {
  title: string;
  /** Language tag of the texts. */
  language: string;
  strings: Strings;
  /** For HTML, which embeds its images. */
  loadImages(item: Item): Promise<ImageDataUrls>;
}

/** The content is handed over in blobs of this size, which the browser may keep on disk. */
const BLOB_CHARS = 1024 * 1024;
/** The download has started by then. */
const URL_LIFETIME_MS = 60_000;

export function exportPage(page: Page, format: Format, { title: rawTitle, strings, ...options }: ExportOptions): ExportFile {
  const title = redactSecrets(rawTitle);
  const name = fileName(title || strings.untitled);
  const items = redactEach(visibleItems(page));
  switch (format) {
    case "markdown":
      return { name: `${name}.md`, mediaType: "text/markdown", pieces: redactPieces(markdownPieces(items, title, strings)) };
    case "json":
      return { name: `${name}.json`, mediaType: "application/json", pieces: jsonPieces(items, title) };
    case "html":
      return { name: `${name}.html`, mediaType: "text/html", pieces: htmlPieces(items, page.ended && redactStrings(page.ended), { title, strings, ...options }) };
  }
}

/** Copies of the items: the page may change while the file is written. */
function visibleItems(page: Page): Item[] {
  const items = page.keys.flatMap((key) => page.items.get(key) ?? []);
  return items.filter(({ state }) => state !== "withdrawn").map((item) => structuredClone(item));
}

function* redactEach(items: readonly Item[]): Generator<Item> {
  for (const item of items) yield redactStrings(item);
}

/** Copy of a value with all strings redacted. */
function redactStrings<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (_, field: unknown) => (typeof field === "string" ? redactSecrets(field) : field))) as T;
}

/** Generates the file and starts its download. */
export async function downloadExport({ name, mediaType, pieces }: ExportFile): Promise<void> {
  const blobs: Blob[] = [];
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < BLOB_CHARS) continue;
    blobs.push(new Blob([text]));
    text = "";
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...blobs, text], { type: `${mediaType};charset=utf-8` }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), URL_LIFETIME_MS);
}

/** File name of a title: letters, digits and dashes; never empty. */
function fileName(title: string): string {
  const plain = title.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-+|-+$/g, "");
  return plain || "millpond";
}

function* markdownPieces(items: Iterable<Item>, title: string, strings: Strings): Generator<string> {
  yield `# ${title || strings.untitled}\n`;
  for (const item of items) {
    const text = itemMarkdown(item, strings);
    if (text) yield `\n${text}\n`;
  }
}

function* jsonPieces(items: Iterable<Item>, title: string): Generator<string> {
  let separator = `{\n  "title": ${JSON.stringify(title)},\n  "items": [`;
  for (const item of items) {
    yield `${separator}\n    ${JSON.stringify(item, null, 2).replaceAll("\n", "\n    ")}`;
    separator = ",";
  }
  yield separator === "," ? "\n  ]\n}" : `${separator}]\n}`;
}

function itemMarkdown(item: Item, strings: Strings): string {
  const text = item.text ?? "";
  switch (item.kind) {
    case "user":
      return `**${strings.you}**\n\n${blockquote(text)}`;
    case "text":
      return item.state === "incomplete" ? `${text}\n\n*${strings.interruptedNote}*` : text;
    case "tool":
    case "entry":
    case "action":
      return [`*${toolHeading(item, strings)} (${strings.itemStates[item.state]})*`, fencedBlock(item.arguments), fencedBlock(toolOutput(item)), nestedSteps(item, strings)].filter(Boolean).join("\n\n");
    case "steps":
      return nestedSteps(item, strings);
    case "reasoning":
      return `*${strings.thinking}*\n\n${blockquote(text)}`;
    case "ask":
      return [`*${askHeading(item.sort, strings)}*`, fencedBlock(escapeHiddenCharacters(text)), fencedBlock(item.arguments && escapeHiddenCharacters(item.arguments)), answerLine(item, strings)].filter(Boolean).join("\n\n");
    case "request":
      return "";
    default:
      return text && blockquote(text);
  }
}

function nestedSteps({ steps = [] }: Item, strings: Strings): string {
  const shown = steps.filter(({ state }) => state !== "withdrawn");
  return shown.map((step) => itemMarkdown(step, strings)).filter(Boolean).join("\n\n");
}

function answerLine(item: Item, strings: Strings): string {
  const answer = item.result ?? item.label;
  return answer ? `${strings.answer}: ${answerText(answer, strings)}` : "";
}

function blockquote(text: string): string {
  return `> ${text.replaceAll("\n", "\n> ")}`;
}

function fencedBlock(text: string | undefined): string {
  if (!text) return "";
  const longestRun = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longestRun + 1);
  return `${fence}\n${text}\n${fence}`;
}
