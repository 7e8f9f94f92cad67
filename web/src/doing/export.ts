// A page as a file: what the view shows, and nothing that it hides.

import type { Item, Page } from "@millpond/client";
import { writtenOut } from "../page/hidden-characters.ts";
import type { Words } from "../words/words.ts";
import { asHtml } from "./export-html.ts";
import type { Pictures } from "./export-pictures.ts";
import { redacted } from "./redact.ts";

export type Format = "markdown" | "json" | "html";

export interface Exported {
  name: string;
  kind: string;
  text: string;
}

export interface Told {
  title: string;
  /** Of the words, as a page says it. */
  language: string;
  words: Words;
  /** For web pages, which have them in themselves. */
  pictures: Pictures;
}

export function exported(page: Page, format: Format, { title: named, language, words, pictures }: Told): Exported {
  const title = redacted(named);
  const name = fileName(title || words.untitled);
  const shown = page.keys.flatMap((key) => page.items.get(key) ?? []).filter(({ state }) => state !== "withdrawn");
  const items = blackedOut(shown);
  switch (format) {
    case "markdown":
      return { name: `${name}.md`, kind: "text/markdown", text: redacted(asMarkdown(items, title, words)) };
    case "json":
      return { name: `${name}.json`, kind: "application/json", text: JSON.stringify({ title, items }, null, 2) };
    case "html":
      return { name: `${name}.html`, kind: "text/html", text: asHtml(items, page.ended && blackedOut(page.ended), { title, language, words, pictures }) };
  }
}

/** The same without what looks like a secret, however deep. */
function blackedOut<T>(told: T): T {
  return JSON.parse(JSON.stringify(told, (_, value: unknown) => (typeof value === "string" ? redacted(value) : value))) as T;
}

export function download({ name, kind, text }: Exported): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Letters, digits and dashes; never empty. */
function fileName(title: string): string {
  const plain = title.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-+|-+$/g, "");
  return plain || "millpond";
}

function asMarkdown(items: Item[], title: string, words: Words): string {
  const parts = items.map((item) => part(item, words)).filter(Boolean);
  return [`# ${title || words.untitled}`, ...parts].join("\n\n") + "\n";
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
  return answer ? `${words.answer}: ${words.askOption[answer] ?? answer}` : "";
}

function quoted(text: string): string {
  return text.replace(/^/gm, "> ");
}

function fenced(text: string | undefined): string {
  if (!text) return "";
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
