// Streams one answer, a delta per animation frame, and counts what that does to the page. The same for every renderer.

import { generateAnswer, splitIntoPieces } from "../../web/harness/answer.ts";

export interface Renderer {
  append(delta: string): void;
  finish(): void;
}

export interface Seen {
  removedNodes: number;
  shownCharacters: number;
}

declare global {
  interface Window {
    bench: { prepare(characters: number, size: number): number; stream(from: number, to: number): Promise<void>; end(): Promise<Seen> };
  }
}

export function offer(host: Element, renderer: Renderer): void {
  let deltas: string[] = [];
  let removedNodes = 0;
  new MutationObserver((records) => {
    for (const record of records) removedNodes += record.removedNodes.length;
  }).observe(host, { childList: true, subtree: true });

  window.bench = {
    prepare(characters, size) {
      deltas = splitIntoPieces(generateAnswer(characters), size);
      return deltas.length;
    },
    stream: (from, to) =>
      new Promise((done) => {
        let next = from;
        const frame = (): void => {
          const delta = next < to ? deltas[next++] : undefined;
          if (delta === undefined) return done();
          renderer.append(delta);
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      }),
    async end() {
      renderer.finish();
      await new Promise((settled) => setTimeout(settled, 500));
      return { removedNodes, shownCharacters: host.textContent?.length ?? 0 };
    },
  };
}
