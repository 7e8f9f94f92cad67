// A page as a file: what the view shows, and nothing that it hides.
//
// Invariant: the file is the page at one moment, though it is made item by item, so that a long
// session is not held once more as a whole.

import type { Item, Page } from "@millpond/client";
import { writtenOut } from "../page/hidden-characters.ts";
import type { Words } from "../words/words.ts";
import { asHtml } from "./export-html.ts";
import type { Pictures } from "./export-pictures.ts";
import { redacted, redactedAll } from "./redact.ts";
import { answerWords } from "../words/answers.ts";

export type Format = "markdown" | "json" | "html";

export interface Exported {
  name: string;
  kind: string;
  pieces: Iterable<string> | AsyncIterable<string>;
}

export interface Told {
  title: string;
  /** Of the words, as a page says it. */
  language: string;
  words: Words;
  /** For web pages, which have them in themselves. */
  picturesOf(item: Item): Promise<Pictures>;
}

/** So much is handed to the browser at a time, which need not keep it in memory. */
const HANDED_CHARS = 1024 * 1024;

export function exported(page: Page, format: Format, { title: named, words, ...told }: Told): Exported {
  const title = redacted(named);
  const name = fileName(title || words.untitled);
  const items = blackedOutOneByOne(shownOn(page));
  switch (format) {
    case "markdown":
      return { name: `${name}.md`, kind: "text/markdown", pieces: redactedAll(asMarkdown(items, title, words)) };
    case "json":
      return { name: `${name}.json`, kind: "application/json", pieces: asJson(items, title) };
    case "html":
      return { name: `${name}.html`, kind: "text/html", pieces: asHtml(items, page.ended && blackedOut(page.ended), { title, words, ...told }) };
  }
}

/** As they are now: the page may change before the last of them is written. */
function shownOn(page: Page): Item[] {
  const items = page.keys.flatMap((key) => page.items.get(key) ?? []);
  return items.filter(({ state }) => state !== "withdrawn").map((item) => structuredClone(item));
}

function* blackedOutOneByOne(items: readonly Item[]): Generator<Item> {
  for (const item of items) yield blackedOut(item);
}

/** The same without what looks like a secret, however deep. */
function blackedOut<T>(told: T): T {
  return JSON.parse(JSON.stringify(told, (_, value: unknown) => (typeof value === "string" ? redacted(value) : value))) as T;
}

export async function download({ name, kind, pieces }: Exported): Promise<void> {
  const handed: Blob[] = [];
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < HANDED_CHARS) continue;
    handed.push(new Blob([text]));
    text = "";
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...handed, text], { type: `${kind};charset=utf-8` }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Letters, digits and dashes; never empty. */
function fileName(title: string): string {
  const plain = title.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-+|-+$/g, "");
  return plain || "millpond";
}

function* asMarkdown(items: Iterable<Item>, title: string, words: Words): Generator<string> {
  yield `# ${title || words.untitled}\n`;
  for (const item of items) {
    const text = part(item, words);
    if (text) yield `\n${text}\n`;
  }
}

function* asJson(items: Iterable<Item>, title: string): Generator<string> {
  let before = `{\n  "title": ${JSON.stringify(title)},\n  "items": [`;
  for (const item of items) {
    yield `${before}\n    ${JSON.stringify(item, null, 2).replaceAll("\n", "\n    ")}`;
    before = ",";
  }
  yield before === "," ? "\n  ]\n}" : `${before}]\n}`;
}

function part(item: Item, words: Words): string {
  const text = item.text ?? "";
  switch (item.kind) {
    case "user":
      return `**${words.you}**\n\n${quoted(text)}`;
    case "text":
      return item.state === "incomplete" ? `${text}\n\n*${words.brokeOff}*` : text;
    case "tool":
    case "entry":
    case "action":
      return [`*${item.name ?? words.tool} (${words.state[item.state]})*`, fenced(item.arguments), fenced(item.result ?? text)].filter(Boolean).join("\n\n");
    case "steps":
      return (item.steps ?? []).map((step) => part(step, words)).filter(Boolean).join("\n\n");
    case "reasoning":
      return `*${words.thinking}*\n\n${quoted(text)}`;
    case "ask":
      return [`*${words.waitingForYou}*`, fenced(writtenOut(text)), answered(item, words)].filter(Boolean).join("\n\n");
    case "request":
      return "";
    default:
      return text && quoted(text);
  }
}

function answered(item: Item, words: Words): string {
  const answer = item.result ?? item.label;
  return answer ? `${words.answer}: ${answerWords(answer, words)}` : "";
}

function quoted(text: string): string {
  return `> ${text.replaceAll("\n", "\n> ")}`;
}

function fenced(text: string | undefined): string {
  if (!text) return "";
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
