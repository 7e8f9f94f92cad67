// Records the text of a page as each animation frame paints it, and checks it.

import type { Page } from "@playwright/test";
import { TOTAL_WORDS, FIRST_REPLY_WORDS, visibleWord } from "./numbered-run.ts";

/** Starts recording what is painted, before any script of the page runs. */
export async function recordFrames(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const frames: string[] = [];
    Object.assign(window, { __frames: frames });
    const look = () => {
      // Including the queue below the page.
      const parts = [".scroller", "mp-queue"].map((part) => document.querySelector<HTMLElement>(part)?.innerText ?? "");
      const text = parts.join("\n").trim();
      if (text !== frames[frames.length - 1]) frames.push(text);
    };
    // Observing an element anew reports its size after the callbacks and the layout of this frame,
    // just before it is painted. Callbacks that run after one of ours may still change the page.
    const observer = new ResizeObserver(look);
    const lookBeforePaint = () => {
      observer.disconnect();
      observer.observe(document.documentElement);
      requestAnimationFrame(lookBeforePaint);
    };
    requestAnimationFrame(lookBeforePaint);
  });
}

export async function recordedFrames(page: Page): Promise<string[]> {
  return page.evaluate(() => (window as unknown as { __frames: string[] }).__frames);
}

const WORD = /\b[wht]\d{3}\b/g;

/** The error in one frame, if any: leaked, missing or repeated words. */
export function frameError(view: string, text: string): string | undefined {
  const words = text.match(WORD) ?? [];
  const shown = words.filter((word) => word.startsWith("w"));
  if (words.some((word) => word.startsWith("h"))) return "thinking leaked";
  if (view !== "transcript" && view !== "steps" && words.some((word) => word.startsWith("t"))) return "a tool's words leaked";
  if (/<\/?think|[{}]"|undefined|\[object/.test(text)) return "markup leaked";
  const first = Number(shown[0]?.slice(1) ?? 1);
  const starts = view === "latest" ? [1, FIRST_REPLY_WORDS + 1] : [1];
  if (!starts.includes(first)) return `begins with ${shown[0]}`;
  const gap = shown.findIndex((word, place) => word !== visibleWord(first + place));
  return gap < 0 ? undefined : `${shown[gap - 1]} is followed by ${shown[gap]}`;
}

/** The error in a transition between frames, if any: words may only be added. */
export function transitionError(view: string, before: string, after: string): string | undefined {
  const words = (text: string): readonly string[] => text.match(/\bw\d{3}\b/g) ?? [];
  const [was, is] = [words(before), words(after)];
  // In `latest` the second reply replaces the first, once.
  const isNext = view === "latest" && was[0] === visibleWord(1) && is[0] === visibleWord(FIRST_REPLY_WORDS + 1);
  if (isNext || (was.length <= is.length && (!was.length || was[0] === is[0]))) return undefined;
  return `${was.length} words from ${was[0]}, then ${is.length} from ${is[0]}`;
}

/** The error about a user message, if any: once shown, it is shown exactly once in every frame. */
export function userTextError(written: string, texts: readonly string[]): string | undefined {
  const times = texts.map((text) => text.split(written).length - 1);
  const place = times.findIndex((count, at) => 1 < count || count < (times[at - 1] ?? 0));
  return place < 0 ? undefined : `${written} ${times[place]} times in frame ${place}, after ${times[place - 1]}`;
}

/** True if the text has all words that this view shows in the end. */
export function isComplete(view: string, text: string): boolean {
  const shown = text.match(/\bw\d{3}\b/g) ?? [];
  return shown.length === (view === "latest" ? TOTAL_WORDS - FIRST_REPLY_WORDS : TOTAL_WORDS) && shown.at(-1) === visibleWord(TOTAL_WORDS);
}
