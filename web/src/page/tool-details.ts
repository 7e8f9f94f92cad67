// What a call did, below its row: changed lines, tasks and sources of the engine's description.

import type { DiffLine, FileDiff, Source, Todo, ToolDescription } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import type { Strings } from "../i18n/strings.ts";
import { omittedTexts } from "./tool-text.ts";
import { webHost } from "./web-host.ts";

/** Changes, tasks and sources; undefined if there are none. */
export function toolDetails(description: ToolDescription | undefined, strings: Strings): TemplateResult | undefined {
  const { diffs = [], todos = [], sources = [] } = description ?? {};
  if (!description || (!diffs.length && !todos.length && !sources.length)) return undefined;
  const hasHeadings = 1 < diffs.length;
  return html`${diffs.map((diff) => fileDiff(diff, hasHeadings, strings))}
    ${todos.length ? html`<ul class="todos">${todos.map((todo) => todoLine(todo, strings))}</ul>` : nothing}
    ${sources.length ? html`<ul class="found">${sources.map(sourceLine)}</ul>` : nothing}
    ${omittedTexts(description, strings).map((text) => html`<p class="muted omitted">… ${text}</p>`)}`;
}

function fileDiff({ path, moved_to: movedTo, change, lines = [] }: FileDiff, hasHeading: boolean, strings: Strings): TemplateResult {
  const heading = html`<p class="diff-path"><code>${path}${movedTo ? ` → ${movedTo}` : ""}</code>${change === "delete" ? ` (${strings.fileDeleted})` : ""}</p>`;
  return html`${hasHeading ? heading : nothing}
    ${lines.length ? html`<div class="diff" role="group" aria-label=${path} tabindex="0" dir="ltr">${lines.map(diffLine)}</div>` : nothing}`;
}

/** One line with its number and sign: colour is not the only sign, and `ins` and `del` are words to a screen reader. */
function diffLine({ change, number, text = "" }: DiffLine): TemplateResult {
  const cells = (sign: string) => html`<span class="number">${number ?? ""}</span><span class="sign">${sign}</span><span class="line">${text}</span>`;
  switch (change) {
    case "added":
      return html`<ins>${cells("+")}</ins>`;
    case "removed":
      return html`<del>${cells("-")}</del>`;
    case "same":
      return html`<div>${cells(" ")}</div>`;
    case "gap":
      return html`<div class="gap">${cells("⋮")}</div>`;
  }
}

const TODO_MARKS: Record<Todo["state"], string> = { pending: "☐", active: "◑", done: "☑", cancelled: "☒" };

function todoLine({ text, state }: Todo, strings: Strings): TemplateResult {
  // The mark alone does not say which of the open tasks is being worked on.
  const isPlain = state === "pending" || state === "done";
  return html`<li class="todo-${state}">
    <span class="mark" aria-hidden="true">${TODO_MARKS[state]}</span><span class="todo-text">${text}</span>
    <span class=${isPlain ? "visually-hidden" : "muted"}>${strings.todoStates[state]}</span>
  </li>`;
}

/** A source as a link; an address that is not of the web is text. */
function sourceLine({ url, title }: Source): TemplateResult {
  const host = webHost(url);
  const name = title || url;
  return html`<li>${host ? html`<a href=${url} target="_blank" rel="noopener noreferrer nofollow">${name}</a>` : name} ${host && name !== url ? html`<span class="muted">${host}</span>` : nothing}</li>`;
}
