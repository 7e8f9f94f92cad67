// Looks at the text of a page at every frame of the screen.

import type { Page } from "@playwright/test";
import { ALL, FIRST, said } from "./stream.ts";

/** Installed before anything of the page runs. */
export async function watchEveryFrame(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const frames: string[] = [];
    Object.assign(window, { __frames: frames });
    const look = () => {
      const text = document.querySelector<HTMLElement>(".scroller")?.innerText ?? "";
      if (text !== frames[frames.length - 1]) frames.push(text);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

export async function frames(page: Page): Promise<string[]> {
  return page.evaluate(() => (window as unknown as { __frames: string[] }).__frames);
}

const WORD = /\b[wht]\d{3}\b/g;

/** What is wrong with the text of one frame, if anything is. */
export function wrong(view: string, text: string): string | undefined {
  const words = text.match(WORD) ?? [];
  const shown = words.filter((word) => word.startsWith("w"));
  if (words.some((word) => word.startsWith("h"))) return "thinking leaked";
  if (view !== "transcript" && view !== "steps" && words.some((word) => word.startsWith("t"))) return "a tool's words leaked";
  if (/<\/?think|[{}]"|undefined|\[object/.test(text)) return "markup leaked";
  const first = Number(shown[0]?.slice(1) ?? 1);
  const starts = view === "latest" ? [1, FIRST + 1] : [1];
  if (!starts.includes(first)) return `begins with ${shown[0]}`;
  const gap = shown.findIndex((word, place) => word !== said(first + place));
  return gap < 0 ? undefined : `${shown[gap - 1]} is followed by ${shown[gap]}`;
}

/** What is wrong with a frame after another. */
export function wrongAfter(view: string, before: string, after: string): string | undefined {
  const count = (text: string) => (text.match(/\bw\d{3}\b/g) ?? []).length;
  if (view === "latest" || count(before) <= count(after)) return undefined;
  return `${count(before)} words, then ${count(after)}`;
}

/** All that a reader of this view sees in the end. */
export function isWhole(view: string, text: string): boolean {
  const shown = text.match(/\bw\d{3}\b/g) ?? [];
  return shown.length === (view === "latest" ? ALL - FIRST : ALL) && shown.at(-1) === said(ALL);
}
