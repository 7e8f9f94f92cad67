// A page as a file: what the view shows, and nothing that it hides.

import type { Item, Page } from "@millpond/client";
import { renderToHtml } from "../markdown/export.ts";
import type { Words } from "../words/words.ts";
import { redacted } from "./redact.ts";

export type Format = "markdown" | "json" | "html";

export interface Exported {
  name: string;
  kind: string;
  text: string;
}

export function exported(page: Page, named: string, format: Format, words: Words): Exported {
  const title = redacted(named);
  const name = fileName(title || words.untitled);
  const items = page.keys.flatMap((key) => page.items.get(key) ?? []).filter(({ state }) => state !== "withdrawn");
  switch (format) {
    case "markdown":
      return { name: `${name}.md`, kind: "text/markdown", text: redacted(asMarkdown(items, title, words)) };
    case "json":
      return { name: `${name}.json`, kind: "application/json", text: JSON.stringify({ title, items }, (_, value: unknown) => (typeof value === "string" ? redacted(value) : value), 2) };
    case "html":
      return { name: `${name}.html`, kind: "text/html", text: asHtml(items, title, words) };
  }
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
    case "request":
      return "";
    default:
      return text && quoted(text);
  }
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

const STYLE =
  "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif;color:#1c2b2d;background:#fff}" +
  "pre{overflow:auto;padding:.75rem;background:#f1f5f4;border-radius:.5rem}blockquote{margin:0;padding-left:1rem;border-left:3px solid #b9cdc9}" +
  "table{border-collapse:collapse}td,th{border:1px solid #b9cdc9;padding:.25rem .5rem}" +
  "@media(prefers-color-scheme:dark){body{color:#e3eceb;background:#101819}pre{background:#1a2526}}";

/** One file that asks for nothing else, with no script in it. */
function asHtml(items: Item[], title: string, words: Words): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  const name = escaped(title || words.untitled);
  return (
    `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<meta name="viewport" content="width=device-width"><title>${name}</title><style>${STYLE}</style></head><body>` +
    `${renderToHtml(redacted(asMarkdown(items, title, words)))}</body></html>\n`
  );
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
