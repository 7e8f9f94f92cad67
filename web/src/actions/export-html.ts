// HTML export: one self-contained file with embedded images and without scripts.

import type { Citation, Item, Page } from "@millpond/client";
import { endingText } from "../chat/status.ts";
import { answerText, askHeading } from "../i18n/ask-text.ts";
import { ranForText, type Strings } from "../i18n/strings.ts";
import { renderToHtml } from "../markdown/export.ts";
import { escapeHiddenCharacters } from "../page/hidden-characters.ts";
import { requestSummary } from "../page/request-summary.ts";
import { toolHeading, toolOutput } from "../page/tool-text.ts";
import { webHost } from "../page/web-host.ts";
import type { ImageDataUrls } from "./export-images.ts";

const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const STYLE =
  "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif;color:#1c2b2d;background:#fff}" +
  "h2{font-size:.85rem;margin:1.5rem 0 .25rem;color:#4c6366}.message-text{white-space:pre-wrap;padding:.5rem .75rem;background:#e6f0ee;border-radius:.5rem}" +
  "pre{overflow:auto;padding:.75rem;background:#f1f5f4;border-radius:.5rem;white-space:pre-wrap}img{max-width:100%}" +
  "details,.ask{margin:.5rem 0;padding:.25rem .75rem;border:1px solid #b9cdc9;border-radius:.5rem}.aside{color:#4c6366}.error{color:#a4262c}" +
  "blockquote{margin:0;padding-left:1rem;border-left:3px solid #b9cdc9}table{border-collapse:collapse}td,th{border:1px solid #b9cdc9;padding:.25rem .5rem}" +
  "@media(prefers-color-scheme:dark){body{color:#e3eceb;background:#101819}pre,.message-text{background:#1a2526}h2,.aside{color:#9fb5b3}.error{color:#ff9a94}a{color:#7cc4ff}}";

interface RenderOptions {
  strings: Strings;
  /** Images of the current item; those of all items would need too much memory. */
  imageUrls: ImageDataUrls;
}

/** Title, language and images of an HTML export. */
export interface HtmlExportOptions {
  title: string;
  language: string;
  strings: Strings;
  loadImages(item: Item): Promise<ImageDataUrls>;
}

/** The file in pieces, one per item. */
export async function* htmlPieces(items: Iterable<Item>, ended: Page["ended"], { title, language, strings, loadImages }: HtmlExportOptions): AsyncGenerator<string> {
  const name = escapeHtml(title || strings.untitled);
  yield (
    `<!doctype html><html lang="${escapeHtml(language)}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">` +
    `<meta name="viewport" content="width=device-width"><title>${name}</title><style>${STYLE}</style></head><body>` +
    `<h1 dir="auto">${name}</h1>\n`
  );
  for (const item of items) yield `${itemHtml(item, { strings, imageUrls: await loadImages(item) })}\n`;
  yield `${mutedParagraph(ended ? endingText(ended, strings) : "")}</body></html>\n`;
}

function itemHtml(item: Item, options: RenderOptions): string {
  const { strings } = options;
  const text = item.text ?? "";
  switch (item.kind) {
    case "user":
      return `<h2>${escapeHtml(strings.you)}</h2><div class="message-text" dir="auto">${escapeHtml(text)}</div>${imagesHtml(item, options)}`;
    case "text":
      return `<h2>${escapeHtml(strings.agent)}</h2><div dir="auto">${renderToHtml(text)}</div>${imagesHtml(item, options)}${sourcesHtml(item, strings)}${item.state === "incomplete" ? mutedParagraph(strings.interruptedNote) : ""}`;
    case "reasoning":
      return detailsHtml(strings.thinking, `<div class="aside" dir="auto">${escapeHtml(text)}</div>`);
    case "tool":
    case "entry":
    case "action":
      return toolHtml(item, options);
    case "steps":
      return detailsHtml(ranForText(item.label, strings), nestedSteps(item, options));
    case "ask":
      return askHtml(item, strings);
    case "request":
      return mutedParagraph(`${strings.request}: ${requestSummary(item, strings)}`);
    case "checkpoint":
      return mutedParagraph(`${strings.checkpointSaved} ${(item.text ?? item.id).slice(0, 12)}`);
    case "withdrawal":
      return mutedParagraph(strings.withdrawnNote);
    case "notice":
      return item.sort === "attachment" ? imagesHtml(item, options) + sourcesHtml(item, strings) : mutedParagraph(item.sort === "usage" ? requestSummary(item, strings) : text);
    case "error":
      return `<p class="error">${escapeHtml(text)}</p>`;
  }
}

function toolHtml(item: Item, options: RenderOptions): string {
  const { strings } = options;
  const content = [labelledPre(strings.arguments, item.arguments), labelledPre(strings.output, toolOutput(item)), nestedSteps(item, options)].join("");
  const heading = `${toolHeading(item, strings)} (${strings.itemStates[item.state]})`;
  return (content ? detailsHtml(heading, content) : mutedParagraph(heading)) + imagesHtml(item, options);
}

function nestedSteps({ steps = [] }: Item, options: RenderOptions): string {
  return steps.filter(({ state }) => state !== "withdrawn").map((step) => itemHtml(step, options)).join("\n");
}

function askHtml(item: Item, strings: Strings): string {
  const answer = item.result ?? item.label;
  const answered = answer ? `<p>${escapeHtml(`${strings.answer}: ${answerText(answer, strings)}`)}</p>` : "";
  const call = item.arguments ? `<pre dir="ltr">${escapeHtml(escapeHiddenCharacters(item.arguments))}</pre>` : "";
  return `<div class="ask"><p class="aside">${escapeHtml(askHeading(item.sort, strings))}</p><pre dir="ltr">${escapeHtml(escapeHiddenCharacters(item.text ?? ""))}</pre>${call}${answered}</div>`;
}

function imagesHtml({ images = [] }: Item, { imageUrls, strings }: RenderOptions): string {
  return images.map(({ ref }) => imageHtml(ref, imageUrls.get(ref), strings)).join("");
}

function imageHtml(ref: string, src: string | undefined, strings: Strings): string {
  if (src) return `<p><img src="${escapeHtml(src)}" alt="${escapeHtml(strings.image)}"></p>`;
  const host = webHost(ref);
  return host ? `<p>${linkHtml(ref, `${strings.image}: ${host}`)}</p>` : mutedParagraph(strings.image);
}

function sourcesHtml({ citations = [] }: Item, strings: Strings): string {
  return citations.length ? detailsHtml(strings.sources, `<ol>${citations.map(sourceHtml).join("")}</ol>`) : "";
}

function sourceHtml({ url, title, quote }: Citation): string {
  const name = title ?? url ?? "";
  return `<li>${webHost(url) ? linkHtml(url ?? "", name) : escapeHtml(name)}${quote ? ` <q>${escapeHtml(quote)}</q>` : ""}</li>`;
}

function linkHtml(url: string, name: string): string {
  return `<a href="${escapeHtml(url)}" rel="noopener noreferrer nofollow">${escapeHtml(name)}</a>`;
}

function detailsHtml(heading: string, content: string): string {
  return `<details><summary dir="auto">${escapeHtml(heading)}</summary>${content}</details>`;
}

function labelledPre(label: string, text: string | undefined): string {
  return text ? `<p class="aside">${escapeHtml(label)}</p><pre dir="ltr">${escapeHtml(text)}</pre>` : "";
}

function mutedParagraph(text: string): string {
  return text && `<p class="aside" dir="auto">${escapeHtml(text)}</p>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
