// What a row says about a call, in the user's language: the engine's description, or else the tool's name.

import type { Item, ToolDescription } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";

/** Title of a call: what it does, and on which MCP server. */
export function toolTitle({ name, description }: Item, strings: Strings): string {
  if (!description) return name ?? strings.unnamedTool;
  const { toolTitles } = strings;
  const title = (Object.hasOwn(toolTitles, description.title) && toolTitles[description.title]) || description.title;
  return description.purpose === "mcp" && description.server ? `${description.server}: ${title}` : title;
}

/** Title and target in one line, for exports. */
export function toolHeading(item: Item, strings: Strings): string {
  return [toolTitle(item, strings), item.description?.target].filter(Boolean).join(" ");
}

/** Output of a tool: the text of an item that grows, else the result. */
export function toolOutput(item: Item): string | undefined {
  return item.text || item.result;
}

/** Short facts of a call, each once: changed lines, finished tasks, found sources, exit status, a remark. */
export function toolFacts({ description, label }: Item, strings: Strings): string[] {
  const { todos = [], sources = [], exit_code: exitCode } = description ?? {};
  const facts = [];
  if (todos.length && !description?.omitted?.todos) facts.push(strings.todosDone(todos.filter(({ state }) => state === "done").length, todos.length));
  if (sources.length) facts.push(strings.sourcesFound(sources.length + (description?.omitted?.sources ?? 0)));
  // What went well is silent.
  if (exitCode) facts.push(strings.exitStatus(exitCode));
  if (label && !isSaid(label, description)) facts.push(label);
  return facts;
}

/** True if the row says what the label says: the server, or the exit status. */
function isSaid(label: string, description: ToolDescription | undefined): boolean {
  const { server, exit_code: exitCode } = description ?? {};
  if (server !== undefined && label.replace(/[_\s-]+/g, " ").trim() === server) return true;
  return exitCode !== undefined && new RegExp(`\\bexit.*(?<![\\d-])${exitCode}(?!\\d)`, "i").test(label);
}

/** Counts of changed lines; undefined if not all lines are known. */
export function changedLines({ diffs = [], omitted }: ToolDescription): { added: number; removed: number } | undefined {
  if (!diffs.length || omitted?.diff_lines || omitted?.files) return undefined;
  const lines = diffs.flatMap((diff) => diff.lines ?? []);
  const count = (change: string) => lines.filter((line) => line.change === change).length;
  return { added: count("added"), removed: count("removed") };
}

/** Counts of what the lists of a description leave out. */
export function omittedTexts({ omitted = {} }: ToolDescription, strings: Strings): string[] {
  const { diff_lines: lines, files, todos, sources } = omitted;
  const texts = [
    lines && strings.omittedLines(lines),
    files && strings.omittedFiles(files),
    todos && strings.omittedTodos(todos),
    sources && strings.omittedSources(sources),
  ];
  return texts.filter((text) => typeof text === "string");
}
