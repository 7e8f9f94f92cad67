// Looks at the text of a page at every frame of the screen.

import type { Page } from "@playwright/test";
import { ALL, FIRST, said } from "./stream.ts";

/** Installed before anything of the page runs. */
export async function watchEveryFrame(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const frames: string[] = [];
    Object.assign(window, { __frames: frames });
    const look = () => {
      // Also what waits below the page.
      const parts = [".scroller", "mp-queue"].map((part) => document.querySelector<HTMLElement>(part)?.innerText ?? "");
      const text = parts.join("\n").trim();
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

/** What is wrong with a frame after another: words only ever become more. */
export function wrongAfter(view: string, before: string, after: string): string | undefined {
  const words = (text: string): readonly string[] => text.match(/\bw\d{3}\b/g) ?? [];
  const [was, is] = [words(before), words(after)];
  // In `latest` the second reply takes the place of the first, once; that is what it is for.
  const isNext = view === "latest" && was[0] === said(1) && is[0] === said(FIRST + 1);
  if (isNext || (was.length <= is.length && (!was.length || was[0] === is[0]))) return undefined;
  return `${was.length} words from ${was[0]}, then ${is.length} from ${is[0]}`;
}

/** What is wrong with what a person wrote: once it is there, it is there once in every frame. */
export function wrongAbout(written: string, texts: readonly string[]): string | undefined {
  const times = texts.map((text) => text.split(written).length - 1);
  const place = times.findIndex((count, at) => 1 < count || count < (times[at - 1] ?? 0));
  return place < 0 ? undefined : `${written} ${times[place]} times in frame ${place}, after ${times[place - 1]}`;
}

/** All that a reader of this view sees in the end. */
export function isWhole(view: string, text: string): boolean {
  const shown = text.match(/\bw\d{3}\b/g) ?? [];
  return shown.length === (view === "latest" ? ALL - FIRST : ALL) && shown.at(-1) === said(ALL);
}
