// Status line: what a run is doing, or how it ended.

import type { Page, EndedRun, Overlay, Status } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";

export function statusText(page: Page, strings: Strings): string {
  if (page.overlay) return phaseText(page.overlay, strings);
  if (page.ended) return showsEnding(page, page.ended) ? "" : endingText(page.ended, strings);
  return activityText(page.status, page.label, strings);
}

/** The engine's label of this phase is the tool's name, or a text if it has none. */
const UNNAMED_TOOL_LABELS = new Set(["Using a tool", "Searching files"]);

function phaseText({ phase, label }: Overlay, strings: Strings): string {
  if (phase !== "tool" || !label || UNNAMED_TOOL_LABELS.has(label)) return strings.phase[phase];
  return strings.workingOn(label);
}

/** True if the ending is the last item of the page. */
export function showsEnding(page: Page, { run }: EndedRun): boolean {
  const last = page.lastKey === undefined ? undefined : page.items.get(page.lastKey);
  return last?.sort === "ending" && last.run === run;
}

function activityText(status: Status, label: string, strings: Strings): string {
  if (status.doing === "thinking" && status.text) return strings.thinkingAbout(status.text.split(/\s+/).filter(Boolean).join(" "));
  if (status.doing !== "working" && status.doing !== "resumed") return strings.status[status.doing];
  if (status.running === 0) return strings.status.thinking;
  if (status.only) return strings.workingOn(status.only);
  // The engine's label has a number only in views that show tools.
  if (/\d/.test(label) && status.running) return strings.workingOnMany(status.running);
  return strings.status.working;
}

/** How the run ended, with detail; empty for a normal ending. */
export function endingText(ended: EndedRun, strings: Strings): string {
  const reason = endingReason(ended, strings);
  return ended.detail && reason ? `${reason}: ${ended.detail}` : reason;
}

function endingReason({ outcome, stop, reason, reply }: EndedRun, strings: Strings): string {
  if (outcome === "completed") {
    if (stop === "length") return strings.endedByLength;
    return reply === "none" && stop !== "tools" && stop !== "paused" ? strings.noReply : "";
  }
  return (outcome === "failed" && reason && strings.failureReasons[reason]) || strings.outcomes[outcome];
}

/** True while a run is active. */
export function isRunning(page: Page): boolean {
  return page.ended === undefined && page.status.doing !== "idle";
}
