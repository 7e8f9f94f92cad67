// A page as one web page that asks for nothing else: pictures are in it, and no script is.

import type { Citation, Item, Page } from "@millpond/client";
import { endedWords } from "../chat/status.ts";
import { renderToHtml } from "../markdown/export.ts";
import { request } from "../page/request.ts";
import { writtenOut } from "../page/hidden-characters.ts";
import { hostOf } from "../page/hosts.ts";
import { ranFor, type Words } from "../words/words.ts";
import type { Pictures } from "./export-pictures.ts";
import { answerWords } from "../words/answers.ts";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const STYLE =
  "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif;color:#1c2b2d;background:#fff}" +
  "h2{font-size:.85rem;margin:1.5rem 0 .25rem;color:#4c6366}.said{white-space:pre-wrap;padding:.5rem .75rem;background:#e6f0ee;border-radius:.5rem}" +
  "pre{overflow:auto;padding:.75rem;background:#f1f5f4;border-radius:.5rem;white-space:pre-wrap}img{max-width:100%}" +
  "details,.ask{margin:.5rem 0;padding:.25rem .75rem;border:1px solid #b9cdc9;border-radius:.5rem}.aside{color:#4c6366}.problem{color:#a4262c}" +
  "blockquote{margin:0;padding-left:1rem;border-left:3px solid #b9cdc9}table{border-collapse:collapse}td,th{border:1px solid #b9cdc9;padding:.25rem .5rem}" +
  "@media(prefers-color-scheme:dark){body{color:#e3eceb;background:#101819}pre,.said{background:#1a2526}h2,.aside{color:#9fb5b3}.problem{color:#ff9a94}a{color:#7cc4ff}}";

export interface Telling {
  words: Words;
  /** Of the item in hand: those of all would be too much at once. */
  pictures: Pictures;
}

export interface Heading {
  title: string;
  language: string;
  words: Words;
  picturesOf(item: Item): Promise<Pictures>;
}

export async function* asHtml(items: Iterable<Item>, ended: Page["ended"], { title, language, words, picturesOf }: Heading): AsyncGenerator<string> {
  const name = escaped(title || words.untitled);
  yield (
    `<!doctype html><html lang="${escaped(language)}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<meta name="viewport" content="width=device-width"><title>${name}</title><style>${STYLE}</style></head><body>` +
    `<h1 dir="auto">${name}</h1>\n`
  );
  for (const item of items) yield `${part(item, { words, pictures: await picturesOf(item) })}\n`;
  yield `${aside(ended ? endedWords(ended, words) : "")}</body></html>\n`;
}

function part(item: Item, telling: Telling): string {
  const { words } = telling;
  const text = item.text ?? "";
  switch (item.kind) {
    case "user":
      return `<h2>${escaped(words.you)}</h2><div class="said" dir="auto">${escaped(text)}</div>${images(item, telling)}`;
    case "text":
      return `<h2>${escaped(words.agent)}</h2><div dir="auto">${renderToHtml(text)}</div>${images(item, telling)}${sources(item, words)}${item.state === "incomplete" ? aside(words.brokeOff) : ""}`;
    case "reasoning":
      return folded(words.thinking, `<div class="aside" dir="auto">${escaped(text)}</div>`);
    case "tool":
    case "entry":
    case "action":
      return tool(item, telling);
    case "steps":
      return folded(ranFor(item.label, words), (item.steps ?? []).map((step) => part(step, telling)).join("\n"));
    case "ask":
      return ask(item, words);
    case "request":
      return aside(request(item, words));
    case "checkpoint":
      return aside(`${words.checkpoint} ${(item.text ?? item.id).slice(0, 12)}`);
    case "withdrawal":
      return aside(words.withdrawnNote);
    case "notice":
      return item.sort === "attachment" ? images(item, telling) + sources(item, words) : aside(item.sort === "usage" ? request(item, words) : text);
    case "error":
      return `<p class="problem">${escaped(text)}</p>`;
  }
}

function tool(item: Item, telling: Telling): string {
  const { words } = telling;
  const output = item.kind === "tool" && item.text ? item.text : item.result;
  const inside = [labelled(words.arguments, item.arguments), labelled(words.output, output)].join("");
  const heading = `${item.name ?? words.tool} (${words.state[item.state]})`;
  return (inside ? folded(heading, inside) : aside(heading)) + images(item, telling);
}

function ask(item: Item, words: Words): string {
  const answer = item.result ?? item.label;
  const answered = answer ? `<p>${escaped(`${words.answer}: ${answerWords(answer, words)}`)}</p>` : "";
  return `<div class="ask"><p class="aside">${escaped(words.waitingForYou)}</p><pre dir="ltr">${escaped(writtenOut(item.text ?? ""))}</pre>${answered}</div>`;
}

function images({ images = [] }: Item, { pictures, words }: Telling): string {
  return images.map(({ ref }) => image(ref, pictures.get(ref), words)).join("");
}

function image(ref: string, src: string | undefined, words: Words): string {
  if (src) return `<p><img src="${escaped(src)}" alt="${escaped(words.picture)}"></p>`;
  const host = hostOf(ref);
  return host ? `<p>${link(ref, `${words.picture}: ${host}`)}</p>` : aside(words.picture);
}

function sources({ citations = [] }: Item, words: Words): string {
  return citations.length ? folded(words.sources, `<ol>${citations.map(source).join("")}</ol>`) : "";
}

function source({ url, title, quote }: Citation): string {
  const name = title ?? url ?? "";
  return `<li>${hostOf(url) ? link(url ?? "", name) : escaped(name)}${quote ? ` <q>${escaped(quote)}</q>` : ""}</li>`;
}

function link(address: string, name: string): string {
  return `<a href="${escaped(address)}" rel="noopener noreferrer nofollow">${escaped(name)}</a>`;
}

function folded(heading: string, inside: string): string {
  return `<details><summary dir="auto">${escaped(heading)}</summary>${inside}</details>`;
}

function labelled(label: string, text: string | undefined): string {
  return text ? `<p class="aside">${escaped(label)}</p><pre dir="ltr">${escaped(text)}</pre>` : "";
}

function aside(text: string): string {
  return text && `<p class="aside" dir="auto">${escaped(text)}</p>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
