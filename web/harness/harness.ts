// A page for the tests: the markdown folder on `window`, and nothing else.

import "../src/markdown/markdown.css";
import { answer, pieces } from "./answer.ts";
import styles from "../src/markdown/markdown.css?inline";
import { BLOCKS_PER_PART } from "../src/markdown/limits.ts";
import { clean } from "../src/markdown/intake.ts";
import { parseBlocks, parseWords, renderTokens } from "../src/markdown/parser.ts";
import { MarkdownStream, renderToHtml, type Surroundings } from "../src/markdown/stream.ts";

const surroundings: Surroundings = {
  words: {
    copy: "Copy",
    copied: "Copied",
    showImage: (host) => `Show image from ${host}`,
    diagram: "Diagram",
  },
  remoteImage(url, alt) {
    const shown = document.createElement("output");
    shown.dataset["url"] = url;
    shown.textContent = alt;
    return shown;
  },
};

interface Opened {
  host: HTMLElement;
  stream: MarkdownStream;
}

function open(parent: Node = document.body): Opened {
  const host = document.createElement("main");
  parent.appendChild(host);
  return { host, stream: new MarkdownStream(host, surroundings) };
}

/** A stream that draws every delta at once, however busy the machine is: an hour passes between two of them. */
function openTireless(parent: Node = document.body): Opened {
  const host = document.createElement("main");
  parent.appendChild(host);
  let time = 0;
  const stream = new MarkdownStream(host, surroundings, () => time);
  const append = stream.append.bind(stream);
  stream.append = (delta) => {
    time += 3_600_000;
    append(delta);
  };
  return { host, stream };
}

/** The DOM of a text given in pieces. */
function streamed(pieces: Iterable<string>): string {
  const { host, stream } = openTireless();
  for (const piece of pieces) stream.append(piece);
  stream.finish();
  const html = host.innerHTML;
  stream.dispose();
  host.remove();
  return html;
}

/** The DOM of a text that the parser was given at once: no stream, no tail, no cuts. */
function oneShot(text: string): string {
  const setting = { references: Object.create(null), growing: false, words: surroundings.words };
  const tokens = parseBlocks(clean(text), setting);
  parseWords(tokens, setting);
  const template = document.createElement("template");
  template.innerHTML = renderTokens(tokens, setting);
  return inParts([...template.content.children]);
}

function inParts(blocks: Element[]): string {
  const parts = Array.from({ length: Math.ceil(blocks.length / BLOCKS_PER_PART) }, (_, index) =>
    blocks.slice(index * BLOCKS_PER_PART, (index + 1) * BLOCKS_PER_PART),
  );
  return parts.map((part) => `<div class="md-part">${part.map(({ outerHTML }) => outerHTML).join("")}</div>`).join("");
}

/** The DOM of a text given to a stream as a finished one. */
function whole(text: string): string {
  const { host, stream } = open();
  stream.replace(text);
  stream.finish();
  const html = host.innerHTML;
  stream.dispose();
  host.remove();
  return html;
}

export const harness = { MarkdownStream, renderToHtml, surroundings, open, openTireless, streamed, oneShot, whole, styles, answer, pieces };

declare global {
  interface Window {
    harness: typeof harness;
  }
}

window.harness = harness;
