// Test page: exposes the Markdown renderer on `window.harness`.

import "../src/markdown/markdown.css";
import { generateAnswer, splitIntoPieces } from "./answer.ts";
import styles from "../src/markdown/markdown.css?inline";
import { BLOCKS_PER_PART } from "../src/markdown/limits.ts";
import { normaliseText } from "../src/markdown/newlines.ts";
import { parseBlocks, parseInline, renderTokens } from "../src/markdown/parser.ts";
import { MarkdownStream, renderToHtml, type MarkdownOptions } from "../src/markdown/stream.ts";

const options: MarkdownOptions = {
  strings: {
    copy: "Copy",
    copied: "Copied",
    showImage: (host) => `Show image from ${host}`,
    diagram: "Diagram",
  },
  createRemoteImage(url, alt) {
    const shown = document.createElement("output");
    shown.dataset["url"] = url;
    shown.textContent = alt;
    return shown;
  },
};

interface OpenStream {
  host: HTMLElement;
  stream: MarkdownStream;
}

function open(parent: Node = document.body): OpenStream {
  const host = document.createElement("main");
  parent.appendChild(host);
  return { host, stream: new MarkdownStream(host, options) };
}

/** A stream that draws every delta at once: its clock advances an hour between deltas. */
function openUnthrottled(parent: Node = document.body): OpenStream {
  const host = document.createElement("main");
  parent.appendChild(host);
  let time = 0;
  const stream = new MarkdownStream(host, options, () => time);
  const append = stream.append.bind(stream);
  stream.append = (delta) => {
    time += 3_600_000;
    append(delta);
  };
  return { host, stream };
}

/** HTML of a text streamed in pieces. */
function htmlOfPieces(pieces: Iterable<string>): string {
  const { host, stream } = openUnthrottled();
  for (const piece of pieces) stream.append(piece);
  stream.finish();
  const html = host.innerHTML;
  stream.dispose();
  host.remove();
  return html;
}

/** HTML of a text parsed at once, without a stream. */
function htmlWithoutStreaming(text: string): string {
  const env = { references: Object.create(null), growing: false, strings: options.strings };
  const tokens = parseBlocks(normaliseText(text), env);
  parseInline(tokens, env);
  const template = document.createElement("template");
  template.innerHTML = renderTokens(tokens, env);
  return wrapInParts([...template.content.children]);
}

function wrapInParts(blocks: Element[]): string {
  const parts = Array.from({ length: Math.ceil(blocks.length / BLOCKS_PER_PART) }, (_, index) =>
    blocks.slice(index * BLOCKS_PER_PART, (index + 1) * BLOCKS_PER_PART),
  );
  return parts.map((part) => `<div class="md-part">${part.map(({ outerHTML }) => outerHTML).join("")}</div>`).join("");
}

/** HTML of a text given to a stream as a whole. */
function htmlOfWhole(text: string): string {
  const { host, stream } = open();
  stream.replace(text);
  stream.finish();
  const html = host.innerHTML;
  stream.dispose();
  host.remove();
  return html;
}

export const harness = { MarkdownStream, renderToHtml, options, open, openUnthrottled, htmlOfPieces, htmlWithoutStreaming, htmlOfWhole, styles, generateAnswer, splitIntoPieces };

declare global {
  interface Window {
    harness: typeof harness;
  }
}

window.harness = harness;
