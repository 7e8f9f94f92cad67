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

/**
 * Returns a function that resolves when the browser has done by itself all that it does with content inserted before:
 * loaded it or failed to, opened it, painted it. The function inserts elements that go through the same queues, last in
 * each, and waits for their events. They are created now: hostile content may change the document's properties.
 */
function prepareToSettle(): () => Promise<void> {
  const { body } = document;
  const box = document.createElement("section");
  const last = LAST_ELEMENTS.map(({ name, event, attribute, value }) => {
    const element = document.createElement(name);
    if (element instanceof HTMLLinkElement) element.rel = "stylesheet";
    box.append(element);
    const ended = new Promise((seen) => element.addEventListener(event, seen, { once: true }));
    return { ended, begin: () => element.setAttribute(attribute, value) };
  });
  return async () => {
    body.append(box);
    for (const { begin } of last) begin();
    await Promise.all(last.map(({ ended }) => ended));
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    box.remove();
  };
}

/** Elements with which the browser does something by itself, the attribute that begins it and the event that ends it. */
const LAST_ELEMENTS = [
  { name: "img", attribute: "src", value: "/missing.png", event: "error" },
  { name: "audio", attribute: "src", value: "/missing.mp3", event: "error" },
  { name: "link", attribute: "href", value: "/missing.css", event: "error" },
  { name: "iframe", attribute: "srcdoc", value: "<p>here</p>", event: "load" },
  { name: "details", attribute: "open", value: "", event: "toggle" },
];

/** Resolves when all diagrams of earlier texts are drawn or refused: they are drawn one after the other. */
async function diagramsDrawn(): Promise<void> {
  const { host, stream } = openUnthrottled();
  const drawn = new Promise<void>((seen) => {
    const look = () => void (host.querySelector(".md-diagram") && seen());
    new MutationObserver(look).observe(host, { childList: true, subtree: true, attributeFilter: ["class"] });
  });
  stream.append('```mermaid\npie\n  "a" : 1\n```\n');
  stream.finish();
  await drawn;
  stream.dispose();
  host.remove();
}

export const harness = { prepareToSettle, diagramsDrawn, MarkdownStream, renderToHtml, options, open, openUnthrottled, htmlOfPieces, htmlWithoutStreaming, htmlOfWhole, styles, generateAnswer, splitIntoPieces };

declare global {
  interface Window {
    harness: typeof harness;
  }
}

window.harness = harness;
