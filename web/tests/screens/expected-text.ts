// What the browser must show of an item, derived from the engine's page: words, state and text, without layout.

import MarkdownIt from "markdown-it";
import type { DiffLine, FileDiff, Item, ToolDescription } from "../../packages/client/src/protocol.ts";

const STATE_WORDS: Record<Item["state"], string> = {
  live: "◌ running",
  draft: "",
  done: "",
  pending: "◌ waiting for the result",
  called: "→ called",
  failed: "✕ failed",
  denied: "⊘ denied",
  incomplete: "… interrupted",
  withdrawn: "",
};

const ASK_HEADINGS: Record<string, string> = { command: "Run this command?", browser: "Allow use of the browser?", followup: "Question", tool: "Allow this tool call?", mcp: "Allow this tool call?" };
const ASK_SUBJECTS: Record<string, string> = { command: "Command", browser: "Browser", followup: "Question", tool: "Tool call", mcp: "Tool call" };
const ANSWERS: Record<string, string> = { approve: "Approved", allow: "Allowed once", always: "Always allowed", deny: "Denied" };

/** What an item shows: all of its characters, all of its letters and digits, or at least these texts in this order. */
export type Expected = { exact: string } | { letters: string } | { parts: string[] };

export function expectedText(item: Item): Expected {
  const expected = contentText(item);
  return item.state === "draft" && "exact" in expected ? { exact: `${expected.exact}[being written]` } : expected;
}

function contentText(item: Item): Expected {
  const text = item.text ?? "";
  switch (item.kind) {
    case "user":
      return { exact: text };
    case "text":
      return agentText(item, text);
    case "reasoning":
      return { exact: `Thinking ${item.state === "live" ? STATE_WORDS.live : ""}` };
    case "steps":
      return { exact: item.state === "live" ? "" : (item.label ?? "Steps") };
    case "error":
      // An ending has a heading and a reason, in two lines.
      return { exact: `✕${item.sort === "ending" ? text.replace(": ", "") : text}` };
    case "withdrawal":
      return { exact: "An earlier message was withdrawn." };
    case "checkpoint":
      return { exact: `Checkpoint saved ${text.slice(0, 12)}` };
    case "request":
      return { parts: ["Request:", ...requestParts(item)] };
    case "notice":
      return noticeText(item, text);
    case "ask":
      return { exact: `${askHeading(item)}${escapeHidden(text)}${askedCallText(item, text)}` };
    case "tool":
    case "entry":
      return { exact: callText(item) };
    case "action":
      return { exact: item.description ? callText(item) : cardText(item) };
  }
}

function agentText(item: Item, text: string): Expected {
  const below = `${item.citations?.length ? `Sources (${item.citations.length})` : ""}${item.state === "incomplete" ? "[interrupted]" : ""}`;
  // Open marks of a text that grows are completed or held back.
  if (item.state === "live") return { letters: markdownText(text) + below };
  return { exact: markdownText(text) + below };
}

function noticeText(item: Item, text: string): Expected {
  if (item.sort === "usage") return { parts: requestParts(item) };
  if (item.sort === "attachment") return { exact: item.citations?.length ? `Sources (${item.citations.length})` : "" };
  return { exact: text };
}

/** What a request is known to be; how numbers are written is tested elsewhere. */
function requestParts({ text = "{}", state }: Item): string[] {
  let record: { model?: string; cancelReason?: string; streamingFailedMessage?: string };
  try {
    record = JSON.parse(text) as typeof record;
  } catch {
    return [text];
  }
  const reason = record.streamingFailedMessage ?? record.cancelReason;
  const isFailed = state === "failed" || state === "incomplete";
  return [record.model, isFailed ? reason : undefined].filter((part) => part !== undefined);
}

function askHeading({ state, sort = "other", result, label }: Item): string {
  if (state === "live" || state === "draft") return ASK_HEADINGS[sort] ?? "Decision needed";
  const answer = result ?? label;
  const reason = /^deny: (.+)$/s.exec(answer ?? "")?.[1];
  const words = reason === undefined ? (ANSWERS[answer ?? ""] ?? (answer || "not answered")) : `Denied: ${reason}`;
  return `${ASK_SUBJECTS[sort] ?? "Decision"}: ${words}`;
}

/** What an ask shows of the call beside its question: changes that the question does not have. */
function askedCallText({ arguments: json, description, state }: Item, text: string): string {
  const lines = new Set(text.split("\n"));
  const isAsked = ({ change, text: line = "" }: DiffLine) => (change === "added" ? lines.has(`+${line}`) : change !== "removed" || lines.has(`-${line}`));
  const diffs = description?.diffs?.filter((diff) => !(diff.lines ?? []).every(isAsked)) ?? [];
  const details = description ? escapeHidden(detailsText({ ...description, diffs })) : "";
  if (!json) return details;
  const isOpen = state === "live" || state === "draft";
  return description?.covers_arguments ? `${details}Raw call${isOpen ? escapeHidden(json) : ""}` : `${escapeHidden(json)}${details}`;
}

/** Characters that cannot be seen, as the escapes in which an ask writes them. */
function escapeHidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u00a0\u00ad]/gu, (char) => (char === "\n" || char === "\t" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`));
}

/** The row of a call, and what is open below it. */
function callText(item: Item): string {
  const { description } = item;
  const isOpen = Boolean(description?.diffs?.length || description?.todos?.length);
  const shown = [callTitle(item), description?.target ?? "", ...callFacts(item), STATE_WORDS[item.state], item.ran_for_ms === undefined ? "" : seconds(item.ran_for_ms)];
  if (!description || !isOpen) return shown.join("");
  const output = item.state === "done" ? "" : (item.text || item.result || "");
  const steps = (item.steps ?? []).filter(({ state }) => state !== "withdrawn").map((step) => (step.kind === "reasoning" ? (step.text ?? "") : callText(step)));
  const hasRaw = item.arguments || (item.state === "done" && (item.text || item.result));
  return [...shown, detailsText(description), output && `Output${pretty(output)}`, ...steps, hasRaw ? "Raw call" : ""].join("");
}

function callTitle({ name = "Tool", description }: Item): string {
  if (!description) return name;
  return description.purpose === "mcp" && description.server ? `${description.server}: ${description.title}` : description.title;
}

function callFacts({ description, label }: Item): string[] {
  const facts: string[] = [];
  const { diffs = [], todos = [], sources = [], omitted = {}, exit_code: exit, server } = description ?? {};
  const count = (change: DiffLine["change"]) => diffs.flatMap(({ lines = [] }) => lines).filter((line) => line.change === change).length;
  if (!omitted.diff_lines && !omitted.files) facts.push(count("added") ? `+${count("added")}` : "", count("removed") ? `-${count("removed")}` : "");
  if (todos.length && !omitted.todos) facts.push(`${todos.filter(({ state }) => state === "done").length} of ${todos.length} done`);
  if (sources.length) facts.push(`${sources.length + (omitted.sources ?? 0)} source${sources.length === 1 ? "" : "s"}`);
  if (exit) facts.push(`exit status ${exit}`);
  const isSaid = label?.replaceAll(/[_\s-]+/g, " ") === server || (exit && label?.match(/\bexit.*?(-?\d+)/i)?.[1] === String(exit));
  if (label && !isSaid) facts.push(label);
  return facts;
}

const SIGNS: Record<DiffLine["change"], string> = { same: "", added: "+", removed: "-", gap: "⋮" };
const MARKS = { pending: "☐", active: "◑", done: "☑", cancelled: "☒" };

function detailsText({ diffs = [], todos = [], sources = [], omitted = {} }: ToolDescription): string {
  const heading = ({ path, moved_to: to, change }: FileDiff) => (1 < diffs.length ? `${path}${to ? ` → ${to}` : ""}${change === "delete" ? " (deleted)" : ""}` : "");
  const lines = diffs.map((diff) => heading(diff) + (diff.lines ?? []).map(({ number, change, text = "" }) => `${number ?? ""}${SIGNS[change]}${text}`).join(""));
  const tasks = todos.map(({ text, state }) => `${MARKS[state]}${text}${state === "active" ? "in progress" : state === "cancelled" ? "cancelled" : ""}`);
  const links = sources.map(({ url, title }) => `${title || url}${title && title !== url && /^https?:/.test(url) ? new URL(url).host : ""}`);
  const more = Object.entries({ line: omitted.diff_lines, file: omitted.files, task: omitted.todos, source: omitted.sources });
  const counts = more.filter(([, count]) => count).map(([word, count]) => `… ${count} more ${word}${count === 1 ? "" : "s"}`);
  return [...lines, ...tasks, ...links, ...counts].join("");
}

/** An action with its parameters, for views without descriptions. */
function cardText({ name = "Action", state, arguments: json, label }: Item): string {
  let fields: [string, unknown][] = [];
  try {
    const value: unknown = JSON.parse(json ?? "");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) fields = Object.entries(value);
  } catch {
    // Arguments that are not complete are not shown.
  }
  const parameters = fields.map(([field, value]) => `${field}${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [name, STATE_WORDS[state], ...parameters, label ?? ""].join("");
}

function pretty(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** Durations of fixtures are shorter than ten seconds. */
function seconds(ms: number): string {
  return ms < 9_950 ? `${Math.round(ms / 100) / 10}s` : `${Math.round(ms / 1_000)}s`;
}

const parser = new MarkdownIt({ html: false, linkify: true });

/** Text that a reader of the Markdown sees, without its layout: parsed whole, not as it grows. */
export function markdownText(markdown: string): string {
  const parts: string[] = [];
  for (const token of parser.parse(markdown, {})) {
    // The language is shown as a label of the block.
    if (token.type === "fence") parts.push(token.info.trim().split(/\s+/)[0] ?? "", token.content);
    else if (token.type === "code_block") parts.push(token.content);
    for (const child of token.children ?? []) if (["text", "code_inline", "image"].includes(child.type)) parts.push(child.content);
  }
  return parts.join("");
}

/** Without white space, which is layout. */
export function spaceless(text: string): string {
  return text.normalize("NFC").replace(/\s+/gu, "");
}

/** Only letters and digits. */
export function lettersOf(text: string): string {
  return text.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "");
}
