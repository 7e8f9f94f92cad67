// What a run is doing or how it ended, in a person's words.

import type { Ended, Page, Status } from "@millpond/client";
import type { Words } from "../words/words.ts";

export function statusWords(page: Page, words: Words): string {
  if (page.overlay) return words.phase[page.overlay.phase];
  if (page.ended) return endedWords(page.ended, words);
  return doingWords(page.status, page.label, words);
}

function doingWords(status: Status, label: string, words: Words): string {
  if (status.doing === "thinking" && status.text) return words.thinkingAbout(status.text.split(/\s+/).filter(Boolean).join(" "));
  if (status.doing !== "working" && status.doing !== "resumed") return words.status[status.doing];
  if (status.running === 0) return words.status.thinking;
  if (status.only) return words.workingOn(status.only);
  // Where the view names tools, the engine says how many.
  if (/\d/.test(label) && status.running) return words.workingOnMany(status.running);
  return words.status.working;
}

export function endedWords(ended: Ended, words: Words): string {
  const why = endedWhy(ended, words);
  return ended.detail && why ? `${why}: ${ended.detail}` : why;
}

function endedWhy({ outcome, stop, reason, reply }: Ended, words: Words): string {
  if (outcome === "completed") {
    if (stop === "length") return words.endedByLength;
    return reply === "none" && stop !== "tools" && stop !== "paused" ? words.noReply : "";
  }
  return (outcome === "failed" && reason && words.endedBecause[reason]) || words.ended[outcome];
}

/** Whether a run is going. */
export function isGoing(page: Page): boolean {
  return page.ended === undefined && page.status.doing !== "idle";
}
